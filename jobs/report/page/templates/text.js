"use strict";
// Words, sentences and marks: what the viewer needs and that knows nothing of it. Texts are only ever set as text.

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

// One spelling for what search compares: of letters in one or two characters, and of cases.
function folded(text) {
  return text.normalize("NFC").toLowerCase();
}

function percent(value) {
  return value === null ? "–" : `${Math.round(value * 100)}\u00a0%`;
}

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
