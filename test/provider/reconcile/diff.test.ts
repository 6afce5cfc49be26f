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

const groupLists = ["CAP_IAM_GROUPS_LIST"];
const both = ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"];
const keysUntil = (expirationTime: string) => ({ staticKeys: { ...keys, expirationTime } });
const matching = (further: Json) => ({ claimMatch: { ...claimMatch, ...further } });

describe("the paths that differ", () => {
  const byPattern = { issuer: claimMatch.issuer, subjectPattern: "s" };
  const chosen = { name: "a", verified: true, kind: "ORG_KIND_DEV" };
  const outputOnly = { name: "a", createTime: "1", resourceLimits: { idps: 1 }, status: "ORG_STATUS_READY" };
  const rows: [string, Kind, Json, Json, ...string[]][] = [
    ["absent is zero", group, { name: "a", description: "", verified: false, resourceLimits: {} }, { name: "a" }],
    ["a description by hand", group, { name: "a", description: "x" }, { name: "a" }, "description"],
    ["several fields", group, { name: "a", description: "x" }, { name: "b", description: "y" }, "description", "name"],
    ["output-only fields mean nothing", group, outputOnly, { name: "a" }],
    ["a value that the service chose and the program leaves out", group, chosen, { name: "a" }],
    [
      "a value that the service chose and the program contradicts",
      group,
      chosen,
      { name: "a", verified: false },
      "verified",
    ],
    [
      "a member of a message",
      identity,
      { name: "a", claimMatch },
      { name: "a", ...matching({ subject: "t" }) },
      "claimMatch.subject",
    ],
    [
      "a switch inside a oneof",
      identity,
      { claimMatch },
      { claimMatch: byPattern },
      "claimMatch.subject",
      "claimMatch.subjectPattern",
    ],
    [
      "a map is one path",
      identity,
      matching({ claims: { a: "1", "b/c": "2" } }),
      matching({ claims: { a: "9", d: "3" } }),
      "claimMatch.claims",
    ],
    ["an empty map is none", identity, { claimMatch }, matching({ claims: {} })],
    [
      "the order of a map",
      identity,
      matching({ claims: { a: "1", b: "2" } }),
      matching({ claims: { b: "2", a: "1" } }),
    ],
    [
      "a switch of the relationship",
      identity,
      { claimMatch },
      { awsIdentity: { awsAccount: "1" } },
      "awsIdentity",
      "claimMatch",
    ],
    ["one instant", identity, keysUntil("2030-01-01T00:00:00.000Z"), keysUntil("2030-01-01T01:00:00+01:00")],
    ["an expiry that the service chose", identity, keysUntil("2030-01-01T00:00:00.000Z"), { staticKeys: keys }],
    ["the order of capabilities", role, { capabilities: both }, { capabilities: both.toReversed() }],
    [
      "an unknown capability",
      role,
      { capabilities: ["CAP_NEW", ...groupLists] },
      { capabilities: groupLists },
      "capabilities",
    ],
    ["an unknown field", role, { capabilities: groupLists, novelty: 1 }, { capabilities: groupLists }],
    [
      "a value that is unknown",
      group,
      { name: "a", description: "x" },
      { name: "a", description: UNKNOWN },
      "description",
    ],
    ["an unknown block", identity, { claimMatch }, { claimMatch: UNKNOWN }, "claimMatch"],
  ];
  for (const [reason, kind, observed, desired, ...expected] of rows)
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

  const bound = { parent: GROUP, identityUid: IDENTITY, roleUid: ROLE };
  const changedKeys = { parent: GROUP, staticKeys: { ...keys, subject: "t" }, allowReplace: true };
  it.each<[string, Kind, string, Json, Json, string[]]>([
    ["updates a role binding's role in place", roleBinding, binding.uid, binding, { ...bound, roleUid: ORG }, []],
    ["replaces a role binding that moves", roleBinding, binding.uid, binding, { ...bound, parent: ORG }, ["parent"]],
    [
      "replaces one whose group is unknown",
      roleBinding,
      binding.uid,
      binding,
      { ...bound, parent: UNKNOWN },
      ["parent"],
    ],
    [
      "replaces a group that may be replaced",
      group,
      GROUP,
      { name: "a" },
      { parent: IDENTITY, name: "a", allowReplace: true },
      ["parent"],
    ],
    ["replaces keys that may be replaced", identity, IDENTITY, { staticKeys: keys }, changedKeys, ["staticKeys"]],
  ])("%s", (_, kind, id, olds, news, replaces) => {
    expect(diff(kind, id, olds, news)).toEqual({ changes: true, replaces });
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
