// The viewer: reads the archive that the page carries, and shows one article.

const RANK_SCALE = 10000;
const NO_SCORE = -32768;
const MOST_LISTED = 200;
const STILL = 300; // milliseconds without a change, after which a view is worth going back to

class Viewer {
  constructor(archive, ranks) {
    Object.assign(this, archive);
    this.catalogue = new Catalogue(archive, ranks);
    this.parts = new Map();
    this.turns = 0;
    this.searches = 0;
    this.found = null;
    this.listed = [];
    this.view = { article: 0, ...archive.opens, ...USUAL };
  }

  async body(article) {
    const { part, at } = this.articles[article];
    if (!this.parts.has(part)) this.parts.set(part, unpacked(`part-${part}`).then((found) => found.json()));
    return (await this.parts.get(part))[at];
  }

  start() {
    const option = ({ label }, value) => element("option", { value }, label);
    $("system").append(...this.systems.map(option));
    $("other").append(option({ label: "nothing" }, -1), ...this.systems.map(option));
    for (const name of document.querySelectorAll(".score-name")) name.textContent = this.ranked.label;
    $("n").max = this.lengths.length - 1;
    for (const name of ["system", "other", "n"]) $(name).oninput = () => this.change({ [name]: Number($(name).value) });
    $("sort").onchange = () => this.change({ sort: $("sort").value }, { goes: "first" });
    $("search").oninput = () => this.change({ search: $("search").value }, { goes: "within" });
    $("previous").onclick = () => this.turn(-1);
    $("next").onclick = () => this.turn(1);
    window.onhashchange = () => this.follow();
    $("viewer-off").hidden = true;
    $("viewer-on").hidden = false;
    this.list();
    this.view.article = this.order[0] ?? 0;
    this.opening = { ...this.view };
    if (!this.follow()) this.show();
  }

  // `goes`: to the "first" article of the new order, or "within" it, where the article shown is not in it.
  async change(part, { goes = "" } = {}) {
    Object.assign(this.view, part);
    if ("search" in part && !(await this.seek())) return;
    this.list();
    const isIn = this.order.includes(this.view.article);
    if (this.order.length && (goes === "first" || (goes === "within" && !isIn))) this.goTo(this.order[0]);
    await this.show();
    this.remember();
  }

  // Look for the articles that have the words; false where another search began meanwhile.
  async seek() {
    const turn = ++this.searches, words = this.sought();
    const tell = (text) => ($("found").textContent = text);
    this.found = words.length ? await this.catalogue.having(words, () => turn !== this.searches, tell) : null;
    return turn === this.searches;
  }

  clearSearch() {
    if (this.view.search) this.change({ search: "" }, { goes: "within" });
  }

  sought() {
    return folded(this.view.search).split(/\s+/u).filter(Boolean);
  }

  turn(step) {
    const place = this.order.indexOf(this.view.article);
    const next = this.order[Math.min(this.order.length - 1, Math.max(0, place + step))];
    if (next !== undefined) this.read(next);
  }

  read(article) {
    this.goTo(article);
    this.show();
    this.remember();
  }

  goTo(article) {
    this.view.article = article;
    if (!this.listed.includes(article)) this.list();
    const { top } = $("shown").getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.bringUp();
  }

  bringUp() {
    $("shown").scrollIntoView({ block: "start", behavior: "instant" });
  }

  lengthen(step) {
    const n = Math.min(this.lengths.length - 1, Math.max(0, this.view.n + step));
    if (n !== this.view.n) this.change({ n });
  }

  // To the next system of the list, and from the last one to the first.
  turnSystem(step) {
    const count = this.systems.length;
    this.change({ system: (this.view.system + step + count) % count });
  }

