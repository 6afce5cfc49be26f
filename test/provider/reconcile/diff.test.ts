import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { diff } from "../../../provider/reconcile/index.ts";
import { changedPaths } from "../../../provider/record/changes.ts";
import { desiredWith } from "../../../provider/record/desired.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import type { Json } from "../../../schema/index.ts";
import { GROUP, IDENTITY, ORG, ROLE, UNKNOWN } from "../../support/scripted.ts";

const { group, identity, role, roleBinding } = kindRecords;

const claimMatch = { issuer: "https://a.example.com", subject: "s" };
const keys = { issuer: "https://a.example.com", subject: "s", issuerKeys: "{}" };

describe("the paths that differ", () => {
  const rows: [string, Kind, Json, Json, string[]][] = [
    ["absent is zero", group, { name: "a", description: "", verified: false, resourceLimits: {} }, { name: "a" }, []],
    ["a description that was added by hand", group, { name: "a", description: "x" }, { name: "a" }, ["description"]],
    [
      "several fields",
      group,
      { name: "a", description: "x" },
      { name: "b", description: "y" },
      ["description", "name"],
    ],
    [
      "output-only fields mean nothing",
      group,
      { name: "a", createTime: "1", resourceLimits: { idps: 1 }, status: "ORG_STATUS_READY" },
      { name: "a" },
      [],
    ],
    [
      "a value that the service chose and the program leaves out",
      group,
      { name: "a", verified: true, kind: "ORG_KIND_DEV" },
      { name: "a" },
      [],
    ],
    [
      "a value that the service chose and the program contradicts",
      group,
      { name: "a", verified: true },
      { name: "a", verified: false },
      ["verified"],
    ],
    [
      "a member of a message",
      identity,
      { name: "a", claimMatch },
      { name: "a", claimMatch: { ...claimMatch, subject: "t" } },
      ["claimMatch.subject"],
    ],
    [
      "a switch inside a oneof names both",
      identity,
      { claimMatch },
      { claimMatch: { issuer: claimMatch.issuer, subjectPattern: "s" } },
      ["claimMatch.subject", "claimMatch.subjectPattern"],
    ],
    [
      "a map is one path",
      identity,
      { claimMatch: { ...claimMatch, claims: { a: "1", "b/c": "2" } } },
      { claimMatch: { ...claimMatch, claims: { a: "9", d: "3" } } },
      ["claimMatch.claims"],
    ],
    ["an empty map is none", identity, { claimMatch }, { claimMatch: { ...claimMatch, claims: {} } }, []],
    [
      "the order of a map means nothing",
      identity,
      { claimMatch: { ...claimMatch, claims: { a: "1", b: "2" } } },
      { claimMatch: { ...claimMatch, claims: { b: "2", a: "1" } } },
      [],
    ],
    [
      "a switch of the relationship names both",
      identity,
      { claimMatch },
      { awsIdentity: { awsAccount: "1" } },
      ["awsIdentity", "claimMatch"],
    ],
    [
      "times are compared by instant",
      identity,
      { staticKeys: { ...keys, expirationTime: "2030-01-01T00:00:00.000Z" } },
      { staticKeys: { ...keys, expirationTime: "2030-01-01T01:00:00+01:00" } },
      [],
    ],
    [
      "an expiry that the service chose",
      identity,
      { staticKeys: { ...keys, expirationTime: "2030-01-01T00:00:00.000Z" } },
      { staticKeys: keys },
      [],
    ],
    [
      "the order of capabilities means nothing",
      role,
      { capabilities: ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"] },
      { capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"] },
      [],
    ],
    [
      "a capability that this version does not know",
      role,
      { capabilities: ["CAP_NEW", "CAP_IAM_GROUPS_LIST"] },
      { capabilities: ["CAP_IAM_GROUPS_LIST"] },
      ["capabilities"],
    ],
    [
      "fields that this version does not know",
      role,
      { capabilities: ["CAP_IAM_GROUPS_LIST"], novelty: 1 },
      { capabilities: ["CAP_IAM_GROUPS_LIST"] },
      [],
    ],
    [
      "a value that is unknown in a preview",
      group,
      { name: "a", description: "x" },
      { name: "a", description: UNKNOWN },
      ["description"],
    ],
    ["an unknown block", identity, { claimMatch }, { claimMatch: UNKNOWN }, ["claimMatch"]],
  ];
  for (const [reason, kind, observed, desired, expected] of rows)
    it(`${reason}: ${expected.join(",") || "none"}`, () =>
      expect(changedPaths(desiredWith(kind, desired), observed)).toEqual(expected));
});

describe("diff", () => {
  const binding = { uid: `${GROUP}/2222222222222222`, identityUid: IDENTITY, roleUid: ROLE };

  it("ignores another handler text and key, and finds a change of the provider's own arguments", () => {
    const olds = { uid: ORG, name: "a", __provider: "old" };
    const news = { root: true, name: "a", __provider: "new", __key: "organization/project/stack/Group::a" };
    expect(diff(group, ORG, olds, news)).toEqual({ changes: false, replaces: [] });
    expect(diff(group, ORG, olds, { ...news, allowReplace: true })).toEqual({ changes: true, replaces: [] });
    expect(diff(group, ORG, { ...olds, allowReplace: true }, news)).toEqual({ changes: true, replaces: [] });
  });

  it("updates a role binding's identity and role in place", () => {
    expect(diff(roleBinding, binding.uid, binding, { parent: GROUP, identityUid: IDENTITY, roleUid: ORG })).toEqual({
      changes: true,
      replaces: [],
    });
  });

  it("replaces a role binding that moves, the new one first", () => {
    expect(diff(roleBinding, binding.uid, binding, { parent: ORG, identityUid: IDENTITY, roleUid: ROLE })).toEqual({
      changes: true,
      replaces: ["parent"],
    });
  });

  it("replaces a role binding whose group is unknown in a preview", () => {
    expect(
      diff(roleBinding, binding.uid, binding, { parent: UNKNOWN, identityUid: IDENTITY, roleUid: ROLE }).replaces,
    ).toEqual(["parent"]);
  });

  it("replaces a group that may be replaced", () => {
    expect(diff(group, GROUP, { name: "a" }, { parent: IDENTITY, name: "a", allowReplace: true })).toEqual({
      changes: true,
      replaces: ["parent"],
    });
  });

  it("replaces keys that may be replaced", () => {
    const news = { parent: GROUP, staticKeys: { ...keys, subject: "t" }, allowReplace: true };
    expect(diff(identity, IDENTITY, { staticKeys: keys }, news)).toEqual({ changes: true, replaces: ["staticKeys"] });
  });

  it("never replaces a protected group, whatever check saw", () => {
    expect(() => diff(group, GROUP, { name: "a" }, { parent: IDENTITY, name: "a" })).toThrow(
      `group ${GROUP}: parent: a change creates a new group`,
    );
  });

  it("warns of a parent that is unknown in a preview: the update may refuse it", () => {
    expect(diff(group, GROUP, { name: "a" }, { parent: UNKNOWN, name: "a" })).toEqual({
      changes: true,
      replaces: [],
      warning: expect.stringContaining(
        `group ${GROUP}: parent is not known yet, and the update refuses a different value`,
      ),
    });
  });
});
