// A rehearsal in each format: what fails comes first, and no text of others becomes markup.
import { describe, expect, test } from "vitest";
import { rehearsalAsHtml } from "../../../access/format/html/rehearsal.ts";
import { rehearsalAsMarkdown } from "../../../access/format/rehearsal/markdown.ts";
import { rehearsalAsText } from "../../../access/format/rehearsal/terminal.ts";
import { reportAsText } from "../../../access/format/review/terminal.ts";
import { goesThrough, Rehearsal } from "../../../access/rehearsal/report.ts";
import type { Report } from "../../../access/review/report.ts";
import { EMPTY_REPORT } from "./reviews.ts";

const urnOf = (name: string) => `urn:pulumi:dev::acme::irm:index:Role::${name}`;

const good: Rehearsal = {
  as: { uid: "u1", name: "ci", rights: "operator" },
  steps: [{ urn: urnOf("publisher"), op: "create", ok: true }],
  ...{ errors: [], notRehearsed: [], others: [], differences: [], undecided: [], losses: [] },
  gains: ["repo.create", "repo.list"].map((capability) => ({
    ...{ group: "g1", groupName: "platform", capability, role: "publisher", uid: null, name: "release" },
  })),
  ...{ agrees: true, secondPreviewEmpty: true, secondPreview: [], requests: 7, seconds: null, notCopied: [] },
};

const row = good.gains[0] as Rehearsal["gains"][number];
const bad: Rehearsal = {
  ...good,
  steps: [
    {
      ...{ urn: urnOf("<b>@all"), op: "create", ok: false, error: "needs roles.create at g1\n- See docs  \n\n  <i>" },
      missing: { capabilities: ["roles.create"], group: "g1", groupName: "platform" },
    },
  ],
  errors: ["Error: of the program"],
  notRehearsed: [{ urn: urnOf("waits"), op: "update", why: "it waits for bucket, which another provider changes" }],
  others: [{ urn: "urn:pulumi:dev::acme::aws:s3/bucket:Bucket::bucket", op: "update" }],
  differences: [{ change: "gain", in: "twin", row }],
  undecided: [{ change: "loss", in: "review", row: { ...row, group: null } }],
  ...{ agrees: false, secondPreviewEmpty: false, secondPreview: [{ urn: urnOf("again"), op: "create" }] },
  ...{ requests: 30, seconds: 3, notCopied: ["not copied: advisories"] },
};

const origin = { stack: "acme/dev", service: "https://irm.example.com", time: "2026-11-26T03:47:22Z" };

describe("a rehearsal", () => {
  test("that goes through says who gains what", () => {
    expect(goesThrough(Rehearsal.parse(good))).toBe(true);
    const text = rehearsalAsText(good, origin, { color: false, width: 100 });
    expect(text).toContain("Rehearsal of the update: 1 step goes through\n");
    expect(text).toContain("As: ci (u1), with the rights of an operator\nRequests: 7\n");
    expect(text).toContain("- release (new) gains at platform and below, through publisher: repo.create, repo.list\n");
    expect(text).not.toContain("fail");
  });

  test("that fails says each reason, and nothing of a second preview", () => {
    expect(goesThrough(Rehearsal.parse(bad))).toBe(false);
    const text = rehearsalAsText(bad, origin, { color: false, width: 200 });
    expect(text).toContain("1 step fails, 1 change not rehearsed, 1 other error, review and twin disagree");
    expect(text).toContain("Requests: 30, which take 3 seconds at the limit");
    expect(text).toContain(
      "- only the twin: release (new) gains at platform and below, through publisher: repo.create\n",
    );
    expect(text).toContain(
      "- create <b>@all: the identity lacks roles.create at platform: needs roles.create at g1\n    - See docs\n      <i>\n",
    );
    expect(text).toContain("- update waits: it waits for bucket, which another provider changes");
    expect(text).toContain(
      "- only the review: release (new) loses at platform (new) and below, through publisher: repo.create\n",
    );
    expect(text).not.toContain("again");
  });

  test("has room for 500 characters of an error in a comment", () => {
    const text = rehearsalAsMarkdown({ ...good, errors: [`first\n${"x".repeat(600)}`] }, origin);
    expect(text).toContain(`- \`first\`<br>\n  \`${"x".repeat(494)}… (106 more characters)\`\n`);
  });

  test("whose second preview is not empty does not go through", () => {
    const again: Rehearsal = { ...good, secondPreviewEmpty: false, secondPreview: bad.secondPreview };
    expect(goesThrough(again)).toBe(false);
    const text = rehearsalAsText(again, origin, { color: false, width: 100 });
    expect(text).toContain("1 step goes through, a second preview is not empty");
    expect(text).toContain("What a second preview would change\n- create again\n");
  });

  test("is a comment and a page in which texts of others are no markup", () => {
    expect(rehearsalAsMarkdown(bad, origin)).toContain(
      "- create `<b>@all`: the identity lacks `roles.create` at `platform`: `needs roles.create at g1`<br>\n  `- See docs`<br>\n  `  <i>`\n",
    );
    const page = rehearsalAsHtml(bad, origin);
    expect(page).toContain("</bdi><ul><li><bdi>- See docs</bdi></li><li><bdi>  &lt;i&gt;</bdi></li></ul></li>");
    expect(page).toContain("&lt;b&gt;@all");
    expect(page).not.toContain("<b>@all");
  });

  test("stands in the review before the identities", () => {
    const report: Report = { ...EMPTY_REPORT, source: "preview", rehearsal: bad };
    const text = reportAsText(report, { color: false, width: 200 });
    expect(text).toContain("Rehearsal of the update\n- 1 step fails, 1 change not rehearsed, 1 other error");
    expect(text).toContain("review and twin disagree\n- As: ci (u1), with the rights of an operator\n");
    expect(text).toContain("Steps that fail\n- create <b>@all");
  });
});
