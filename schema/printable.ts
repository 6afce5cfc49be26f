// Text of others on its way to a terminal or into a page. Control characters (C0, DEL, C1) move the cursor or forge lines; line separators
// and bidirectional controls make text read as another (https://trojansource.codes); characters that cannot be seen make two texts look the
// same.
const CONTROLS = /[\p{Cc}\u2028\u2029\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

// By UTF-16 units, so that an escape within a text of JSON stands for the same character.
const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** The text as one line, with such characters as `\u001b`. */
export const printable = (text: string): string => text.replace(CONTROLS, escaped);

/** A text of our own that quotes others: its line breaks stay. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

const HTML_ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML, in an element or in the value of an attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => HTML_ESCAPES[char] as string);
