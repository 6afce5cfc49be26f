// A page in one file that loads nothing: its content security policy admits only its own style and script, by their hashes.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { escapeHtml, printable } from "../../../schema/index.ts";

// HTML from template literals. Every value is escaped, except other markup.

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Inserted unchanged: our own text, never a record's. */
const trustedMarkup = (text: string) => new Markup(text);

type Value = Markup | string | number | false | undefined | readonly Value[];

export const html = (strings: TemplateStringsArray, ...values: readonly Value[]): Markup => {
  const parts = [strings[0] as string];
  values.forEach((value, i) => {
    parts.push(markupFrom(value), strings[i + 1] as string);
  });
  return new Markup(parts.join(""));
};

const markupFrom = (value: Value): string => {
  if (value === undefined || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(markupFrom).join("");
  return escapeHtml(printable(String(value)));
};

interface PageParts {
  title: string;
  /** below the title */
  lead: Markup;
  /** the content that the search box searches, in words */
  search: string;
  /** the opening of the page, before its contents */
  opening?: Section | undefined;
  /** empty ones are left out */
  sections: readonly (Section | false)[];
}

export interface Section {
  id: string;
  title: string;
  body: Markup;
}

export const pageOf = ({ title, lead, search, opening, sections }: PageParts): string => {
  const shown = sections.filter((section) => section !== false);
  const [style, script] = [asset("page.css"), asset("page.js")];
  const policy = [
    "default-src 'none'",
    "img-src data:",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // The icon keeps browsers from requesting one.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trustedMarkup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${trustedMarkup(style)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
${lead}
</header>
${searchBox(search)}<main>
${opening && sectionOf(opening)}${shown.length > 2 && contents(shown)}${shown.map(sectionOf)}</main>
<script>${trustedMarkup(script)}</script>
</body>
</html>
`.text;
};

const sectionOf = ({ id, title, body }: Section) =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>\n${body}</section>\n`;

const contents = (sections: readonly Section[]) => html`<nav aria-label="Contents"><ul>${sections.map(
  ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
)}</ul></nav>
`;

// Hidden until the script runs.
const searchBox = (finds: string) => html`<search hidden>
<label for="search">Search</label>
<input id="search" type="search" placeholder="${finds}" autocomplete="off" spellcheck="false">
<p role="status"></p>
</search>
`;

const asset = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
