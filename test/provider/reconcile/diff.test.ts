// Holds for any record: a diff names exactly the paths that a PATCH must change. Seeded, so that a failure repeats.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { diff } from "../../../provider/reconcile/index.ts";
import { changedPaths, desiredWith } from "../../../provider/record/desired.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import { REPLACE_ON } from "../../../provider/record/state.ts";
import { applyMask, type Json, maskTouches, normalForm } from "../../../schema/index.ts";
import { GROUP, IDENTITY, ORG, ROLE, UNKNOWN } from "../../support/scripted.ts";

const { group, identity, identityProvider, role, roleBinding } = kindRecords;

const claimMatch = { issuer: "https://a.example.com", subject: "s" };
const keys = { issuer: "https://a.example.com", subject: "s", issuerKeys: "{}" };

const groupLists = ["CAP_IAM_GROUPS_LIST"];
const both = ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"];
const keysUntil = (expirationTime: string) => ({ staticKeys: { ...keys, expirationTime } });
const matching = (further: Json) => ({ claimMatch: { ...claimMatch, ...further } });

const claiming = (claims: Json) => matching({ claims });
const newer = ["CAP_NEW", ...groupLists];
const SUBJECTS = ["claimMatch.subject", "claimMatch.subjectPattern"];
const RELATIONSHIPS = ["awsIdentity", "claimMatch"];
const byPattern = { issuer: claimMatch.issuer, subjectPattern: "s" };
const chosen = { name: "a", verified: true, kind: "ORG_KIND_DEV" };
const outputOnly = { name: "a", createTime: "1", resourceLimits: { idps: 1 }, status: "ORG_STATUS_READY" };
const rows: [string, Kind, Json, Json, ...string[]][] = [
  ["absent is zero", group, { name: "a", description: "", verified: false, resourceLimits: {} }, { name: "a" }],
  ["a description by hand", group, { name: "a", description: "x" }, { name: "a" }, "description"],
  ["several fields", group, { name: "a", description: "x" }, { name: "b", description: "y" }, "description", "name"],
  ["output-only fields mean nothing", group, outputOnly, { name: "a" }],
  ["a value that the service chose and the program leaves out", group, chosen, { name: "a" }],
  ["an unknown value and an unknown field", group, { name: "a", kind: "KIND_OF_TOMORROW", motto: "x" }, { name: "a" }],
  ["a value that it chose and the program contradicts", group, chosen, { name: "a", verified: false }, "verified"],
  ["a member of a message", identity, { claimMatch }, matching({ subject: "t" }), "claimMatch.subject"],
  ["a switch inside a oneof", identity, { claimMatch }, { claimMatch: byPattern }, ...SUBJECTS],
  ["a map is one path", identity, claiming({ a: "1", "b/c": "2" }), claiming({ a: "9", d: "3" }), "claimMatch.claims"],
  ["an empty map is none", identity, { claimMatch }, matching({ claims: {} })],
  ["the order of a map", identity, claiming({ a: "1", b: "2" }), claiming({ b: "2", a: "1" })],
  ["a switch of the relationship", identity, { claimMatch }, { awsIdentity: { awsAccount: "1" } }, ...RELATIONSHIPS],
  ["one instant", identity, keysUntil("2030-01-01T00:00:00.000Z"), keysUntil("2030-01-01T01:00:00+01:00")],
  ["an expiry that the service chose", identity, keysUntil("2030-01-01T00:00:00.000Z"), { staticKeys: keys }],
  ["the order of capabilities", role, { capabilities: both }, { capabilities: both.toReversed() }],
  ["an unknown capability", role, { capabilities: newer }, { capabilities: groupLists }, "capabilities"],
  ["an unknown member", identity, matching({ nonceOfTomorrow: "x" }), { claimMatch }],
  ["a value that is unknown", group, { description: "x" }, { description: UNKNOWN }, "description"],
  ["an unknown block", identity, { claimMatch }, { claimMatch: UNKNOWN }, "claimMatch"],
];
for (const [reason, kind, observed, desired, ...expected] of rows)
  it(`the paths that differ: ${reason}: ${expected.join(",") || "none"}`, () =>
    expect(changedPaths(desiredWith(kind, desired), observed)).toEqual(expected));

const bound = { parent: GROUP, identityUid: IDENTITY, roleUid: ROLE };
const binding = { uid: `${GROUP}/2222222222222222`, identityUid: IDENTITY, roleUid: ROLE };

it("diff ignores another handler text and key, and finds a change of the provider's own arguments", () => {
  const olds = { uid: ORG, name: "a", __provider: "old" };
  const news = { root: true, name: "a", __provider: "new", __key: "organization/project/stack/Group::a" };
  expect(diff(group, ORG, olds, news)).toEqual({ changes: false, replaces: [] });
  expect(diff(group, ORG, olds, { ...news, allowReplace: true })).toEqual({ changes: true, replaces: [] });
  expect(diff(group, ORG, { ...olds, allowReplace: true }, news)).toEqual({ changes: true, replaces: [] });
});

