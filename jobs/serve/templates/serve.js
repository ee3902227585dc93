"use strict";
(() => {
  const POLL_MS = 2000;
  const LONGEST_MS = 20000;
  const connection = document.getElementById("connection");
  const shown = new Map();
  let isAsking = false;

  // The server has escaped all texts in it. What has the focus or was ticked stays so.
  function fill(element, html) {
    const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
    const ticked = new Set([...element.querySelectorAll("input:checked")].map((box) => box.id));
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 4;
    element.innerHTML = html;
    for (const box of element.querySelectorAll("input")) box.checked ||= ticked.has(box.id);
    if (isAtEnd) element.scrollTop = element.scrollHeight;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  async function poll() {
    if (isAsking || document.hidden) return;
    isAsking = true;
    try {
      const signal = AbortSignal.timeout(LONGEST_MS);
      const answer = await fetch(location.href, { headers: { Accept: "application/json" }, signal });
      if (!answer.ok) throw new Error(await answer.text());
      const { parts, is_live: isLive } = await answer.json();
      for (const [name, html] of Object.entries(parts)) {
        if (shown.get(name) !== html) fill(document.getElementById(name), html);
        shown.set(name, html);
      }
      connection.textContent = "";
      if (!isLive) clearInterval(timer);
    } catch (error) {
      connection.textContent = `This page may be out of date. ${error.message}`;
    } finally {
      isAsking = false;
    }
  }

  for (const element of document.querySelectorAll(".log")) element.scrollTop = element.scrollHeight;
  const timer = setInterval(poll, POLL_MS);
})();
