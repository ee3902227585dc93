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
