"use strict";
// A view of the viewer: which article, systems and n, in which order, and what is searched for. All of it is in the address.

const SORTS = ["lowest", "highest", "difference", "longest", "shortest", "key"];
const USUAL = { sort: "lowest", search: "" };

// #view?article=…&system=…&n=…&other=…&sort=…&search=…
function fragmentOf(view, archive) {
  const { article, system, other, n } = view, parameters = new URLSearchParams();
  if (archive.articles[article]) parameters.set("article", archive.articles[article].id);
  parameters.set("system", archive.systems[system].name);
  parameters.set("n", archive.lengths[n]);
  if (other >= 0) parameters.set("other", archive.systems[other].name);
  for (const [name, usual] of Object.entries(USUAL)) if (view[name] !== usual) parameters.set(name, view[name]);
  return `#view?${parameters}`;
}

// The view that an address asks for, on top of another one, and what it names that is not here.
function viewOf(fragment, archive, opening) {
  const asked = new URLSearchParams(fragment.slice("#view?".length));
  const find = (list, test, name) => (asked.has(name) ? list.findIndex((value) => test(value, asked.get(name))) : -1);
  const isNamed = ({ name, label }, text) => text === name || text === label;
  const isLength = (value, text) => String(value) === text;
  const places = {
    article: find(archive.articles, ({ id }, text) => id === text, "article"),
    system: find(archive.systems, isNamed, "system"),
    other: find(archive.systems, isNamed, "other"),
    n: find(archive.lengths, isLength, "n"),
    sort: find(SORTS, (value, text) => value === text, "sort"),
  };
  const lacks = Object.keys(places).filter((name) => asked.has(name) && places[name] < 0)
    .map((name) => `${name} ${asked.get(name)}`);
  const view = { ...opening, ...USUAL, other: places.other, search: asked.get("search") ?? "" };
  for (const name of ["article", "system", "n"]) if (places[name] >= 0) view[name] = places[name];
  if (places.sort >= 0) view.sort = SORTS[places.sort];
  return { view, lacks };
}

// What articles are ordered by: a small table of all articles, systems and n; and the articles' texts for search.
class Catalogue {
  constructor(archive, ranks) {
    Object.assign(this, { archive, ranks, words: new Map() });
  }

  // The score that articles are ordered by; null where there is no summary.
  score(article, system, n) {
    const place = (article * this.archive.systems.length + system) * this.archive.lengths.length + n;
    const value = system < 0 ? NO_SCORE : this.ranks[place] ?? NO_SCORE;
    return value === NO_SCORE ? null : value / RANK_SCALE;
  }

  // The articles of a view in its order; `found` are those that the search has found, or null for all.
  ordered(view, found) {
    const { articles } = this.archive, { system, other, n } = view;
    const places = articles.map((_, i) => i).filter((i) => !found || found.has(i));
    const last = (value) => (value === null ? Infinity : value);
    const first = (i) => this.score(i, system, n);
    const apart = (i) => {
      const a = first(i), b = this.score(i, other, n);
      return a === null || b === null ? null : -Math.abs(Math.round((a - b) * RANK_SCALE));
    };
    const by = {
      lowest: (i) => last(first(i)),
      highest: (i) => last(first(i) === null ? null : -first(i)),
      difference: (i) => last(apart(i)),
      longest: (i) => -articles[i].words,
      shortest: (i) => articles[i].words,
      key: (i) => articles[i].key,
    }[view.sort];
    const keys = new Map(places.map((i) => [i, by(i)]));
    return places.sort((a, b) => (keys.get(a) === keys.get(b) ? a - b : keys.get(a) < keys.get(b) ? -1 : 1));
  }

  // The articles that have all of these words in key, text, references or summaries of them; null as soon as `isStale`.
  async having(wanted, isStale, tell) {
    const { articles } = this.archive, found = new Set();
    const names = ({ key, dataset, title }) => folded([key, dataset, title].join(" "));
    const parts = [...new Set(articles.map(({ part }) => part))];
    for (const part of parts) {
      if (isStale()) return null;
      tell(`Searching … ${parts.indexOf(part)} of ${parts.length} parts`);
      const texts = await this.textsOf(part);
      articles.forEach((article, i) => {
        if (article.part !== part) return;
        const all = names(article) + " " + texts[article.at];
        if (wanted.every((word) => all.includes(word))) found.add(i);
      });
    }
    return isStale() ? null : found;
  }

