// Keys, so that articles can be read without a mouse. They do nothing where somebody types, nor with Ctrl, Alt or Meta.

const isTyping = (target) =>
  target.closest("select, textarea, [contenteditable]") !== null ||
  (target.matches("input") && !["checkbox", "radio", "range", "button"].includes(target.type));

function listenToKeys(viewer) {
  const help = $("help");
  const keys = {
    j: () => viewer.turnByKey(1),
    k: () => viewer.turnByKey(-1),
    n: () => viewer.lengthen(1),
    p: () => viewer.lengthen(-1),
    "/": () => {
      $("search").focus();
      $("search").select();
    },
    "?": () => help.showModal(),
    Escape: () => viewer.clearSearch(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (help.open && event.key === "?") {
      event.preventDefault();
      help.close();
    }
    if (help.open || event.defaultPrevented || !(event.target instanceof Element) || isTyping(event.target)) return;
    if (!Object.hasOwn(keys, event.key) || !$("keys-on").checked) return;
    event.preventDefault(); // or "/" would be typed into the search, and a browser's own search might open
    keys[event.key]();
  });
  $("open-help").onclick = () => help.showModal();
  $("close-help").onclick = () => help.close();
  help.onclick = (event) => {
    if (event.target === help) help.close(); // beside what it says
  };
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
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    viewer.turn(step);
  };
}
