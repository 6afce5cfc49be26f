// The normal form of writes: what is the same write is the same text, and what an author writes is never taken for something of ours.
import { describe, expect, test } from "vitest";
import type { Call } from "../../../access/change/methods.ts";
import { unknownIn } from "../../../access/change/unknown.ts";
import { resolveValue } from "../../../access/change/value.ts";
import { type Write, writesFrom } from "../../../access/change/write.ts";
import type { Json, OperationName } from "../../../schema/index.ts";

const ORG = "a".repeat(40);
const uidOf = (digit: string, above = ORG): string => `${above}/${digit.repeat(16)}`;
const [TEAM, BOT, ROLE, OTHER] = ["1", "2", "3", "4"].map((digit) => uidOf(digit)) as [string, string, string, string];

const call = (method: OperationName, request: Json, response: Json = {}): Call => ({ method, request, response });
const group = (uid: string, fields: Json = {}, parent = ORG): Call =>
  call("CreateGroup", { parent, group: { name: "team", ...fields } }, { uid, name: "team" });
const bot = (fields: Json = {}, uid = BOT, parent = ORG): Call => {
  const identity = { name: "bot", claimMatch: { issuer: "https://issuer.example", subject: "bot" }, ...fields };
  return call("CreateIdentity", { parent, identity }, { ...identity, uid });
};
const binding = (parent: string, identityUid: string, uid: string): Call =>
  call("CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid: ROLE } }, { uid });
const renamed = (request: Json): Call => call("UpdateIdentity", request, { uid: BOT });
const invite = (fields: Json, response: Json = {}): Call => {
  const groupInvite = { roleUid: ROLE, ...fields };
  return call("CreateGroupInvite", { parent: ORG, groupInvite }, { uid: uidOf("5"), ...response });
};
const fieldsOf = (...calls: Call[]): Json | undefined => writesFrom(calls).writes.at(-1)?.fields;

describe("a uid that the twin made", () => {
  test("is an object, in a field, in a path and in a text, and of several the longest counts", () => {
    const inner = uidOf("5", TEAM);
    const { writes, uids, encodeText } = writesFrom([
      group(TEAM),
      bot({ description: `of ${TEAM}` }, inner, TEAM),
      binding(TEAM, inner, uidOf("6", TEAM)),
      group(OTHER, { description: `${inner},${TEAM}/x ${"5".repeat(16)}` }),
      call("DeleteRole", { uid: ROLE }),
    ]);
    const [first, second] = [{ $uid: 1 }, { $uid: 2 }];
    const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
    const description = { $text: [second, ",", first, "/x ", { $segment: 2 }] };
    expect(writes.map(({ n: _, ...write }) => write)).toEqual([
      { method: "CreateGroup", parent: ORG, fields: { name: "team" } },
      {
        ...{ method: "CreateIdentity", parent: first },
        fields: { name: "bot", description: { $text: ["of ", first] }, claimMatch },
      },
      { method: "CreateRoleBinding", parent: first, fields: { identityUid: second, roleUid: ROLE } },
      { method: "CreateGroup", parent: ORG, fields: { name: "team", description } },
      { method: "DeleteRole", uid: ROLE, fields: {} },
    ]);
    expect([...uids.entries()].flat()).toEqual([1, TEAM, 2, inner, 3, uidOf("6", TEAM), 4, OTHER]);
    expect(encodeText(inner)).toEqual(second);
    const back = resolveValue(writes[3]?.fields, { uidOf: (n) => uids.get(n) as string, hidden: "" });
    expect(back).toEqual({ name: "team", description: `${inner},${TEAM}/x ${"5".repeat(16)}` });
  });

  test("is one of the original where the record was there before: an upsert, and an association", () => {
    const repo = uidOf("7");
    const tag = uidOf("8", repo);
    const moved = call("CreateTag", { parent: repo, tag: { name: "1", digest: "sha256:0" } }, { uid: tag });
    const request = { parent: TEAM, accountAssociation: { name: "a" } };
    const accounts = call("CreateAccountAssociation", request, { uid: TEAM });
    const recordOf = (plural: string, uid: string) => (plural === "tags" && uid === tag ? { uid } : undefined);
    const { uids, encodeText } = writesFrom([group(TEAM), moved, accounts], { recordOf });
    expect([...uids]).toEqual([[1, TEAM]]);
    expect(encodeText(tag)).toBe(tag);
  });

  test("that the twin alone knows, or a part of one, decides access in a way that is not known", () => {
    const founding = call("DeleteRoleBinding", { uid: uidOf("9", TEAM) });
    const computed = binding(ORG, uidOf("2", "b".repeat(40)), uidOf("6"));
    const { writes } = writesFrom([group(TEAM), bot(), founding, computed]);
    expect(writes.slice(2).map(unknownIn)).toEqual([
      ["uid is computed from the uid of a new record"],
      ["identityUid is computed from the uid of a new record"],
    ]);
  });
});

test("what an author writes stays a text, or a map with these keys", () => {
  const texts = [`$${"{1.uid}"}`, '{"$uid":1}', "$uid"];
  for (const description of texts)
    expect(fieldsOf(group(TEAM), group(OTHER, { description }))).toMatchObject({ description });
  const claims = { $uid: "1", [TEAM]: "team", plain: "x" };
  const map = Object.fromEntries([...Object.entries(claims), ["__proto__", "p"]]);
  const match = { issuer: "https://issuer.example", subject: "bot", claims: map };
  const { claimMatch } = fieldsOf(group(TEAM), bot({ claimMatch: match })) as { claimMatch: Json };
  const $map = [
    ["$uid", "1"],
    ["__proto__", "p"],
    ["plain", "x"],
    [{ $uid: 1 }, "team"],
  ];
  expect(claimMatch.claims).toEqual({ $map });
  expect(resolveValue(claimMatch.claims, { uidOf: () => TEAM, hidden: "" })).toEqual(map);
});

describe("the normal form", () => {
  test("drops defaults and what only the service sets, sorts sets, and has one spelling of times", () => {
    const role = { name: "r", description: "", capabilities: ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"], uid: ROLE };
    expect(fieldsOf(call("CreateRole", { parent: ORG, role }, { uid: ROLE }))).toEqual({
      name: "r",
      capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"],
    });
    const keys = { issuer: "https://i.example", subject: "s", issuerKeys: "{}" };
    const staticKeys = { ...keys, expirationTime: "2026-11-28T01:00:00+01:00" };
    expect(fieldsOf(bot({ claimMatch: undefined, staticKeys }))).toMatchObject({
      staticKeys: { expirationTime: "2026-11-28T00:00:00.000Z" },
    });
    for (const ttl of ["3600s", "3600.000s", "03600s"])
      expect(fieldsOf(invite({ ttl }))).toEqual({ roleUid: ROLE, ttl: "3600s" });
  });

  test("of an update has the paths that it names, with their values and no others", () => {
    const identity = { uid: BOT, name: "new", claimMatch: { subject: "s", issuer: "https://x.example" } };
    const write = (updateMask: string) => writesFrom([renamed({ identity, updateMask })]).writes[0];
    expect(write("description,claimMatch.subject,uid")).toEqual({
      ...{ n: 1, method: "UpdateIdentity", uid: BOT },
      ...{ fields: { claimMatch: { subject: "s" } }, mask: ["claimMatch.subject", "description"] },
    });
    expect(write("claim_match.subject,claimMatch")).toMatchObject({
      mask: ["claimMatch"],
      fields: { claimMatch: identity.claimMatch },
    });
  });

  test("of `*` has the paths that it changes; all where the record was not known", () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
    const before = { uid: BOT, name: "bot", description: "", claimMatch };
    const after = { ...before, name: "new" };
    const request = { identity: { uid: BOT, name: "new", claimMatch }, updateMask: "*" };
    const update = { ...renamed(request), response: after };
    const recordOf = (plural: string) => (plural === "identities" ? before : undefined);
    const maskOf = (calls: Call[], options = {}) => writesFrom(calls, options).writes.at(-1)?.mask;
    expect(maskOf([update], { recordOf })).toEqual(["name"]);
    expect(maskOf([bot(), update])).toEqual(["name"]);
    expect(writesFrom([update, update], { recordOf }).writes).toHaveLength(1);
    expect(maskOf([update])).toContain("staticKeys");
  });

  test("resolves what the service has resolved: the parent of a group, a source, the role of a batch", () => {
    expect(writesFrom([group(uidOf("5", TEAM), {}, "team")]).writes[0]?.parent).toBe(TEAM);
    const repo = { name: "nginx", sync_config: { source: "acme/nginx" } };
    const made = { uid: uidOf("7"), sync_config: { source: OTHER } };
    expect(fieldsOf(call("CreateRepo", { parent: ORG, repo }, made))).toMatchObject({ sync_config: { source: OTHER } });
  });

  test("of a batch is that of its records, one by one", () => {
    const bindings = [BOT, OTHER].map((identityUid, i) => ({ identityUid, uid: uidOf(String(5 + i)) }));
    const batch = call(
      "BatchCreateRoleBindings",
      { parent: ORG, roleUid: ROLE, requests: bindings.map(({ identityUid }) => ({ roleBinding: { identityUid } })) },
      { roleBindings: bindings },
    );
    const singly = bindings.map(({ uid, identityUid }) => binding(ORG, identityUid, uid));
    expect(writesFrom([batch])).toMatchObject({ writes: writesFrom(singly).writes });
    const names = [uidOf("7", TEAM), uidOf("8", TEAM)];
    const removed = call("BatchDeleteExternalGroupRoleMappings", { parent: TEAM, names });
    const apart = names.map((uid) => call("DeleteExternalGroupRoleMapping", { uid }));
    expect(writesFrom([removed]).writes).toEqual(writesFrom(apart).writes);
  });

  test("counts a request that is sent again once, and a second create twice", () => {
    const update = renamed({ identity: { uid: BOT, name: "new" }, updateMask: "name" });
    const other = renamed({ identity: { uid: BOT, name: "old" }, updateMask: "name" });
    const remove = call("DeleteRole", { uid: ROLE });
    const methodsOf = (...calls: Call[]) => writesFrom(calls).writes.map(({ fields }) => fields.name);
    expect(methodsOf(update, update)).toEqual(["new"]);
    expect(methodsOf(update, other, update)).toEqual(["new", "old", "new"]);
    expect(writesFrom([remove, group(TEAM), remove]).writes).toHaveLength(2);
    const twice = writesFrom([group(TEAM), group(OTHER), bot({}, BOT, TEAM), bot({}, uidOf("5"), OTHER)]);
    const [one, two, ...bots] = twice.keys;
    expect([one, bots[0]]).toEqual([two, bots[1]]);
  });

  test("has a key that does not depend on the order in which independent writes were sent", () => {
    const [a, b] = [group(TEAM), group(OTHER, { name: "other" })] as [Call, Call];
    const [inA, inB] = [bot({}, uidOf("5"), TEAM), bot({}, uidOf("6"), OTHER)];
    const keys = (...calls: Call[]) => writesFrom(calls).keys.toSorted();
    expect(keys(a, b, inA, inB)).toEqual(keys(b, inB, a, inA));
    expect(new Set(keys(a, b, inA, inB)).size).toBe(4);
  });
});

describe("a secret", () => {
  const SECRET = "s3cr3t-value";
  const hiddenIn = (calls: Call[], secrets: string[] = []): [Write, string[]] => {
    const { writes } = writesFrom(calls, { secrets });
    expect(JSON.stringify(writes)).not.toContain(SECRET);
    const write = writes.at(-1) as Write;
    return [write, unknownIn(write)];
  };

  test("of the schema is hidden, and decides nothing", () => {
    const oidc = { issuer: "https://idp.example", clientId: "c", clientSecret: SECRET };
    const identityProvider = { name: "sso", defaultRole: ROLE, oidc };
    const provider = call("CreateIdentityProvider", { parent: ORG, identityProvider }, { uid: OTHER });
    const [{ fields }, unknown] = hiddenIn([provider]);
    expect(fields).toMatchObject({ oidc: { clientId: "c", clientSecret: { $secret: true } } });
    expect(unknown).toEqual([]);
  });

  test("of a state is hidden wherever it is, and not known where it decides access", () => {
    expect(hiddenIn([bot({ description: `the ${SECRET}!` })], [SECRET])[1]).toEqual([]);
    const match = { issuer: "https://issuer.example", subject: `repo:${SECRET}` };
    expect(hiddenIn([bot({ claimMatch: match })], [SECRET])[1]).toEqual(["claimMatch.subject is secret"]);
    const claims = { ...match, subject: "s", claims: { [SECRET]: "a", b: SECRET } };
    const [{ fields }, unknown] = hiddenIn([bot({ claimMatch: claims })], [SECRET]);
    const hidden = { $secret: true };
    const $map = [
      ["b", hidden],
      [hidden, "a"],
    ];
    expect(fields).toMatchObject({ claimMatch: { claims: { $map } } });
    expect(unknown).toContain("claimMatch.claims is secret");
    const update = renamed({ identity: { uid: BOT, name: SECRET }, updateMask: "name" });
    expect(hiddenIn([update], [SECRET])[1]).toEqual(["name is secret"]);
    expect(hiddenIn([call("DeleteRole", { uid: ROLE })], [ROLE])[1]).toEqual(["uid is secret"]);
  });

  test("that is short hides a text that it is, and no word that has it", () => {
    const [{ fields }] = hiddenIn([group(TEAM, { name: "dev", description: "developers" })], ["dev"]);
    expect(fields).toEqual({ name: { $secret: true }, description: "developers" });
  });

  test("that the twin has made is hidden: the code of an invite", () => {
    const calls = [invite({ ttl: "60s" }, { code: SECRET }), bot({ description: SECRET })];
    expect(hiddenIn(calls)[0].fields).toMatchObject({ description: { $secret: true } });
  });
});
