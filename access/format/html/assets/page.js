// The search box: hides items that do not contain every word. Without it the page is complete.

const box = document.querySelector("search");
if (box) {
  const input = box.querySelector("input");
  const status = box.querySelector("p");
  const wasOpen = new Map(Array.from(document.querySelectorAll("details"), (one) => [one, one.open]));
  const lowerText = (element) => element.textContent.toLowerCase();

  const sections = document.querySelectorAll("main > section");
  const FINDABLE = ".identity:not([hidden]), .find > li:not([hidden]), .map:not([hidden])";

  const entries = Array.from(document.querySelectorAll("details.identity, .find > li"), (element) => ({
    element,
    text: lowerText(element),
    summary: element.matches("details") ? lowerText(element.firstElementChild) : undefined,
  }));
  // Rows of the map are found by the name of their subject. They are not counted: each has its entry below.
  const rows = Array.from(document.querySelectorAll(".map tbody tr"), (element) => ({
    element,
    text: lowerText(element.firstElementChild),
  }));
  const folds = Array.from(document.querySelectorAll(".fold")).reverse();

  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const contains = (text) => words.every((word) => text.includes(word));
    let found = 0;
    for (const { element, text, summary } of entries) {
      element.hidden = !contains(text);
      if (!element.hidden) found += 1;
      if (summary !== undefined) element.open = words.length > 0 ? !contains(summary) : wasOpen.get(element);
    }
    for (const { element, text } of rows) element.hidden = !contains(text);
    for (const table of document.querySelectorAll(".map"))
      table.hidden = table.querySelector("tbody tr:not([hidden])") === null;
    for (const fold of folds) {
      const has = words.length === 0 || fold.querySelector(".map:not([hidden])") !== null;
      fold.hidden = !has;
      fold.open = words.length > 0 ? has : wasOpen.get(fold);
    }
    for (const section of sections) section.hidden = words.length > 0 && !section.querySelector(FINDABLE);
    for (const [details, open] of wasOpen)
      if (details.querySelector(":scope > .find")) {
        details.hidden = words.length > 0 && details.querySelector(FINDABLE) === null;
        details.open = words.length > 0 || open;
      }
    status.textContent = words.length === 0 ? "" : found === 1 ? "1 match" : `${found} matches`;
  };

  box.hidden = false;
  input.addEventListener("input", search);
}
