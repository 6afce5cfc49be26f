// The file of a change: what is written is read, and a bad file is refused in one sentence.
import { expect, test } from "vitest";
import { digestOf } from "../../../access/canonical.ts";
import {
  BYTES_MAX,
  type ChangeContent,
  ChangeError,
  changeText,
  lifeFrom,
  parseChange,
  unusableText,
  WRITES_MAX,
} from "../../../access/change/change.ts";
import type { Call } from "../../../access/change/methods.ts";
import { changeRows, rowsApart } from "../../../access/change/rows.ts";
import { unknownIn } from "../../../access/change/unknown.ts";
import { resolveValue } from "../../../access/change/value.ts";
import { type Write, writesFrom } from "../../../access/change/write.ts";
import type { Json, OperationName } from "../../../schema/index.ts";

const ORG = "a".repeat(40);
const BOT = `${ORG}/${"2".repeat(16)}`;
const [SERVICE, EVIL] = ["https://irm.example.com", "https://evil.example"];
const NOW = Date.parse("2026-11-28T00:00:00Z");

const create: Write = { n: 1, method: "CreateGroup", parent: ORG, fields: { name: "team" } };
const bind: Write = {
  ...{ n: 2, method: "CreateRoleBinding", parent: { $uid: 1 } },
  fields: { identityUid: BOT, roleUid: "b".repeat(40) },
};
const content: ChangeContent = {
  ...{ version: 1, operation: "up", arguments: [], stack: "access/production", services: [SERVICE], commit: "c0ffee" },
  ...{ ...lifeFrom(NOW), as: BOT, writes: [create, bind] },
  rows: [{ change: "gain", identity: BOT, group: { $uid: 1 }, capability: "repo.list" }],
  ...{ between: [], before: [], after: [{ identity: BOT, access: null }], restored: [] },
};

/** As a forger writes it: with the digest of what it says. */
const forged = (change: object): string => {
  const own = { ...content, ...change };
  return JSON.stringify({ ...own, digest: digestOf(own) });
};
const parsed = (text: string) => parseChange(text, "change.json");

test("the file of a change is read as it was written, and its digest does not depend on how it is spelled", () => {
  const change = parsed(changeText(content));
  expect(change).toEqual({ ...content, digest: digestOf(content) });
  const [{ digest }, reversed] = [change, Object.fromEntries(Object.entries(change).toReversed())];
  expect(parsed(JSON.stringify(reversed)).digest).toBe(digest);
  expect(change.expires).toBe("2026-12-05T00:00:00.000Z");
});

const INVALID = "is not a change: ";
const nested = "[".repeat(33) + "]".repeat(33);
const bound = (more: object) => ({ n: 1, method: "UpdateGroup", uid: ORG, fields: {}, ...more });
const accessOf = (one: object) => ({ after: [{ identity: BOT, access: null, ...one }] });
const shape = "must be a text, { ";

const expectRefused = (text: string, problem: string): void => {
  let message = "";
  try {
    parsed(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ChangeError);
    ({ message } = error as ChangeError);
  }
  expect(message).toContain(`change.json ${problem}`);
  expect(message.endsWith("; npx pulumi-irm review --out FILE makes a change")).toBe(true);
  expect(message).not.toContain("s3cret");
  expect(message.length).toBeLessThan(400);
};

const version = "is a change of version 2, and this version of pulumi-irm reads version 1";
test.each<[what: string, text: string, problem: string]>([
  ["another file", "{}", "is not a change"],
  ["no JSON, and shows none of it", '{"token": s3cret', "is not JSON"],
  ["a newer version", forged({ version: 2 }), version],
  ["a forgery", changeText(content).replace('"team"', '"evil"'), "was changed after it was written: its content"],
  ["more than the bytes of a file", " ".repeat(BYTES_MAX + 1), `has more than ${BYTES_MAX} bytes`],
  ["a depth that no change has", `{"writes":${nested}}`, "has more than 32 objects and lists in each other"],
  ["too many writes", forged({ writes: Array(WRITES_MAX + 1) }), "has 10001 writes, and at most 10000 are read"],
])("the file of a change is refused with %s", (_, text, problem) => expectRefused(text, problem));

