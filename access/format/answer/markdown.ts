// An answer as Markdown, for a comment: at most 60,000 bytes, and what is left out is counted.
import type { Answer } from "../../query/answer.ts";
import { COMMENT_BYTES_MAX, code } from "../markdown-text.ts";
import { hiddenLines, holdingsIn, NO_GRANTS, NO_VISIBLE_GRANTS, NOT_READABLE, titleOf, totalsOf } from "./rows.ts";

// The totals and the list of what is not visible take this room.
const BYTES_RESERVED = 10_000;

export const answerAsMarkdown = (answer: Answer): string => {
  const held = holdingsIn(answer);
  const hidden = hiddenLines(answer.graph, answer.notVisible);
  const head = `## ${titleOf(answer, code)}\n\n`;
  const rows = held.flatMap(({ name, uid, places }) =>
    places.map(({ path, role, capabilities }) => {
      const list = capabilities.length === 0 ? NOT_READABLE : cell(capabilities.join(", "));
      const whom = uid === undefined ? cell(name) : `${cell(name)} ${cell(uid)}`;
      return `| ${whom} | ${cell(path)} | ${cell(role)} | ${list} |\n`;
    }),
  );
  const assumptions = held.map(({ name, uid, path, assumable }) => {
    const whom = [code(name), path && `in ${code(path)}`, uid && code(uid)].filter(Boolean).join(" ");
    return `- ${whom}: ${code(assumable, LINE_MAX)}\n`;
  });
  let left = COMMENT_BYTES_MAX - BYTES_RESERVED - Buffer.byteLength(head);
  const fits = (text: string): boolean => {
    left -= Buffer.byteLength(text);
    return left > 0;
  };
  const kept = rows.filter(fits);
  const keptAssumptions = assumptions.filter(fits);
  const assumptionsOmitted = assumptions.length - keptAssumptions.length;
  const table = `| Identity | Group | Role | Capabilities |\n| --- | --- | --- | --- |\n${kept.join("")}`;
  const omitted = rows.length - kept.length;
  return [
    head,
    rows.length === 0 ? `${hidden.length === 0 ? NO_GRANTS : NO_VISIBLE_GRANTS}\n` : table,
    rows.length === 0 ? "" : `\n${totalsOf(held)}\n`,
    omitted === 0 ? "" : `\n${omitted} bindings are left out; \`--format json\` has all.\n`,
    assumptions.length === 0 ? "" : "\nWho can assume them:\n\n",
    ...keptAssumptions,
    assumptionsOmitted === 0
      ? ""
      : `\nOf ${assumptionsOmitted} identities it is left out who can assume them; \`--format json\` has all.\n`,
    hidden.length === 0 ? "" : "\nNot visible to the caller, so access may be missing here:\n\n",
    ...hidden.map((line) => `- ${code(line, LINE_MAX)}\n`),
  ].join("");
};

const LINE_MAX = 500;
const CELL_MAX = 10_000;

// A table ends a cell at a bar, also inside code.
const cell = (text: string): string => code(text, CELL_MAX).replaceAll("|", "\\|");
