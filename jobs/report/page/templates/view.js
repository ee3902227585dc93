// A view of the viewer: which article, systems and n, in which order, and which articles. All of it is in the address.

const SORTS = ["lowest", "highest", "difference", "longest", "shortest", "key"];
const EVERY = { score: 0, sort: "lowest", search: "", from: null, to: null, versus: "", by: null };
const FILTERS = ["from", "to", "versus", "by"];
const UNFILTERED = Object.fromEntries(["search", ...FILTERS].map((name) => [name, EVERY[name]]));
const isFiltered = (view) => view.versus !== "" || view.from !== null || view.to !== null;

// #view?article=…&system=…&n=…&sorted=…&other=…&score=…&sort=…&search=…&from=…&to=…&versus=…&by=…
function fragmentOf(view, archive) {
  const { article, system, other, n } = view, parameters = new URLSearchParams();
  if (archive.articles[article]) parameters.set("article", archive.articles[article].id);
  parameters.set("system", archive.systems[system].name);
  parameters.set("n", archive.lengths[n]);
  if (view.at !== n) parameters.set("sorted", archive.lengths[view.at]);
  if (other >= 0) parameters.set("other", archive.systems[other].name);
  for (const [name, usual] of Object.entries(EVERY)) {
    if (view[name] === usual) continue;
    parameters.set(name, name === "score" ? archive.ranked[view.score].column : view[name]);
  }
  return `#view?${parameters}`;
}

// The view that an address asks for, on top of another one, and what it names that is not here.
function viewOf(fragment, archive, usual) {
  const asked = new URLSearchParams(fragment.slice("#view?".length));
  const find = (list, test, name) => (asked.has(name) ? list.findIndex((value) => test(value, asked.get(name))) : -1);
  const named = ({ name, label }, text) => text === name || text === label;
  const found = {
    article: find(archive.articles, (value, id) => value.id === id, "article"),
    system: find(archive.systems, named, "system"),
    other: find(archive.systems, named, "other"),
    n: find(archive.lengths, (value, text) => String(value) === text, "n"),
    sorted: find(archive.lengths, (value, text) => String(value) === text, "sorted"),
    score: find(archive.ranked, ({ column }, text) => column === text, "score"),
    sort: find(SORTS, (value, text) => value === text, "sort"),
  };
  const lacks = Object.keys(found).filter((name) => asked.has(name) && found[name] < 0)
    .map((name) => `${name} ${asked.get(name)}`);
  const view = { ...usual, ...EVERY, other: found.other };
  for (const name of ["article", "system", "n", "score"]) if (found[name] >= 0) view[name] = found[name];
  view.at = found.sorted >= 0 ? found.sorted : view.n;
  if (found.sort >= 0) view.sort = SORTS[found.sort];
  for (const name of ["from", "to", "by"]) view[name] = numberOf(asked.get(name));
  view.search = asked.get("search") ?? "";
  view.versus = ["wins", "loses"].includes(asked.get("versus")) ? asked.get("versus") : "";
  return { view, lacks };
}

function numberOf(text) {
  return text === null || text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

// What order and filters are by: two small tables of all articles, systems and n, and the articles' texts for search.
class Catalogue {
  constructor(archive, ranks) {
    Object.assign(this, { archive, ranks, words: new Map() });
  }

  place(article, system, n) {
    return (article * this.archive.systems.length + system) * this.archive.lengths.length + n;
  }

  // In ten-thousandths, as whole numbers; null where there is no summary.
  raw(article, system, n, score) {
    const { ranked } = this.archive;
    const value = system < 0 ? NO_SCORE : this.ranks[this.place(article, system, n) * ranked.length + score] ?? NO_SCORE;
    return value === NO_SCORE ? null : value;
  }

  passes(article, view) {
    const { system, other, at: n, from, to, versus, by, score } = view;
    const a = this.raw(article, system, n, score), b = this.raw(article, other, n, score);
    const rawOf = (typed) => Math.round((typed * RANK_SCALE) / (this.archive.ranked[score].percent ? 100 : 1));
    if (from !== null && (a === null || a < rawOf(from))) return false;
    if (to !== null && (a === null || a > rawOf(to))) return false;
    if (!versus || other < 0) return true;
    const ahead = versus === "wins" ? a - b : b - a;
    return a !== null && b !== null && ahead > 0 && ahead >= rawOf(by ?? 0);
  }

  // The articles of a view in its order; `found` are those that the search has found, or null for all.
  ordered(view, found) {
    const { articles } = this.archive, { system, other, at: n, score } = view;
    const places = articles.map((_, i) => i).filter((i) => (!found || found.has(i)) && this.passes(i, view));
    const last = (value) => (value === null ? Infinity : value);
    const first = (i) => this.raw(i, system, n, score);
    const apart = (i) => {
      const a = first(i), b = this.raw(i, other, n, score);
      return a === null || b === null ? null : -Math.abs(a - b);
    };
    const by = {
      lowest: (i) => last(first(i)),
      highest: (i) => last(first(i) === null ? null : -first(i)),
      difference: (i) => last(apart(i)),
      longest: (i) => -articles[i].words,
      shortest: (i) => articles[i].words,
    }[view.sort];
    if (!by) return places.sort((a, b) => (articles[a].key < articles[b].key ? -1 : 1));
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

// Where the article that is shown has what is sought, so that nobody looks through all of its summaries for it.

const MOST_HITS = 4; // systems

// As texts and links. Of each system all n whose summaries have a word, with a link to one of them.
function hits(viewer, body, view) {
  const words = viewer.sought(), has = (text) => words.some((word) => folded(text).includes(word));
  if (!words.length) return [];
  const { key, dataset } = viewer.articles[view.article], parts = [];
  if (has(key) || has(dataset)) parts.push("its name");
  if (has(body.text)) parts.push("the article");
  if (body.references.some(has)) parts.push(body.references.length > 1 ? "a reference" : "the reference");
  const lengths = new Map();
  for (const { text, system, n } of viewer.catalogue.ownTexts(body)) {
    if (has(text)) lengths.set(system, [...lengths.get(system) ?? [], n]);
  }
  const isShown = (system) => system === view.system || system === view.other;
  const systems = [...lengths.keys()].sort((a, b) => isShown(b) - isShown(a));
  for (const system of systems.slice(0, MOST_HITS)) parts.push(linkToHit(viewer, view, system, lengths.get(system)));
  if (systems.length > MOST_HITS) parts.push(`summaries of ${systems.length - MOST_HITS} more`);
  return parts.length ? ["Found in: ", ...parts.flatMap((part, i) => (i ? [" · ", part] : [part]))] : [];
}

function linkToHit(viewer, view, system, lengths) {
  const n = lengths.includes(view.n) ? view.n : lengths[0], named = lengths.map((k) => lengthName(viewer.lengths[k]));
  const link = element("a", `${viewer.systems[system].label}, n = ${named.join(", ")}`);
  const seen = system === view.system || system === view.other ? { ...view, n } : { ...view, system, n };
  link.href = fragmentOf(seen, viewer);
  return link;
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