test.each<[what: string, change: object, problem: string]>([
  ["a member that no change has", { more: 1 }, 'Unrecognized key: "more"'],
  ["a time of another zone", { expires: "tomorrow" }, "expires: must be an RFC 3339 time in UTC"],
  ["a revoke with a create", { operation: "revoke" }, "write 1: a revoke creates nothing"],
  ["numbers in another order", { writes: [bind, create] }, "write 1 has the number 2"],
  ["a row of no write", { rows: [{ ...content.rows[0], group: { $uid: 3 } }] }, "rows.0.group: refers to write 3"],
  ["the access of no write", accessOf({ identity: { $uid: 3 } }), "after.0.identity: refers to write 3"],
  ["the access at another service", accessOf({ service: EVIL }), `after.0: "${EVIL}" is none of its services`],
  ["a restored record of no write", { restored: [{ n: 3, uid: BOT }] }, "restored.0: there is no write 3"],
])("the file of a change is refused with %s", (_, change, problem) => expectRefused(forged(change), INVALID + problem));

/** `bind` is the second write. */
test.each<[what: string, first: object, problem: string]>([
  ["a wrong method", { ...create, method: "CreateGruop" }, 'unknown method "CreateGruop"; did you mean CreateGroup?'],
  ["a method that reads", { ...create, method: "ListGroups" }, 'unknown method "ListGroups"'],
  ["a later parent", { ...create, parent: { $uid: 2 } }, "parent: refers to write 2, which does not come before it"],
  ["itself as parent", { ...create, parent: { $uid: 1 } }, "parent: refers to write 1, which does not come before"],
  ["a service that it does not name", { ...create, service: EVIL }, `"${EVIL}" is none of its services`],
  ["a field that the record has not", { ...create, fields: { nam: "x" } }, "nam: there is no such field"],
  ["a field that the service sets", { ...create, fields: { uid: ORG } }, "uid: there is no such field"],
  ["an object for a text", { ...create, fields: { name: { $uid: "1" } } }, `name: ${shape}`],
  ["a long name, which is cut", { ...create, fields: { ["x".repeat(100_000)]: "" } }, "xxx"],
  ["a text in a text", { ...create, fields: { name: { $text: [{ $text: ["a"] }] } } }, `name: ${shape}`],
  ["a parent that is no uid", { ...create, parent: "team" }, "parent: must be a uid"],
  ["a binding without a parent", { ...bind, n: 1, parent: undefined }, "CreateRoleBinding needs parent"],
  ["an update without a mask", bound({}), "UpdateGroup needs mask"],
  ["a path of a mask that is no field", bound({ mask: ["*"] }), 'mask: there is no field "*"'],
  ["a delete with fields", bound({ method: "DeleteGroup", fields: { name: "x" } }), "DeleteGroup takes no fields"],
])("the file of a change is refused with %s", (_, first, problem) =>
  expectRefused(forged({ writes: [first, bind] }), `${INVALID}write 1: ${problem}`),
);

test.each<[what: string, writes: object[], problem: string]>([
  ["a reference to a delete", [bound({ method: "DeleteGroup" }), bind], "refers to write 1, which makes no uid"],
  ["two of ours in one", [create, { ...bind, parent: { $uid: 1, $secret: true } }], shape],
])("the file of a change is refused with %s", (_, writes, problem) =>
  expectRefused(forged({ writes }), `${INVALID}write 2: parent: ${problem}`),
);

test("the file of a change may be as large as the limit, in reasonable time, and hostile texts cost no more", () => {
  const half = BYTES_MAX / 2;
  for (const text of [`"${'\\"'.repeat(half - 1)}`, '"'.repeat(half)])
    expect(() => parsed(text)).toThrow("is not JSON");
  const many = Array.from({ length: WRITES_MAX }, (_, i): Write => ({ ...create, n: i + 1 }));
  expect(parsed(changeText({ ...content, writes: many })).writes).toHaveLength(WRITES_MAX);
  expect(() => changeText({ ...content, writes: [...many, create] })).toThrow(
    "the change has 10001 writes, and a file holds 10000",
  );
  const large = { ...create, fields: { name: "x".repeat(BYTES_MAX) } };
  expect(() => changeText({ ...content, writes: [large] })).toThrow("and a file holds 16777216");
});

