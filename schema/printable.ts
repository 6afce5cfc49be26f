// Makes foreign text safe for a terminal or a page. Control characters (C0, DEL, C1) move the cursor or forge lines. Line separators and
// bidirectional controls disguise text (https://trojansource.codes). Invisible characters make two texts look the same.
const CONTROLS = /[\p{Cc}\u2028\u2029\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

// Escapes UTF-16 units, so that an escape inside JSON stands for the same character.
const escapeCharacter = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** The text as one line, with such characters as `\u001b`. */
export const printable = (text: string): string => text.replace(CONTROLS, escapeCharacter);

/** The same for our own text that quotes others: line breaks stay. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

const HTML_ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for an HTML element or the value of an attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => HTML_ESCAPES[char] as string);
