// Texts of others in Markdown. GitHub and GitLab never treat code as markup, a mention, a link or a reference.

import manifest from "../../package.json" with { type: "json" };
import { escapeHtml, printable } from "../../schema/index.ts";
import type { RuleName } from "../review/report.ts";
import type { Segment } from "./differences.ts";

/** Limit of one comment. GitHub accepts 65,536 characters: https://github.com/orgs/community/discussions/27190 */
export const COMMENT_BYTES_MAX = 60_000;

const shorten = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;

/** A code span (https://spec.commonmark.org/0.31.2/#code-spans): its fence is longer than any run of backticks inside. */
export const code = (text: string, most = 300): string => {
  const shown = printable(shorten(text, most)) || " ";
  const runs = shown.match(/`+/g) ?? [];
  const fence = "`".repeat(1 + Math.max(0, ...runs.map((run) => run.length)));
  const pad = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return fence + pad + shown + pad + fence;
};

/** Code where HTML is read, as in a summary. */
export const htmlCode = (text: string, most = 300): string =>
  `<code>${escapeHtml(printable(shorten(text, most)))}</code>`;

/** Text around a difference, on each side of a long part without one. */
const CONTEXT = 60;

/** Code with bold differences. A long part without one is cut in its middle, so that the differences stay in view. */
export const codeWithMarks = (segments: readonly Segment[], most: number): string =>
  segments.map(({ text, differs }) => (differs ? `**${code(text, most)}**` : code(elideMiddle(text), most))).join("");

const elideMiddle = (text: string) =>
  text.length <= 4 * CONTEXT
    ? text
    : `${text.slice(0, CONTEXT)}… (${text.length - 2 * CONTEXT} more characters) …${text.slice(-CONTEXT)}`;

// The address of the documentation: the page of the repository, at the version of this package. A comment and a page that was sent have no
// other link to it; a terminal names the file, which the package contains.

const DOCS = `${manifest.repository.url.replace(/^git\+|\.git$/g, "")}/blob/v${manifest.version}`;

/** `docs/change.md#gains-owner` as an address. */
export const docsAddress = (path: string): string => `${DOCS}/${path}`;

/** The explanation of a rule: each has a section with its name. */
export const pathOfRule = (rule: RuleName): string => `docs/change.md#${rule}`;