test("the file of a change is for its services, until it expires", () => {
  const textOf = (given: string[], nowMs: number) =>
    unusableText(parsed(changeText(content)), { file: "change.json", given, nowMs });
  expect(textOf([SERVICE], NOW)).toBeUndefined();
  expect(textOf([EVIL], NOW)).toBe(`change.json is a change for ${SERVICE}, and this is ${EVIL}`);
  expect(textOf([SERVICE], NOW + 8 * 86_400_000)).toBe(
    "change.json expired at 2026-12-05T00:00:00.000Z; make the change again",
  );
});

test("rows are compared, whatever their order, and each that differs is named", () => {
  const held = (capability: string) => ({ identity: BOT, group: ORG, capability });
  const rowsOf = (...gains: string[]) => changeRows({ gains: gains.map(held), losses: [held("z")] }, (uid) => uid);
  expect(rowsApart(rowsOf("a", "b"), rowsOf("b", "a"))).toEqual([]);
  expect(rowsApart(rowsOf("a", "b"), rowsOf("b", "c")).map(({ row, message }) => [row.capability, message])).toEqual([
    ["c", "the file does not have it"],
    ["a", "only the file has it"],
  ]);
});

const uidOf = (digit: string, above = ORG): string => `${above}/${digit.repeat(16)}`;
const [TEAM, BOUND, ROLE, OTHER] = ["1", "2", "3", "4"].map((n) => uidOf(n)) as [string, string, string, string];

const call = (method: OperationName, request: Json, response: Json = {}): Call => ({ method, request, response });
const group = (uid: string, fields: Json = {}, parent = ORG): Call =>
  call("CreateGroup", { parent, group: { name: "team", ...fields } }, { uid, name: "team" });
