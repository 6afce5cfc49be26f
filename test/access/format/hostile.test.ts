// Texts of others in every report: in Markdown they are in code, where they are neither markup nor mention, and no terminal obeys them.
import { expect, test } from "vitest";
import { answerDocument } from "../../../access/format/answer.ts";
import type { Document } from "../../../access/format/document/document.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument } from "../../../access/format/drift.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reviewDocument } from "../../../access/format/review/document.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { goesThrough, NO_RUN, type Report, type RunReport } from "../../../access/review/report.ts";
import { DRIFT, NO_DRIFT, PULL_TOKEN, UNDECLARED } from "../drift/report.ts";
import { graphOf } from "../graphs.ts";
import { asMarkdown, asText, EMPTY_REPORT, IDENTITY, RUN, reviewBetween } from "./reviews.ts";

const ATTACK =
  'x`|<img src=x onerror=alert(1)>\n@everyone [a](http://evil) \u001b[31m\u202e\u200b\r\n- forged </details> #1"';
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
  deletedGroups: [{ ...place, contents: [{ kind: "repo", uid: ATTACK, name: ATTACK }] }],
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

test("a finding stays one item", () => expect(documentAsMarkdown(review).match(/^- :warning:/gm)).toHaveLength(1));

const withRun = (run: RunReport): Report => ({ ...EMPTY_REPORT, ...run });
const report = withRun(RUN);
const good: RunReport = { ...RUN, steps: RUN.steps.slice(0, 1), errors: [], differs: [] };

test("a run that fails says each reason first; one that goes through has no word of a failure", () => {
  expect(asText(report)).toContain(
    `Change in access by this program: 1 step fails, 1 other error, 1 row differs; 0 findings
As: admin (${RUN.as?.uid}), with the rights of an operator
Writes: 7
Change: ${RUN.digest}

Access that is not as it was recorded
- ${RUN.differs[0]?.row?.identity} gains repo.create at {"$uid":1} and below: only the file has it

Steps that fail
- delete registry: the identity lacks groups.delete at platform: Precondition failed: cannot delete group with child repos
    - See docs
      <i>

What else fails
- Error: of the program

Steps that go through
- create clusters

Changes of other providers, which a review does not run
- update <b>@all

What the copy lacks
- not copied: advisories
`,
  );
  expect(asText(withRun(good))).toMatch(/^Change in access by this program: no change; 0 findings\n(?!.*fail)/s);
  const as = { uid: null, name: null, rights: "own" } as const;
  const text = asText(withRun({ ...good, as, digest: "" }));
  expect(text).toContain("As: an identity that is not known, with its own rights\nWrites: 7\n\n");
});

test("a run lists the steps that go through by operation, a replacement once, and at most twenty names", () => {
  const step = (op: string, name: string) => ({ urn: `urn:pulumi:dev::p::t::${name}`, op, ok: true });
  const moved = ["create-replacement", "replace", "delete-replaced"].map((op) => step(op, "moved"));
  const created = Array.from({ length: 22 }, (_, i) => step("create", `g${i}`));
  const steps = [...created, ...moved, { urn: "3", op: "CreateGroup", ok: true }];
  const lines = asText(withRun({ ...good, steps })).replaceAll(/\n {2}/g, "");
  for (const part of ["- create 22: g0, g1, ", "g19 and 2 more\n- replace moved\n", "- CreateGroup write 3\n"])
    expect(lines).toContain(part);
});

test("a run is a comment, with 500 characters of each line of an error, and a page without markup of others", () => {
  const comment = asMarkdown(report);
  expect(comment).toContain(
    "- delete `registry`: the identity lacks `groups.delete` at `platform`: `Precondition failed: cannot delete group with child repos`\n  - `- See docs`\n  - `  <i>`\n",
  );
  expect(comment).toContain("### Access that is not as it was recorded (1)\n");
  expect(comment).toContain("- update `<b>@all`\n");
  const page = reviewAsHtml({ ...reviewBetween(newGraph(), newGraph()), report });
  expect(page).toContain(
    '</bdi><ul class="parts"><li><bdi>- See docs</bdi></li><li><bdi>  &lt;i&gt;</bdi></li></ul></li>',
  );
  expect(page).toContain("&lt;b&gt;@all");
  expect(page).not.toContain("<b>@all");
  expect(page).toContain('<li class="alert"><b>1</b> row differs</li>');
  expect(page).toContain(`<dt>Change</dt><dd><bdi>${RUN.digest}</bdi></dd>`);
  const text = asMarkdown(withRun({ ...good, errors: [`first\n${"x".repeat(600)}`] }));
  expect(text).toContain(`- \`first\`\n  - \`${"x".repeat(500)}… (100 more characters)\`\n`);
});

test.each<[string, Partial<RunReport>, boolean]>([
  ["without a run", NO_RUN, true],
  ["with changes of others, and what the copy lacks", good, true],
  ["with a failing step", { steps: RUN.steps }, false],
  ["with another error", { errors: RUN.errors }, false],
  ["with a row that differs", { differs: RUN.differs }, false],
])("an update %s goes through: %s", (_, run, goes) => expect(goesThrough({ ...NO_RUN, ...run })).toBe(goes));
