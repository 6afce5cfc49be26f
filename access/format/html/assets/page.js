// The search box: hides what does not contain every word. Without it the page is complete.

const box = document.querySelector("search");
if (box) {
  const input = box.querySelector("input");
  const status = box.querySelector("p");
  const wasOpen = new Map(Array.from(document.querySelectorAll("details"), (one) => [one, one.open]));
  const textOf = (element) => element.textContent.toLowerCase();

  const tree = document.querySelector(".tree");
  const sections = document.querySelectorAll("main > section");
  const FINDABLE = ".identity:not([hidden]), .find > li:not([hidden]), .group:not([hidden]), .map:not([hidden])";

  const entries = Array.from(document.querySelectorAll("details.identity, .find > li"), (element) => ({
    element,
    text: textOf(element),
    summary: element.matches("details") ? textOf(element.firstElementChild) : undefined,
  }));
  // Rows of the map are found by whom they are about. They are not counted: each has its entry below.
  const rows = Array.from(document.querySelectorAll(".map tbody tr"), (element) => ({
    element,
    text: textOf(element.firstElementChild),
  }));
  const folds = Array.from(document.querySelectorAll(".fold")).reverse();

  // Children come before their parents, whose visibility depends on theirs.
  const groups = Array.from(document.querySelectorAll(".group"), (element) => {
    const own = element.firstElementChild;
    const path = textOf(own.querySelector(".path"));
    const roles = Array.from(own.querySelectorAll("dl"), (role) => {
      const head = `${path} ${textOf(role.querySelector("dt"))}`;
      const holders = Array.from(role.querySelectorAll("li"), (holder) => ({
        element: holder,
        text: `${head} ${textOf(holder)}`,
      }));
      return { element: role, holders };
    });
    return { element, own, path, roles };
  }).reverse();

  const show = (element, isShown) => {
    element.hidden = !isShown;
    return isShown;
  };

  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const contains = (text) => words.every((word) => text.includes(word));
    let found = 0;
    tree?.classList.toggle("searching", words.length > 0);
    for (const { element, text, summary } of entries) {
      if (show(element, contains(text))) found += 1;
      if (summary !== undefined) element.open = words.length > 0 ? !contains(summary) : wasOpen.get(element);
    }
    for (const { element, text } of rows) show(element, contains(text));
    for (const table of document.querySelectorAll(".map"))
      show(table, table.querySelector("tbody tr:not([hidden])") !== null);
    for (const fold of folds) {
      const has = show(fold, words.length === 0 || fold.querySelector(".map:not([hidden])") !== null);
      fold.open = words.length > 0 ? has : wasOpen.get(fold);
    }
    const shown = new Set();
    for (const { element, own, path, roles } of groups) {
      const isNamed = contains(path);
      let holds = false;
      for (const role of roles) {
        const matching = role.holders.filter((holder) => show(holder.element, isNamed || contains(holder.text)));
        if (show(role.element, matching.length > 0)) holds = true;
        if (!isNamed) found += matching.length;
      }
      if (isNamed) found += 1;
      if (show(element, isNamed || holds || shown.has(element))) shown.add(element.parentElement.closest(".group"));
      if (wasOpen.has(own)) own.open = words.length > 0 ? holds : wasOpen.get(own);
    }
    for (const section of sections) section.hidden = words.length > 0 && !section.querySelector(FINDABLE);
    for (const [details, open] of wasOpen)
      if (details.querySelector(":scope > .find")) {
        show(details, words.length === 0 || details.querySelector(FINDABLE) !== null);
        details.open = words.length > 0 || open;
      }
    status.textContent = words.length === 0 ? "" : found === 1 ? "1 match" : `${found} matches`;
  };

  box.hidden = false;
  input.addEventListener("input", search);
}