const bot = (fields: Json = {}, uid = BOUND, parent = ORG): Call => {
  const identity = { name: "bot", claimMatch: { issuer: "https://issuer.example", subject: "bot" }, ...fields };
  return call("CreateIdentity", { parent, identity }, { ...identity, uid });
};
const binding = (parent: string, identityUid: string, uid: string): Call =>
  call("CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid: ROLE } }, { uid });
const renamed = (request: Json): Call => call("UpdateIdentity", request, { uid: BOUND });
const invite = (fields: Json, response: Json = {}): Call => {
  const groupInvite = { roleUid: ROLE, ...fields };
  return call("CreateGroupInvite", { parent: ORG, groupInvite }, { uid: uidOf("5"), ...response });
};
const fieldsOf = (...calls: Call[]): Json | undefined => writesFrom(calls).writes.at(-1)?.fields;

test("a uid of the twin is an object, in a field, in a path and in a text, and of several the longest counts", () => {
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

test("a uid of the twin is one of the original where the record was there: an upsert, an association", () => {
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

test("a uid of the twin that the twin alone knows, or a part of one, decides access in a way that is not known", () => {
  const founding = call("DeleteRoleBinding", { uid: uidOf("9", TEAM) });
  const computed = binding(ORG, uidOf("2", "b".repeat(40)), uidOf("6"));
  const { writes } = writesFrom([group(TEAM), bot(), founding, computed]);
  expect(writes.slice(2).map(unknownIn)).toEqual([
    ["uid is computed from the uid of a new record"],
    ["identityUid is computed from the uid of a new record"],
  ]);
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

test("the normal form drops defaults and what only the service sets, sorts sets, and has one spelling of times", () => {
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

test("the normal form of an update has the paths that it names, with their values and no others", () => {
  const identity = { uid: BOUND, name: "new", claimMatch: { subject: "s", issuer: "https://x.example" } };
  const write = (updateMask: string) => writesFrom([renamed({ identity, updateMask })]).writes[0];
  expect(write("description,claimMatch.subject,uid")).toEqual({
    ...{ n: 1, method: "UpdateIdentity", uid: BOUND },
    ...{ fields: { claimMatch: { subject: "s" } }, mask: ["claimMatch.subject", "description"] },
  });
  expect(write("claim_match.subject,claimMatch")).toMatchObject({
    mask: ["claimMatch"],
    fields: { claimMatch: identity.claimMatch },
  });
});

test("the normal form of `*` has the paths that it changes; all where the record was not known", () => {
  const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
  const before = { uid: BOUND, name: "bot", description: "", claimMatch };
  const after = { ...before, name: "new" };
  const request = { identity: { uid: BOUND, name: "new", claimMatch }, updateMask: "*" };
  const update = { ...renamed(request), response: after };
  const recordOf = (plural: string) => (plural === "identities" ? before : undefined);
  const maskOf = (calls: Call[], options = {}) => writesFrom(calls, options).writes.at(-1)?.mask;
  expect(maskOf([update], { recordOf })).toEqual(["name"]);
  expect(maskOf([bot(), update])).toEqual(["name"]);
  expect(writesFrom([update, update], { recordOf }).writes).toHaveLength(1);
  expect(maskOf([update])).toContain("staticKeys");
});

test("the normal form has what the service has resolved; of a batch it is that of its records", () => {
  expect(writesFrom([group(uidOf("5", TEAM), {}, "team")]).writes[0]?.parent).toBe(TEAM);
  const repo = { name: "nginx", sync_config: { source: "acme/nginx" } };
  const made = { uid: uidOf("7"), sync_config: { source: OTHER } };
  expect(fieldsOf(call("CreateRepo", { parent: ORG, repo }, made))).toMatchObject({ sync_config: { source: OTHER } });
  const bindings = [BOUND, OTHER].map((identityUid, i) => ({ identityUid, uid: uidOf(String(5 + i)) }));
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

test("the normal form counts a repeated request once, and its key does not depend on the order of writes", () => {
  const update = renamed({ identity: { uid: BOUND, name: "new" }, updateMask: "name" });
  const other = renamed({ identity: { uid: BOUND, name: "old" }, updateMask: "name" });
  const remove = call("DeleteRole", { uid: ROLE });
  const methodsOf = (...calls: Call[]) => writesFrom(calls).writes.map(({ fields }) => fields.name);
  expect(methodsOf(update, update)).toEqual(["new"]);
  expect(methodsOf(update, other, update)).toEqual(["new", "old", "new"]);
  expect(writesFrom([remove, group(TEAM), remove]).writes).toHaveLength(2);
  const twice = writesFrom([group(TEAM), group(OTHER), bot({}, BOUND, TEAM), bot({}, uidOf("5"), OTHER)]);
  const [one, two, ...bots] = twice.keys;
  expect([one, bots[0]]).toEqual([two, bots[1]]);
  const [a, b] = [group(TEAM), group(OTHER, { name: "other" })] as [Call, Call];
  const [inA, inB] = [bot({}, uidOf("5"), TEAM), bot({}, uidOf("6"), OTHER)];
  const keys = (...calls: Call[]) => writesFrom(calls).keys.toSorted();
  expect(keys(a, b, inA, inB)).toEqual(keys(b, inB, a, inA));
  expect(new Set(keys(a, b, inA, inB)).size).toBe(4);
});

const SECRET = "s3cr3t-value";
const hiddenIn = (calls: Call[], secrets: string[] = []): [Write, string[]] => {
  const { writes } = writesFrom(calls, { secrets });
  expect(JSON.stringify(writes)).not.toContain(SECRET);
  const write = writes.at(-1) as Write;
  return [write, unknownIn(write)];
};

test("a secret of the schema is hidden, and decides nothing", () => {
  const oidc = { issuer: "https://idp.example", clientId: "c", clientSecret: SECRET };
  const identityProvider = { name: "sso", defaultRole: ROLE, oidc };
  const provider = call("CreateIdentityProvider", { parent: ORG, identityProvider }, { uid: OTHER });
  const [{ fields }, unknown] = hiddenIn([provider]);
  expect(fields).toMatchObject({ oidc: { clientId: "c", clientSecret: { $secret: true } } });
  expect(unknown).toEqual([]);
});

test("a secret of a state is hidden wherever it is, and not known where it decides access", () => {
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
  const update = renamed({ identity: { uid: BOUND, name: SECRET }, updateMask: "name" });
  expect(hiddenIn([update], [SECRET])[1]).toEqual(["name is secret"]);
  expect(hiddenIn([call("DeleteRole", { uid: ROLE })], [ROLE])[1]).toEqual(["uid is secret"]);
});

test("a secret that is short hides a text that it is, and no word that has it; the code of an invite is hidden", () => {
  const [{ fields }] = hiddenIn([group(TEAM, { name: "dev", description: "developers" })], ["dev"]);
  expect(fields).toEqual({ name: { $secret: true }, description: "developers" });
  const calls = [invite({ ttl: "60s" }, { code: SECRET }), bot({ description: SECRET })];
  expect(hiddenIn(calls)[0].fields).toMatchObject({ description: { $secret: true } });
});
