// A report of drift in the formats for people: what they say, what they escape, and how much they print.
import { describe, expect, test } from "vitest";
import { jsonText } from "../../../access/format/document/document.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { type Drift, type DriftReport, driftDocument, type UndeclaredAccess } from "../../../access/format/drift.ts";
import type { PullToken } from "../../../access/query/pull-tokens.ts";
import { SECRET } from "../../../pulumi/value.ts";
import { NO_DRIFT } from "../drift/report.ts";
import { ROOT, uidIn } from "../graphs.ts";

const CI = uidIn(ROOT, 1);

const drift = (own: Partial<Drift> = {}): Drift => ({
  resource: "urn:pulumi:dev::access::irm:index:Group::team",
  kind: "group",
  uid: uidIn(ROOT, 2),
  name: "team",
  groupName: "platform/team",
  change: "changed",
  differences: [{ path: "description", program: "a", live: "b", changedIn: "service" }],
  ...own,
});

const undeclared = (own: Partial<UndeclaredAccess> = {}): UndeclaredAccess => ({
  kind: "role binding",
  uid: uidIn(ROOT, 3),
  name: "ci",
  identity: CI,
  group: ROOT,
  groupName: "/",
  role: "owner",
  ...own,
});

const pullToken = (own: Partial<PullToken> = {}): PullToken => ({
  uid: uidIn(ROOT, 30),
  name: "x",
  group: uidIn(ROOT, 2),
  groupName: "team",
  role: "apk.pull",
  binding: uidIn(ROOT, 31),
  created: "2026-11-01T00:00:00Z",
  ageDays: 1,
  expires: "2026-12-01T00:00:00Z",
  lastSeen: "2026-11-01T00:00:00Z",
  state: "ending",
  more: [],
  complete: true,
  ...own,
});

const markdown = (report: Partial<DriftReport>) => documentAsMarkdown(driftDocument({ ...NO_DRIFT, ...report }));
const text = (report: Partial<DriftReport>) =>
  documentAsText(driftDocument({ ...NO_DRIFT, ...report }), { color: false });

