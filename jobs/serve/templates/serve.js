"use strict";
(() => {
  const address = document.body.dataset.events;
  const connection = document.getElementById("connection");
  const RETRY_MS = 5000;
  let source = null;
  let isOver = false;
  let timer = 0;

  // The server has escaped all texts in it. What has the focus or was ticked stays so.
  function fill(element, digest, html) {
    if (element.dataset.digest === digest) return;
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const ticked = new Set([...element.querySelectorAll("input:checked")].map((box) => box.value));
    const open = new Set([...element.querySelectorAll("details[open]")].map((one) => one.id));
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 4;
    element.innerHTML = html;
    element.dataset.digest = digest;
    for (const box of element.querySelectorAll("input[type=checkbox]")) box.checked = ticked.has(box.value);
    for (const one of element.querySelectorAll("details[id]")) one.open = one.open || open.has(one.id);
    if (isAtEnd) element.scrollTop = element.scrollHeight;
    if (!focused) return;
    const again = focused.id
      ? document.getElementById(focused.id)
      : [...element.querySelectorAll("input")].find((box) => box.value === focused.value);
    if (again) again.focus({ preventScroll: true });
  }

  function stop() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  function start() {
    if (source || isOver) return;
    source = new EventSource(address);
    source.addEventListener("parts", (event) => {
      connection.textContent = "";
      for (const [name, [digest, html]] of Object.entries(JSON.parse(event.data))) {
        const element = document.getElementById(name);
        if (element) fill(element, digest, html);
      }
    });
    source.addEventListener("end", () => {
      isOver = true;
      stop();
    });
    source.addEventListener("error", () => {
      connection.textContent = "Not connected: this page may be out of date.";
      stop();
      timer = setTimeout(start, RETRY_MS);
    });
  }

  // A browser has six connections to a server: pages that nobody sees leave theirs to others.
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  for (const element of document.querySelectorAll(".log")) element.scrollTop = element.scrollHeight;
  if (!document.hidden) start();
})();