  // Each article of a part as one text to search. Held from the first search on, since unpacking takes a while.
  async textsOf(part) {
    if (!this.words.has(part)) {
      const bodies = await (await unpacked(`part-${part}`)).json();
      this.words.set(part, bodies.map((body) =>
        folded([body.text, ...body.references, ...new Set(this.ownTexts(body).map(({ text }) => text))].join("\n"))));
    }
    return this.words.get(part);
  }

  // The summaries that are about their article: not those that a ruler has of another one.
  ownTexts({ texts, at }) {
    const own = texts.map((text, i) => ({ text, system: at[i][0], n: at[i][1] }));
    return own.filter(({ system }) => this.archive.systems[system].is_searched);
  }
}

const MOST_HITS = 4; // systems

// Where the article that is shown has what is searched for, so that nobody looks through all of its summaries.
function hits(viewer, body, view) {
  const words = viewer.sought(), has = (text) => words.some((word) => folded(text).includes(word));
  if (!words.length) return "";
  const { key, dataset } = viewer.articles[view.article], parts = [], lengths = new Map();
  if (has(key) || has(dataset)) parts.push("its name");
  if (has(body.text)) parts.push("the article");
  if (body.references.some(has)) parts.push("the reference");
  for (const { system, n } of viewer.catalogue.ownTexts(body).filter(({ text }) => has(text)))
    lengths.set(system, [...lengths.get(system) ?? [], lengthName(viewer.lengths[n])]);
  const named = [...lengths].map(([system, at]) => `${viewer.systems[system].label}, n = ${at.join(", ")}`);
  parts.push(...named.slice(0, MOST_HITS));
  if (named.length > MOST_HITS) parts.push(`summaries of ${named.length - MOST_HITS} more systems`);
  return parts.length ? `Found in: ${parts.join(" · ")}` : "";
}

// Keys, so that articles are read without a mouse: where the viewer is in sight. With Ctrl, Alt or Meta they do nothing, nor
// in what has its own use for them: a form's controls, a table that scrolls sideways, a selection that Shift extends.

function hasOwnKeys(target) {
  const scrolled = target.closest(".scroll");
  const isWide = scrolled !== null && scrolled.scrollWidth > scrolled.clientWidth;
  return isWide || target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null;
}

function listenToKeys(viewer) {
  const keys = {
    ArrowLeft: () => viewer.turn(-1),
    ArrowRight: () => viewer.turn(1),
    "Shift+ArrowUp": () => viewer.lengthen(-1),
    "Shift+ArrowDown": () => viewer.lengthen(1),
    s: () => viewer.turnSystem(1),
    S: () => viewer.turnSystem(-1),
    "/": () => {
      $("search").focus();
      $("search").select();
    },
    Escape: () => viewer.clearSearch(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    const key = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const { top, bottom } = $("viewer").getBoundingClientRect();
    if (!Object.hasOwn(keys, key) || !$("keys-on").checked || top > innerHeight || bottom < 0) return;
    if (!(event.target instanceof Element) || hasOwnKeys(event.target)) return;
    if (key.startsWith("Shift") && !getSelection().isCollapsed) return;
    event.preventDefault(); // or "/" would be typed into the search, and a browser's own search might open
    keys[key]();
  });
  $("search").onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // the browser would empty the field and leave the list as it is
    if (event.key === "Escape") viewer.clearSearch();
    const entry = $("articles").querySelector("[tabindex='0']");
    if (entry) entry.focus({ preventScroll: true });
    else $("search").blur();
  };
  $("articles").onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    viewer.turn(step);
  };
}

// Words, sentences and marks. Texts are only ever set as text.

const $ = (id) => document.getElementById(id);

// An element with these properties; its children are elements and texts.
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function unpacked(id) {
  const binary = atob($(id).textContent);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream);
}