describe("on a terminal", () => {
  test("nothing is one line, and what cannot be seen is said", () => {
    expect(text({})).toBe("Drift: no difference\n");
    const notVisible = [{ kind: "role", group: ROOT, groupName: "/", message: "roles cannot be listed" }];
    expect(text({ notVisible })).toBe(
      [
        "Drift: no difference that you can see",
        "",
        "Not visible to the caller, so access may be missing here",
        "- /: roles cannot be listed",
        "",
        "docs/drift.md says what to do about each.",
        "",
      ].join("\n"),
    );
  });

  test("each list has its heading, and each record its resource, its uid and its values", () => {
    const names = { [CI]: "ci" };
    const printed = text({
      origin: {
        ...{ stack: "access/dev", service: "https://irm.example.com", time: "2026-11-22T00:00:00Z" },
        organizations: ["acme", "tools"],
      },
      drift: [
        drift(),
        drift({
          kind: "role binding",
          name: "ci as viewer",
          names,
          differences: [{ path: "role", program: "editor", live: CI }],
        }),
        drift({
          kind: "role binding set",
          name: null,
          names,
          differences: [{ path: "bindings", program: null, live: { identity: CI, role: "viewer" } }],
        }),
        drift({ change: "gone", differences: [] }),
        drift({ change: "new", uid: null, differences: [] }),
        drift({ change: "new", differences: [] }),
        drift({ name: "idp", differences: [{ path: "oidc.clientSecret", program: SECRET, live: SECRET }] }),
      ],
      undeclared: [
        undeclared({ command: `npx pulumi-irm revoke --binding ${uidIn(ROOT, 3)}` }),
        undeclared({ own: true }),
        undeclared({ allowed: true }),
        undeclared({ kind: "group invite", name: "invite key", identity: null, role: "viewer" }),
      ],
      keys: [{ resource: null, uid: CI, name: "ci", groupName: "/", expirationTime: "2026-11-30T00:00:00Z" }],
      pending: [
        {
          ...{ resource: null, logicalName: "x", kind: "group", uid: null, name: null, group: null, groupName: null },
          ...{ time: null, source: "state" },
        },
      ],
      unknown: [{ subject: "", message: "a step cannot be read" }],
    });
    for (const line of [
      "Drift of access/dev in acme and tools: 4 records differ, 1 record is gone, 2 records are not in the stack yet, 2 grants that nothing declares, 1 static key ends, 1 create is open, 1 part is not known",
      "Stack: access/dev",
      "- group team at platform/team has other values",
      `    urn:pulumi:dev::access::irm:index:Group::team, ${uidIn(ROOT, 2)}`,
      '    description: the program has "a", the service "b"; changed at the service',
      `    role: the program has "editor", the service ci ${CI}`,
      "- role binding set of platform/team has other values",
      "    bindings: only the service has ci as viewer",
      "- group team at platform/team is gone, and an update that refreshes creates it again",
      "- group team at platform/team is not created yet",
      "- group team at platform/team exists, and the next update takes it over",
      "    oidc.clientSecret: a secret, which may differ",
      `- ci is owner at / by role binding ${uidIn(ROOT, 3)}`,
      `    to remove it: npx pulumi-irm revoke --binding ${uidIn(ROOT, 3)}`,
      `- ci is owner at / by role binding ${uidIn(ROOT, 3)}; your own access, and no difference`,
      `- ci is owner at / by role binding ${uidIn(ROOT, 3)}; allowed, and no difference`,
      `- invite key gives viewer at / by group invite ${uidIn(ROOT, 3)}`,
      "- ci in /: 2026-11-30T00:00:00Z",
      "- group x, in the state of the engine",
      "    the program does not declare it any more",
      "- a step cannot be read",
      "An update repairs what differs if it refreshes: with options: { refresh: always } in Pulumi.yaml, or as pulumi up --refresh. docs/drift.md says what to do about each.",
    ])
      expect(printed.split("\n")).toContain(line);
  });

  test("pull tokens have a list of their own, where those that are allowed stand alone", () => {
    const printed = text({
      pullTokens: [
        pullToken({ role: "registry.pull", more: ["roles.create", "tag.create"], binding: uidIn(ROOT, 3) }),
        pullToken({ name: "far", state: "valid", lastSeen: "2026-11-20T00:00:00Z", binding: uidIn(ROOT, 4) }),
        pullToken({ name: "gone", state: "expired", complete: false, binding: null, role: null }),
      ],
      undeclared: [
        undeclared({ role: "registry.pull" }),
        undeclared({ uid: uidIn(ROOT, 4), name: "far", role: "apk.pull", allowed: true, removedBy: "urn:set" }),
      ],
    });
    expect(printed.split("\n")).toEqual([
      "Drift: 1 grant that nothing declares; 1 pull token ends within 30 days; 1 pull token has expired",
      "",
      "Access that nothing declares",
      `- ci is registry.pull at / by role binding ${uidIn(ROOT, 3)}`,
      "",
      "Pull tokens",
      "- x is registry.pull at team; 1 day old, not used yet, ends 2026-12-01T00:00:00Z, within 30 days; it holds more than pulls: roles.create, tag.create",
      `    ${uidIn(ROOT, 30)}`,
      "- far is apk.pull at team; 1 day old, last seen 2026-11-20T00:00:00Z, ends 2026-12-01T00:00:00Z; an update that refreshes removes this role binding by urn:set; allowed, and no difference",
      `    ${uidIn(ROOT, 30)}`,
      "- gone has no role, in team; 1 day old, not used yet, expired 2026-12-01T00:00:00Z; you cannot see all that it holds, so it may hold more",
      `    ${uidIn(ROOT, 30)}`,
      "",
      "docs/drift.md says what to do about each.",
      "",
    ]);
    expect(markdown({ pullTokens: [pullToken({ name: "@all" })] })).toContain(
      "- `@all` is `apk.pull` at `team`; 1 day old, not used yet, ends `2026-12-01T00:00:00Z`, within 30 days\n",
    );
  });

  test("texts of others cannot move the cursor", () => {
    const printed = text({
      drift: [drift({ name: "a\u001b[2Kb\n- forged" })],
      undeclared: [undeclared({ name: "c\rd" })],
    });
    for (const control of ["\u001b", "\r"]) expect(printed).not.toContain(control);
    expect(printed).not.toContain("\n- forged");
  });
});

describe("Markdown", () => {
  test("has the command that removes a grant", () => {
    const command = `npx pulumi-irm revoke --binding ${uidIn(ROOT, 3)}`;
    const printed = markdown({ undeclared: [undeclared({ command })] });
    expect(printed).toContain(`\n  - to remove it: \`${command}\`\n`);
  });

  test("sets texts of others apart", () => {
    const printed = markdown({ drift: [drift({ name: "@everyone <b>`x`" })] });
    expect(printed).toContain("## Drift: 1 record differs\n");
    expect(printed).toContain("- group `` @everyone <b>`x` `` at `platform/team` has other values\n");
    expect(printed).toContain('  - `description`: the program has `"a"`, the service `"b"`; changed at the service\n');
  });

  test("is at most 60,000 bytes, and counts what it leaves out", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => undeclared({ name: `ci-${i}` }));
    const printed = markdown({ undeclared: many, drift: [drift()] });
    expect(Buffer.byteLength(printed)).toBeLessThanOrEqual(60_000);
    expect(printed).toContain('the program has `"a"`');
    expect(printed).toMatch(/\n[\d,]+ entries left out here; `--format json` has all\.\n/);
  });
});

test("JSON has every list, also an empty one", () => {
  expect(JSON.parse(jsonText(NO_DRIFT))).toEqual(NO_DRIFT);
});
