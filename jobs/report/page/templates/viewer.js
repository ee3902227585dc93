"use strict";
// The viewer: reads the archive that the page carries, and shows one article. Texts are only ever set as text.

const F1_SCALE = 10000;
const NO_SCORE = -32768;
const MOST_LISTED = 200;
const METRICS = "METRICS";
const SINGLE = "SINGLE";

const $ = (id) => document.getElementById(id);

function element(name, text, classes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (classes) made.className = classes;
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
  const words = [];
  for (const found of text.matchAll(/\S+/gu)) {
    const inner = found[0].match(/[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su);
    if (inner) {
      const start = found.index + inner.index;
      words.push({ start, end: start + inner[0].length, bare: inner[0].toUpperCase().toLowerCase() });
    }
  }
  return words;
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

class Viewer {
  constructor(archive, f1) {
    Object.assign(this, archive);
    this.f1 = f1;
    this.parts = new Map();
    this.sought = 0;
    this.view = { article: 0, system: this.firstSystem(), other: -1, n: this.middleLength() };
  }

  firstSystem() {
    return Math.max(0, this.systems.findIndex((system) => system.kind === "system"));
  }

  middleLength() {
    const cut = this.lengths.filter((n) => n > 0);
    return this.lengths.indexOf(cut[cut.length >> 1] ?? this.lengths[0]);
  }

  f1Of(article, system, n = this.view.n) {
    const value = this.f1[(article * this.systems.length + system) * this.lengths.length + n];
    return value === NO_SCORE ? null : value / F1_SCALE;
  }

  async body(article) {
    const { part, at } = this.articles[article];
    if (!this.parts.has(part)) this.parts.set(part, unpacked(`part-${part}`).then((found) => found.json()));
    return (await this.parts.get(part))[at];
  }

  start() {
    const option = (system, i) => Object.assign(element("option", system.label), { value: i });
    $("system").append(...this.systems.map(option));
    $("other").append(Object.assign(element("option", "nothing"), { value: -1 }), ...this.systems.map(option));
    $("n").max = this.lengths.length - 1;
    $("system").onchange = () => this.change({ system: Number($("system").value) }, true);
    $("other").onchange = () => this.change({ other: Number($("other").value) }, true);
    $("n").oninput = () => this.change({ n: Number($("n").value) }, false);
    $("n").onchange = () => this.list();
    $("search").oninput = $("sort").onchange = () => this.list();
    $("previous").onclick = () => this.turn(-1);
    $("next").onclick = () => this.turn(1);
    window.onhashchange = () => this.follow();
    $("viewer-off").hidden = true;
    $("viewer-on").hidden = false;
    this.list();
    this.view.article = this.order[0] ?? 0;
    if (!this.follow()) this.show();
  }

  change(part, listed) {
    Object.assign(this.view, part);
    if (listed) this.list();
    return this.show();
  }

  turn(step) {
    const place = this.order.indexOf(this.view.article);
    const next = this.order[Math.min(this.order.length - 1, Math.max(0, place + step))];
    if (next !== undefined) this.change({ article: next }, false);
  }

  // A link names everything that is seen: #view?article=…&system=…&other=…&n=…
  follow() {
    if (!location.hash.startsWith("#view?")) return false;
    const asked = new URLSearchParams(location.hash.slice("#view?".length));
    const find = (list, test, name) => (asked.has(name) ? list.findIndex((value) => test(value, asked.get(name))) : -1);
    const named = ({ name, label }, asked) => asked === name || asked === label;
    const article = find(this.articles, (value, id) => value.id === id, "article");
    const system = find(this.systems, named, "system");
    const n = find(this.lengths, (value, text) => String(value) === text, "n");
    this.view.other = find(this.systems, named, "other");
    const lacks = [["article", article], ["system", system], ["other", this.view.other], ["n", n]]
      .filter(([name, found]) => asked.has(name) && found < 0)
      .map(([name]) => `${name} ${asked.get(name)}`);
    $("link-note").textContent = lacks.length ? `The link names what this page does not hold: ${lacks.join(", ")}.` : "";
    if (article >= 0) this.view.article = article;
    if (system >= 0) this.view.system = system;
    if (n >= 0) this.view.n = n;
    this.list();
    this.show();
    $("viewer").scrollIntoView();
    return true;
  }

  fragment() {
    const { article, system, other, n } = this.view;
    const parameters = new URLSearchParams({
      article: this.articles[article].id, system: this.systems[system].name, n: this.lengths[n],
    });
    if (other >= 0) parameters.set("other", this.systems[other].name);
    return `#view?${parameters}`;
  }

  ordered() {
    const { system, other } = this.view, sort = $("sort").value;
    const wanted = $("search").value.trim().toLowerCase();
    const places = this.articles.map((_, i) => i).filter((i) => {
      const { key, title, dataset } = this.articles[i];
      return !wanted || `${key} ${dataset} ${title}`.toLowerCase().includes(wanted);
    });
    const last = (value) => (value === null ? Infinity : value);
    const f1 = (i) => this.f1Of(i, system);
    const apart = (i) => {
      const a = f1(i), b = other < 0 ? null : this.f1Of(i, other);
      return a === null || b === null ? null : Math.abs(a - b);
    };
    const by = {
      lowest: (i) => last(f1(i)),
      highest: (i) => last(f1(i) === null ? null : -f1(i)),
      difference: (i) => last(apart(i) === null ? null : -apart(i)),
      longest: (i) => -this.articles[i].words,
      shortest: (i) => this.articles[i].words,
    }[sort];
    if (!by) return places.sort((a, b) => (this.articles[a].key < this.articles[b].key ? -1 : 1));
    const keys = new Map(places.map((i) => [i, by(i)]));
    return places.sort((a, b) => (keys.get(a) === keys.get(b) ? a - b : keys.get(a) < keys.get(b) ? -1 : 1));
  }

  list() {
    this.order = this.ordered();
    const shown = this.order.slice(0, MOST_LISTED);
    $("found").textContent = `${this.order.length} of ${this.articles.length} articles` +
      (shown.length < this.order.length ? `; the first ${shown.length} are listed` : "") +
      ($("sort").value === "difference" && this.view.other < 0 ? ". Choose a second system to sort by the difference." : "");
    $("articles").replaceChildren(...shown.map((i) => this.entry(i)));
  }

  entry(i) {
    const { key, title, words } = this.articles[i], { system, other } = this.view;
    const scores = [system, other].filter((s) => s >= 0).map((s) => decimals(this.f1Of(i, s), 3));
    const button = element("button", key);
    button.type = "button";
    button.append(element("small", `${scores.join(" · ")} · ${words} words`), element("small", title));
    button.onclick = () => this.change({ article: i }, false);
    button.dataset.article = i;
    if (i === this.view.article) button.setAttribute("aria-current", "true");
    const item = element("li");
    item.append(button);
    return item;
  }

  async show() {
    const turn = ++this.sought, view = { ...this.view };
    const body = this.articles.length ? await this.body(view.article) : null;
    if (!body || turn !== this.sought) return;
    const { id, key, dataset, words } = this.articles[view.article];
    $("system").value = view.system;
    $("other").value = view.other;
    $("n").value = view.n;
    const name = lengthName(this.lengths[view.n]);
    $("n-value").textContent = name;
    $("n").setAttribute("aria-valuetext", name);
    $("article-key").textContent = key;
    $("article-facts").textContent = `${dataset} · ${words} words · id ${id}`;
    $("link").href = this.fragment();
    for (const button of $("articles").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    $("articles").querySelector(`[data-article="${view.article}"]`)?.setAttribute("aria-current", "true");
    const chosen = [view.system, view.other].filter((s) => s >= 0).map((s) => this.summary(body, s, view.n));
    $("summaries").replaceChildren(...chosen.map((summary) => this.box(summary)));
    $("scores").replaceChildren(...this.scoreRows(body, chosen));
    $("other-key").hidden = view.other < 0;
    $("all").replaceChildren(...this.allRows(body, view.n));
    this.showReferences(body, chosen[0]);
    this.showText(body, chosen);
  }

  summary(body, system, n) {
    const place = body.at.findIndex(([s, k]) => s === system && k === n);
    if (place < 0) return { system, text: null, words: 0, draws: 0, place };
    return { system, place, text: body.texts[place], words: body.words[place], draws: body.draws[place] };
  }

  box({ system, text, words, draws }) {
    const { label, kind, look, run } = this.systems[system];
    const box = element("div", undefined, look);
    box.append(element("strong", label + (kind === "system" ? "" : ` (${kind})`)));
    box.append(Object.assign(element("p", text === null ? "– no summary at this n –" : text), { dir: "auto" }));
    const facts = text === null ? run : `${words} words · run ${run}`;
    box.append(element("small", facts + (draws ? ` · one of ${draws} draws; scores are their means` : "")));
    return box;
  }

  scoreRows(body, chosen) {
    const score = (place, column) => {
      const i = this.columns.indexOf(column);
      return place < 0 ? null : body.scores[i][place] / this.scales[i];
    };
    const heads = ["", ...chosen.map(({ system }) => this.systems[system].label)];
    if (chosen.length === 2) heads.push("Δ");
    const head = element("tr"), top = element("thead"), rows = element("tbody");
    head.append(...heads.map((text) => Object.assign(element("th", text), { scope: "col" })));
    top.append(head);
    const add = (name, column, places, parts) => {
      const row = element("tr"), values = chosen.map(({ place }) => score(place, column));
      row.append(Object.assign(element("th", name), { scope: "row" }));
      chosen.forEach(({ place }, i) => {
        const cell = element("td", decimals(values[i], places));
        if (parts) {
          const [precision, recall] = parts.map((part) => decimals(score(place, part), places));
          cell.append(element("small", `P ${precision} · R ${recall}`));
        }
        row.append(cell);
      });
      if (values.length === 2) {
        const apart = values.includes(null) ? null : values[0] - values[1];
        row.append(element("td", (apart > 0 ? "+" : "") + decimals(apart, places)));
      }
      rows.append(row);
    };
    for (const [name, column] of METRICS) add(`${name} F1`, `${column}_f1`, 3, [`${column}_precision`, `${column}_recall`]);
    for (const [name, column, places] of SINGLE) add(name, column, places, null);
    return [top, rows];
  }

  // What every system wrote at this n, the highest F1 first.
  allRows(body, n) {
    const f1 = this.columns.indexOf("bertscore_f1");
    const score = ({ place }) => body.scores[f1][place] / this.scales[f1];
    const written = this.systems.map((_, system) => this.summary(body, system, n)).filter(({ place }) => place >= 0);
    return written.sort((a, b) => score(b) - score(a)).map((summary) => {
      const row = element("tr"), text = Object.assign(element("td", summary.text), { dir: "auto" });
      row.append(Object.assign(element("th", this.systems[summary.system].label), { scope: "row" }));
      row.append(element("td", decimals(score(summary), 3)), text);
      return row;
    });
  }

  showReferences(body, first) {
    const has = new Set(bareWords(first.text ?? "").map((word) => word.bare));
    $("references").replaceChildren(...body.references.map((reference) => {
      const words = bareWords(reference);
      const shared = words.map((_, i) => i).filter((i) => has.has(words[i].bare));
      const paragraph = Object.assign(element("p"), { dir: "auto" });
      paragraph.append(...marked(reference, [{ spans: spansAt(words, shared), name: "mark", classes: "shared" }]));
      return paragraph;
    }));
  }

  showText(body, chosen) {
    const words = bareWords(body.text), bare = words.map((word) => word.bare);
    const placed = chosen.map(({ text }) => {
      const positions = align(bareWords(text ?? "").map((word) => word.bare), bare);
      return spansAt(words, positions.filter((position) => position >= 0));
    });
    const sources = sentenceSpans(body.text).filter(([start, end]) =>
      placed[0].some(([from, to]) => from < end && start < to));
    const layers = [{ spans: sources, name: "span", classes: "source" }];
    placed.forEach((found, i) => layers.push({ spans: found, name: i ? "span" : "mark", classes: i ? "b" : "a" }));
    const paragraph = Object.assign(element("p"), { dir: "auto" });
    paragraph.append(...marked(body.text, layers));
    $("text").replaceChildren(paragraph);
  }
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

// A text cut where a span of any layer begins or ends; each piece lies in an element for every layer it is in.
function marked(text, layers) {
  const cuts = new Set([0, text.length]);
  for (const { spans } of layers) for (const [start, end] of spans) cuts.add(start).add(end);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, i) => {
    let node = document.createTextNode(text.slice(start, places[i + 1]));
    for (const { spans, name, classes } of [...layers].reverse()) {
      if (spans.some(([from, to]) => from <= start && start < to)) {
        const around = element(name, undefined, classes);
        around.append(node);
        node = around;
      }
    }
    return node;
  });
}

function lengthName(n) {
  return n === 0 ? "uncut" : String(n);
}

function decimals(value, places) {
  if (value === null) return "–";
  const text = value.toFixed(places).replace(/^(-?)0\./, "$1.");
  return Number(text) === 0 ? text.replace("-", "") : text;
}

async function main() {
  if (!("DecompressionStream" in window)) return;
  const archive = await (await unpacked("archive-index")).json();
  const f1 = new Int16Array(await (await unpacked("archive-f1")).arrayBuffer());
  new Viewer(archive, f1).start();
}

main();