// Words as core/text/alignment.py has them; upper and back to lower case is what comes nearest to folding the case.
function bareWords(text) {
  const words = text.matchAll(/[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu);
  return [...words].map(({ 0: word, index }) =>
    ({ start: index, end: index + word.length, bare: word.toUpperCase().toLowerCase() }));
}

// For each word of a summary its place in the article, or -1: in order, most words, then fewest runs, then the earliest.
// The same as core/text/alignment.py, where the rule is told.
function align(summary, article) {
  const rows = summary.length, columns = article.length, perWord = rows + 1, width = columns + 1;
  const fresh = new Int32Array((rows + 1) * width), joined = new Int32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const here = i * width + j, below = here + width;
      const isSame = summary[i] === article[j];
      const placed = isSame ? perWord - 1 + joined[below + 1] : 0;
      fresh[here] = Math.max(placed, fresh[below], fresh[here + 1]);
      joined[here] = Math.max(fresh[here], isSame ? perWord + joined[below + 1] : 0);
    }
  }
  const positions = [];
  let at = 0, isJoined = false;
  for (let i = 0; i < rows; i++) {
    const here = i * width + at, below = here + width;
    const goesOn = isJoined && at < columns && summary[i] === article[at] && joined[here] === perWord + joined[below + 1];
    if (!goesOn) {
      isJoined = false;
      for (let j = at; j < columns; j++) {
        if (summary[i] === article[j] && perWord - 1 + joined[(i + 1) * width + j + 1] === fresh[here]) {
          at = j;
          isJoined = true;
          break;
        }
      }
    }
    positions.push(isJoined ? at : -1);
    if (isJoined) at++;
  }
  return positions;
}

// From one full stop, or end of a line, to the next. It need not be the sentence that a system read.
function sentenceSpans(text) {
  return [...text.matchAll(/\S(?:.*?[.!?…。]["'”’)\]]*(?=\s|$)|.*$)/gmu)].map((found) => [found.index, found.index + found[0].length]);
}

// The words at rising positions; those that follow each other are one span, with the blanks between them.
function spansAt(words, positions) {
  const spans = [];
  positions.forEach((position, i) => {
    const { start, end } = words[position];
    if (i && position === positions[i - 1] + 1) spans[spans.length - 1][1] = end;
    else spans.push([start, end]);
  });
  return spans;
}

// The words of a text that a shorter one does not have, as it is aligned with it.
function freshSpans(text, shorter) {
  const words = bareWords(text), positions = align(words.map((word) => word.bare), bareWords(shorter).map((word) => word.bare));
  return spansAt(words, words.map((_, i) => i).filter((i) => positions[i] < 0));
}

// A text cut where a span of any layer begins or ends; each piece lies in an element for every layer it is in.
function marked(text, layers) {
  const cuts = new Set([0, text.length]);
  for (const { spans } of layers) for (const [start, end] of spans) cuts.add(start).add(end);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, i) => {
    let node = document.createTextNode(text.slice(start, places[i + 1]));
    for (const { spans, name, classes } of [...layers].reverse()) {
      if (spans.some(([from, to]) => from <= start && start < to)) node = element(name, classes ? { className: classes } : {}, node);
    }
    return node;
  });
}

const lengthName = (n) => (n === 0 ? "uncut" : String(n));

function decimals(value, places) {
  if (value === null) return "–";
  const text = value.toFixed(places).replace(/^(-?)0\./, "$1.");
  return Number(text) === 0 ? text.replace("-", "") : text;
}

// One spelling for what search compares: of letters in one or two characters, and of cases.
const folded = (text) => text.normalize("NFC").toLowerCase();

const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)}\u00a0%`);

// A difference of two shares. It has no percent sign, since it is not a share of either.
function points(value) {
  const rounded = value === null ? null : Math.round(value * 100);
  return rounded === null ? "–" : `${rounded}\u00a0${Math.abs(rounded) === 1 ? "point" : "points"}`;
}

// Where any of these words stands, also within longer words.
function foundSpans(text, words) {
  if (!words.length) return [];
  const literal = words.map((word) => word.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&")).join("|");
  return [...text.matchAll(new RegExp(literal, "giu"))].map((found) => [found.index, found.index + found[0].length]);
}