  // The view in the address, once it has not changed for a while: so going back skips what was only passed.
  remember() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      const fragment = fragmentOf(this.view, this);
      if (fragment !== this.address) history.pushState(null, "", fragment);
      this.address = fragment;
    }, STILL);
  }

  // Show the view that the address names. An address without any is that of the page as it was opened.
  follow() {
    const isView = location.hash.startsWith("#view?");
    if (!isView && (location.hash || !this.address)) return false;
    clearTimeout(this.waiting);
    this.address = location.hash;
    const { view, lacks } = isView ? viewOf(location.hash, this, this.opening) : { view: { ...this.opening }, lacks: [] };
    this.view = view;
    $("link-note").textContent = lacks.length ? `This page does not have what the link names: ${lacks.join(", ")}.` : "";
    this.seek().then((isNewest) => {
      if (!isNewest) return;
      this.list();
      this.show();
    });
    const { top, bottom } = $("viewer").getBoundingClientRect();
    if (isView && (bottom < 0 || top > innerHeight / 2)) this.bringUp();
    return true;
  }

  list() {
    this.order = this.catalogue.ordered(this.view, this.found);
    const place = this.order.indexOf(this.view.article), start = Math.max(0, place - MOST_LISTED / 2);
    const from = place < MOST_LISTED ? 0 : Math.min(start, this.order.length - MOST_LISTED);
    this.listed = this.order.slice(from, from + MOST_LISTED);
    const hadFocus = $("articles").contains(document.activeElement);
    $("articles").replaceChildren(...this.listed.map((i) => this.entry(i)));
    $("found").textContent = this.summed(from);
    this.showChosen();
    if (hadFocus) $("articles").querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  }

  summed(from) {
    const { sort, other } = this.view;
    const parts = [`${this.order.length} of ${this.articles.length} articles`];
    if (this.listed.length < this.order.length) {
      parts.push(from ? `; listed: ${from + 1} to ${from + this.listed.length}` : `; the first ${this.listed.length} are listed`);
    }
    if (this.found && !this.found.size) parts.push(`: no article has ${this.sought().map((word) => `“${word}”`).join(" and ")}`);
    if (other < 0 && sort === "difference") parts.push(". Choose a second system to sort by the difference.");
    return parts.join("");
  }

  entry(i) {
    const { key, title, words } = this.articles[i], { system, other, n } = this.view;
    const scoreOf = (s) => scoreText(this.ranked, this.catalogue.score(i, s, n));
    const scores = [system, other].filter((s) => s >= 0).map((s) => `${this.systems[s].label} ${scoreOf(s)}`);
    const button = element("button", { type: "button", tabIndex: -1, onclick: () => this.read(i) },
      element("span", {}, ...this.marked(key)),
      element("small", {}, `${this.ranked.label}, ${atLength(this.lengths[n])}: ${scores.join(" · ")}`),
      element("small", {}, `${words} words · `, ...this.marked(title)));
    button.dataset.article = i;
    return element("li", {}, button);
  }

  // The entry of the article that is shown: marked, in sight, and the one that the tab key reaches.
  showChosen() {
    const list = $("articles"), place = this.order.indexOf(this.view.article);
    $("place").textContent = place < 0 ? "not in the list" : `${place + 1} of ${this.order.length}`;
    for (const button of list.querySelectorAll("[tabindex='0']")) {
      button.removeAttribute("aria-current");
      button.tabIndex = -1;
    }
    const button = list.querySelector(`[data-article="${this.view.article}"]`);
    button?.setAttribute("aria-current", "true");
    const reached = button ?? list.querySelector("button");
    if (reached) reached.tabIndex = 0;
    if (button) {
      const above = button.offsetTop - list.offsetTop, below = above + button.offsetHeight;
      if (above < list.scrollTop || below > list.scrollTop + list.clientHeight) list.scrollTop = above - list.clientHeight / 3;
      if (list.contains(document.activeElement)) button.focus({ preventScroll: true });
    }
  }

  async show() {
    const turn = ++this.turns, view = { ...this.view };
    const body = this.articles.length ? await this.body(view.article) : null;
    if (!body || turn !== this.turns) return;
    this.showControls(view);
    this.showChosen();
    const { id, key, dataset, words } = this.articles[view.article];
    $("article-key").replaceChildren(...this.marked(key));
    $("hits").textContent = hits(this, body, view);
    $("article-facts").textContent = [dataset, `${words} words`, `article_id ${id}`].join(" · ");
    const chosen = [view.system, view.other].filter((s) => s >= 0).map((s) => this.summary(body, s, view.n));
    const shared = new Set(body.references.flatMap((reference) => bareWords(reference).map((word) => word.bare)));
    $("summaries").replaceChildren(...chosen.map((summary) => this.box(summary, body, shared)));
    $("scores").replaceChildren(...this.scoreRows(body, chosen));
    for (const note of document.querySelectorAll(".of-other")) note.hidden = view.other < 0;
    this.showLadder(body, view);
    this.showSystems(body, view);
    this.showReferences(body, chosen);
    this.showText(body, chosen);
  }

  showControls(view) {
    for (const name of ["system", "other", "n", "sort"]) $(name).value = view[name];
    if ($("search").value !== view.search) $("search").value = view.search;
    const name = lengthName(this.lengths[view.n]);
    $("n-value").textContent = name;
    $("n").setAttribute("aria-valuetext", name);
    $("ladder-system").textContent = this.systems[view.system].label;
  }

  summary(body, system, n) {
    const place = body.at.findIndex(([s, k]) => s === system && k === n);
    return { system, n, place, text: body.texts[place] ?? null, words: body.words[place], draws: body.draws[place] };
  }

  score(body, place, column) {
    const i = this.columns.indexOf(column);
    const value = place < 0 ? null : body.scores[i][place];
    return value === null ? null : value / this.scales[i];
  }

  // A summary, in which the words that a reference has are marked.
  box({ system, text, words, draws, place }, body, shared) {
    const { label, kind, look, run } = this.systems[system];
    const own = bareWords(text ?? ""), places = own.map((_, i) => i).filter((i) => shared.has(own[i].bare));
    const layer = { spans: spansAt(own, places), name: "span", classes: "shared" };
    const written = text === null ? ["– no summary at this n –"] : this.marked(text, [layer]);
    const score = `${this.ranked.label} ${scoreText(this.ranked, this.score(body, place, this.ranked.column))}`;
    const facts = text === null ? [] : [`${words} words`, score];
    if (new Set(this.systems.map((system) => system.run)).size > 1) facts.push(`run ${run}`);
    if (draws) facts.push(`one of ${draws} draws; scores are their means`);
    return element("div", { className: look },
      element("strong", {}, label + (kind === "system" ? "" : ` (${kind})`)),
      element("p", { dir: "auto" }, ...written),
      element("small", {}, facts.join(" · ")));
  }

  scoreRows(body, chosen) {
    const heads = ["metric", ...chosen.map(({ system }) => this.systems[system].label), ...(chosen.length === 2 ? ["Δ"] : [])];
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    const rows = this.metrics.map((metric) => {
      const values = chosen.map(({ place }) => this.score(body, place, metric.column));
      const cells = chosen.map(({ place }, i) => {
        const [precision, recall] = metric.parts.map((part) => decimals(this.score(body, place, part), metric.places));
        const parts = recall === undefined ? [] : [element("small", {}, `P ${precision} · R ${recall}`)];
        return element("td", {}, scoreText(metric, values[i]), ...parts);
      });
      if (values.length === 2) {
        const apart = values.includes(null) ? null : values[0] - values[1];
        cells.push(element("td", {}, (apart > 0 ? "+" : "") + (metric.percent ? points(apart) : decimals(apart, metric.places))));
      }
      return element("tr", {}, element("th", { scope: "row" }, metric.label), ...cells);
    });
    return [element("thead", {}, head), element("tbody", {}, ...rows)];
  }

  // What the first system wrote at every n, the shortest first.
  showLadder(body, { system }) {
    const rungs = this.lengths.map((_, n) => this.summary(body, system, n)).filter(({ place }) => place >= 0);
    this.fill($("ladder"), rungs.map(({ n, place, text }, i) => {
      const fresh = i ? freshSpans(text, rungs[i - 1].text) : [];
      return this.row(body, place, { n }, lengthName(this.lengths[n]), [{ spans: fresh, name: "mark" }]);
    }));
  }

  // What every system wrote at this n, the highest score first.
  showSystems(body, { n }) {
    const score = ({ place }) => this.score(body, place, this.ranked.column);
    const written = this.systems.map((_, system) => this.summary(body, system, n)).filter(({ place }) => place >= 0);
    written.sort((a, b) => (score(b) ?? -2) - (score(a) ?? -2));
    this.fill($("all"), written.map(({ system, place }) => this.row(body, place, { system }, this.systems[system].label)));
  }

  // A summary as a row; a click on it makes the view of this choice. Who has selected a part of it wants to copy that.
  row(body, place, choice, name, layers = []) {
    const button = element("button", { type: "button" }, name);
    const row = element("tr", {},
      element("th", { scope: "row" }, button),
      element("td", {}, scoreText(this.ranked, this.score(body, place, this.ranked.column))),
      element("td", { dir: "auto" }, ...this.marked(body.texts[place], layers)));
    const [system, n] = body.at[place];
    if (system === this.view.system && n === this.view.n) row.setAttribute("aria-current", "true");
    row.onclick = ({ target }) => (target === button || getSelection().isCollapsed) && this.change(choice);
    return row;
  }

  // New rows for a table. The keyboard's focus stays in it, at the row of what is shown.
  fill(table, rows) {
    const hadFocus = table.contains(document.activeElement);
    table.replaceChildren(...rows);
    if (hadFocus) table.querySelector("[aria-current] button")?.focus({ preventScroll: true });
  }

  // A text with marks: those of the layers, and what is sought.
  marked(text, layers = []) {
    return marked(text, [...layers, { spans: foundSpans(text, this.sought()), name: "mark", classes: "sought" }]);
  }

  // The references, with the words marked that the summaries have, too.
  showReferences(body, chosen) {
    const written = chosen.map(({ text }) => new Set(bareWords(text ?? "").map((word) => word.bare)));
    $("references").replaceChildren(...body.references.map((reference) => {
      const words = bareWords(reference);
      const layers = written.map((summary, i) => {
        const shared = words.map((_, k) => k).filter((k) => summary.has(words[k].bare));
        return { spans: spansAt(words, shared), name: i ? "span" : "mark", classes: i ? "b" : "shared" };
      });
      return element("p", { dir: "auto" }, ...this.marked(reference, layers));
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
    $("text").replaceChildren(element("p", { dir: "auto" }, ...this.marked(body.text, layers)));
  }
}

const atLength = (n) => (n === 0 ? "uncut" : `n = ${n}`);

// A score as it is printed: in percent, or with as many decimals as the metric has.
const scoreText = (metric, value) => (metric.percent ? percent(value) : decimals(value, metric.places));

async function main() {
  if (!("DecompressionStream" in window)) return;
  const archive = await (await unpacked("archive-index")).json();
  const ranks = new Int16Array(await (await unpacked("archive-ranks")).arrayBuffer());
  const viewer = new Viewer(archive, ranks);
  viewer.start();
  listenToKeys(viewer);
}

main();
