// Texts of others in every report: in Markdown they are in code, where they are neither markup nor mention, and no terminal obeys them.
import { expect, test } from "vitest";
import { answerDocument } from "../../../access/format/answer.ts";
import type { Document } from "../../../access/format/document/document.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument } from "../../../access/format/drift.ts";
import { reviewDocument } from "../../../access/format/review/document.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { DRIFT, NO_DRIFT, PULL_TOKEN, UNDECLARED } from "../drift/report.ts";
import { graphOf } from "../graphs.ts";
import { EMPTY_REPORT, IDENTITY } from "./reviews.ts";

const ATTACK =
  'x`|<img src=x onerror=alert(1)>\n@everyone [a](http://evil) \u001b[31m\u202e\u200b\r\n- forged </details> #1"';
const named = { kind: "repo", uid: ATTACK, name: ATTACK };
const place = { group: ATTACK, groupName: ATTACK };

const review = reviewDocument({
  ...EMPTY_REPORT,
  identities: [
    {
      ...{ ...IDENTITY, name: ATTACK, groupName: ATTACK },
      after: { text: ATTACK, patterns: [{ claim: ATTACK, pattern: ATTACK, matches: [ATTACK], differs: [ATTACK] }] },
      assumableAfter: { a: 1 },
    },
  ],
  findings: [{ rule: "gains-owner", subject: ATTACK, name: ATTACK, message: ATTACK }],
  unknown: [{ subject: ATTACK, message: ATTACK }],
  undeclared: [{ ...place, binding: ATTACK, identity: ATTACK, identityName: ATTACK, role: ATTACK }],
  deletedGroups: [{ ...place, contents: [named] }],
  steps: [{ urn: ATTACK, op: "update", ok: false, error: ATTACK }],
  errors: [ATTACK],
  others: [{ urn: `urn:pulumi:s::p::t::${ATTACK}`, op: "update" }],
});

const drift = driftDocument({
  ...NO_DRIFT,
  drift: [{ ...DRIFT, ...place, name: ATTACK, differences: [{ path: ATTACK, program: ATTACK, live: ATTACK }] }],
  undeclared: [{ ...UNDECLARED, ...place, name: ATTACK, role: ATTACK }],
  pullTokens: [{ ...PULL_TOKEN, ...place, name: ATTACK, role: ATTACK, more: [ATTACK] }],
  unknown: [{ subject: ATTACK, message: ATTACK }],
});

const access = { "/": { [ATTACK]: [ATTACK] } };
const attacked = graphOf({ roles: { [ATTACK]: [ATTACK] }, identities: { [ATTACK]: { issuer: ATTACK } }, access });
const answer = answerDocument(answerOf({ graph: attacked, notVisible: [] }, {}));

/** Markdown without its code. */
const outsideCode = (text: string): string =>
  text.replace(/<code>.*?<\/code>/g, "").replace(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, "");

test.each<[string, Document]>([
  ["a review", review],
  ["drift", drift],
  ["an answer", answer],
])("%s keeps them apart from its own", (_, document) => {
  const [text, markdown] = [documentAsText(document, { color: false, width: 80 }), documentAsMarkdown(document)];
  for (const shown of [text, markdown])
    for (const part of ["\u001b", "\r", "\u202e", "\u200b", "\n- forged"]) expect(shown).not.toContain(part);
  expect(text).toContain("\\u001b[31m\\u202e\\u200b");
  for (const part of ["<img", "@everyone", "http://evil", "</details> #1", "forged"])
    expect(outsideCode(markdown)).not.toContain(part);
});

test("a finding stays one item", () => {
  expect(documentAsMarkdown(review).match(/^- :warning:/gm)).toHaveLength(1);
});