const changedKeys = { parent: GROUP, staticKeys: { ...keys, subject: "t" }, allowReplace: true };
const login = { uid: GROUP, oidc: { issuer: "https://a.example.com", clientId: "c", pkceEnabled: true } };
const rule = { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
const changedRule = { parent: ORG, oidc: { ...login.oidc, ...rule }, allowReplace: true };
const movedGroup = { parent: IDENTITY, name: "a", allowReplace: true };
it.each<[string, Kind, Json, Json, string[]]>([
  ["updates a role binding's role in place", roleBinding, binding, { ...bound, roleUid: ORG }, []],
  ["replaces a role binding that moves", roleBinding, binding, { ...bound, parent: ORG }, ["parent"]],
  ["replaces one whose group is unknown", roleBinding, binding, { ...bound, parent: UNKNOWN }, ["parent"]],
  ["replaces a group that may be replaced", group, { uid: GROUP, name: "a" }, movedGroup, ["parent"]],
  ["replaces keys that may be replaced", identity, { uid: IDENTITY, staticKeys: keys }, changedKeys, ["staticKeys"]],
  ["replaces a rule that matches people", identityProvider, login, changedRule, ["oidc.correlationRule"]],
])("diff %s", (_, kind, olds, news, replaces) => {
  expect(diff(kind, olds.uid as string, olds, news)).toEqual({ changes: true, replaces });
});

it("diff never replaces a protected group, and warns of a parent that is unknown in a preview", () => {
  expect(() => diff(group, GROUP, { name: "a" }, { parent: IDENTITY, name: "a" })).toThrow(
    `group ${GROUP}: parent: a change creates a new group`,
  );
  expect(diff(group, GROUP, { name: "a" }, { parent: UNKNOWN, name: "a" })).toEqual({
    changes: true,
    replaces: [],
    warning: expect.stringContaining(
      `group ${GROUP}: parent is not known yet, and the update refuses a different value`,
    ),
  });
});

// The engine does not apply this option to dynamic resources.
const observed = { uid: IDENTITY, name: "ci", ...matching({ claims: { team: "a" } }) };
const desired = { parent: GROUP, name: "other", ...matching({ claims: { team: "a" }, subject: "new" }) };

it.each([
  ["a field that changes", ["name"], ["name"]],
  ["a member of a message that changes", ["claimMatch.subject"], ["claimMatch"]],
  ["the same in brackets", ['claimMatch["subject"]'], ["claimMatch"]],
  ["a message with a member that changes", ["claimMatch"], ["claimMatch"]],
  ["everything", ["*"], ["claimMatch", "name"]],
  ["a member that does not change", ["claimMatch.issuer", "claimMatch.subjectPattern", "names"], []],
  ["nothing", undefined, []],
])("%s replaces the record by the option replaceOnChanges", (_what, option, replaces) => {
  const news = { ...desired, ...(option && { [REPLACE_ON]: option }) };
  expect(diff(identity, IDENTITY, observed, news)).toEqual({ changes: true, replaces });
});

it("by the option replaceOnChanges an unchanged record stays, and a reference has the name of the program's argument", () => {
  const news = { ...observed, uid: undefined, parent: GROUP, [REPLACE_ON]: ["*"] };
  expect(diff(identity, IDENTITY, observed, news)).toEqual({ changes: false, replaces: [] });
  const other = { ...bound, roleUid: `${ORG}/2222222222222222`, [REPLACE_ON]: ["role"] };
  expect(diff(roleBinding, binding.uid, binding, other)).toEqual({ changes: true, replaces: ["role"] });
});

const SEED = 20_260_728;
const RUNS = { seed: SEED, numRuns: 500 };

const text = fc.constantFrom("a", "b", "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const map = maybe(fc.dictionary(fc.constantFrom("ref", "x/y", "a~b"), fc.constantFrom("1", "2")));
const oneOf = (...names: string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.constantFrom("s", "t")).map(([name, value]) => ({ [name]: value }));

const byClaims = fc
  .tuple(
    oneOf("issuer", "issuerPattern"),
    oneOf("subject", "subjectPattern"),
    fc.record({ claims: map, claimPatterns: map }),
  )
  .map(([issuer, subject, rest]) => ({ claimMatch: { ...issuer, ...subject, ...rest } }));
const awsIdentity = fc
  .tuple(oneOf("arn", "arnPattern"), oneOf("userId", "userIdPattern"))
  .map(([arn, user]) => ({ awsIdentity: { awsAccount: "1", ...arn, ...user } }));
const named = fc.record({ name: fc.constantFrom("a", "b"), description: maybe(text) });

const records: [string, Kind, fc.Arbitrary<Json>][] = [
  ["a group", group, named],
  [
    "an identity",
    identity,
    fc.tuple(named, fc.oneof(byClaims, awsIdentity)).map(([base, relationship]) => ({ ...base, ...relationship })),
  ],
  [
    "a role",
    role,
    fc
      .tuple(named, fc.array(fc.constantFrom("CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST", "CAP_NEW"), { minLength: 1 }))
      .map(([base, capabilities]) => ({ ...base, capabilities })),
  ],
];

describe.each(records)("%s", (_, kind, record) => {
  it("equals itself, whatever the order of its members", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return [...value].reverse();
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(record, (one) => {
        expect(changedPaths(desiredWith(kind, reversed(one) as Json), one)).toEqual([]);
      }),
      RUNS,
    );
  });

  it("becomes the other one by a PATCH of exactly the paths that differ", () => {
    fc.assert(
      fc.property(record, record, (observed, desired) => {
        const paths = changedPaths(desiredWith(kind, desired), observed);
        const patch = (mask: readonly string[]) =>
          applyMask(kind.schema, normalForm(kind.schema, observed), normalForm(kind.schema, desired), mask);
        expect(changedPaths(desiredWith(kind, desired), patch(paths))).toEqual([]);
        // Each path is needed, unless setting another member of its oneof clears it.
        for (const left of paths) {
          const still = changedPaths(desiredWith(kind, desired), patch(paths.filter((path) => path !== left)));
          if (desired[left] !== undefined) expect(still.some((path) => maskTouches([left], path))).toBe(true);
        }
      }),
      RUNS,
    );
  });
});
