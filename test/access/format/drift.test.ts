// A report of drift in the formats for people: what they say, and how much they print.
import { expect, test } from "vitest";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { type DriftReport, driftDocument } from "../../../access/format/drift.ts";
import { SECRET } from "../../../pulumi/value.ts";
import { DRIFT, NO_DRIFT, PULL_TOKEN, UNDECLARED } from "../drift/report.ts";
import { ROOT, uid } from "../graphs.ts";

const CI = uid("ci");
const BINDING = UNDECLARED.uid;
const revoke = `npx pulumi-irm revoke --binding ${BINDING}`;

const markdown = (report: Partial<DriftReport>) => documentAsMarkdown(driftDocument({ ...NO_DRIFT, ...report }));
const linesOf = (report: Partial<DriftReport>) =>
  documentAsText(driftDocument({ ...NO_DRIFT, ...report }), { color: false }).split("\n");

test("nothing is one line, and what cannot be seen is said", () => {
  expect(linesOf({})).toEqual(["Drift: no difference", ""]);
  const notVisible = [{ kind: "role", group: ROOT, groupName: "/", message: "roles cannot be listed" }];
  expect(linesOf({ notVisible })).toEqual([
    "Drift: no difference that you can see",
    "",
    "Not visible to the caller, so access may be missing here",
    "- /: roles cannot be listed",
    "",
    "docs/drift.md says what to do about each.",
    "",
  ]);
});

test("each list has its heading, and each record its resource, its uid and its values", () => {
  const names = { [CI]: "ci" };
  const lines = linesOf({
    origin: {
      ...{ stack: "access/dev", service: "https://irm.example.com", time: "2026-11-22T00:00:00Z" },
      organizations: ["acme", "tools"],
    },
    drift: [
      DRIFT,
      {
        ...{ ...DRIFT, kind: "role binding", name: "ci as viewer", names },
        differences: [{ path: "role", program: "editor", live: CI }],
      },
      {
        ...{ ...DRIFT, kind: "role binding set", name: null, names },
        differences: [{ path: "bindings", program: null, live: { identity: CI, role: "viewer" } }],
      },
      { ...DRIFT, change: "gone", differences: [] },
      { ...DRIFT, change: "new", uid: null, differences: [] },
      { ...DRIFT, change: "new", differences: [] },
      { ...DRIFT, name: "idp", differences: [{ path: "oidc.clientSecret", program: SECRET, live: SECRET }] },
    ],
    undeclared: [
      { ...UNDECLARED, command: revoke },
      { ...UNDECLARED, own: true },
      { ...UNDECLARED, allowed: true },
      { ...UNDECLARED, kind: "group invite", name: "invite key", identity: null, role: "viewer" },
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
    `    urn:pulumi:dev::access::irm:index:Group::team, ${DRIFT.uid}`,
    '    description: the program has "a", the service "b"; changed at the service',
    `    role: the program has "editor", the service ci ${CI}`,
    "- role binding set of platform/team has other values",
    "    bindings: only the service has ci as viewer",
    "- group team at platform/team is gone, and an update that refreshes creates it again",
    "- group team at platform/team is not created yet",
    "- group team at platform/team exists, and the next update takes it over",
    "    oidc.clientSecret: a secret, which may differ",
    `- ci is owner at / by role binding ${BINDING}`,
    `    to remove it: ${revoke}`,
    `- ci is owner at / by role binding ${BINDING}; your own access, and no difference`,
    `- ci is owner at / by role binding ${BINDING}; allowed, and no difference`,
    `- invite key gives viewer at / by group invite ${BINDING}`,
    "- ci in /: 2026-11-30T00:00:00Z",
    "- group x, in the state of the engine",
    "    the program does not declare it any more",
    "- a step cannot be read",
    "An update repairs what differs if it refreshes: with options: { refresh: always } in Pulumi.yaml, or as pulumi up --refresh. docs/drift.md says what to do about each.",
  ])
    expect(lines).toContain(line);
});

test("pull tokens have a list of their own, where those that are allowed stand alone", () => {
  const [own, far] = [uid("own"), uid("far")];
  const lines = linesOf({
    pullTokens: [
      { ...PULL_TOKEN, role: "registry.pull", more: ["roles.create", "tag.create"], binding: own },
      { ...PULL_TOKEN, name: "far", state: "valid", lastSeen: "2026-11-20T00:00:00Z", binding: far },
      { ...PULL_TOKEN, name: "gone", state: "expired", complete: false, binding: null, role: null },
    ],
    undeclared: [
      { ...UNDECLARED, uid: own, role: "registry.pull" },
      { ...UNDECLARED, uid: far, name: "far", role: "apk.pull", allowed: true, removedBy: "urn:set" },
    ],
  });
  expect(lines).toEqual([
    "Drift: 1 grant that nothing declares; 1 pull token ends within 30 days; 1 pull token has expired",
    "",
    "Access that nothing declares",
    `- ci is registry.pull at / by role binding ${own}`,
    "",
    "Pull tokens",
    "- x is registry.pull at team; 1 day old, not used yet, ends 2026-12-01T00:00:00Z, within 30 days; it holds more than pulls: roles.create, tag.create",
    `    ${PULL_TOKEN.uid}`,
    "- far is apk.pull at team; 1 day old, last seen 2026-11-20T00:00:00Z, ends 2026-12-01T00:00:00Z; an update that refreshes removes this role binding by urn:set; allowed, and no difference",
    `    ${PULL_TOKEN.uid}`,
    "- gone has no role, in team; 1 day old, not used yet, expired 2026-12-01T00:00:00Z; you cannot see all that it holds, so it may hold more",
    `    ${PULL_TOKEN.uid}`,
    "",
    "docs/drift.md says what to do about each.",
    "",
  ]);
});

test("Markdown has the difference and the command that removes a grant, and counts those for which there is no room", () => {
  const many = Array.from({ length: 2_000 }, (_, i) => ({ ...UNDECLARED, name: `ci-${i}`, command: revoke }));
  const text = markdown({ drift: [DRIFT], undeclared: many });
  expect(text).toContain("## Drift: 1 record differs, 2000 grants that nothing declares\n");
  expect(text).toContain("- group `team` at `platform/team` has other values\n");
  expect(text).toContain('  - `description`: the program has `"a"`, the service `"b"`; changed at the service\n');
  expect(text).toContain(`\n  - to remove it: \`${revoke}\`\n`);
  expect(text).toMatch(/\n[\d,]+ entries left out here; `--format json` has all\.\n/);
});
