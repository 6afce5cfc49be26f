// What a preview says of records: who can assume an identity, what a role grants, names, and what leaves the stack.
import util from "node:util";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import { type Methods, methodsWith } from "../../../provider/engine/methods.ts";
import { removedText } from "../../../provider/engine/review.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { PREVIEW, SECRET_ARGUMENTS } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { startServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import { createUid } from "../../harness/records.ts";
import { getter, keyOf, UNKNOWN, usedJournal } from "../../support/scripted.ts";

let methods: Record<StateKind, Methods>;
let messages: string[];
const api = await startServer();
afterAll(() => api.close());

const start = (env: Record<string, string>): void => {
  messages = [];
  const log = (text: string): void => void messages.push(text);
  const own = { IRM_JOURNAL: usedJournal(api.baseUrl), ...env };
  methods = methodsWith({ env: own, clock: manualClock(Date.now()), transport: systemTransport(), log });
  for (const one of Object.values(methods)) one.configure({ config: { get: getter({ "irm:baseUrl": api.baseUrl }) } });
};
beforeEach(() => start({ IRM_TOKEN: api.owner.token }));

const unmarked = { [PREVIEW]: true, [SECRET_ARGUMENTS]: [] };
const inputsWith = (name: string, args: Json): Json => ({ ...keyOf(name), ...unmarked, ...args });

const linesOf = async (kind: StateKind, name: string, args: Json, olds: Json = {}) => {
  const { inputs, failures } = await methods[kind].check(olds, inputsWith(name, args));
  expect(failures).toEqual([]);
  if (Object.keys(olds).length > 0) await methods[kind].diff(UID, { parent: api.organization, ...olds }, inputs);
  return messages;
};

const UID = `${api.organization}/1111111111111111`;
const ISSUER = "https://token.actions.githubusercontent.com";
const workload = (subject: string) => `a workload whose token has issuer "${ISSUER}" and subject "${subject}"`;
const identity = (subject: string, name = "release"): Json => ({
  ...{ parent: api.organization, name },
  claimMatch: { issuer: ISSUER, subject },
});
const role = (...capabilities: string[]): Json => ({ parent: api.organization, name: "pusher", capabilities });
const group = (name: string): Json => ({ parent: api.organization, name });
const elsewhere: string = await createUid(api, "groups", api.organization, { name: "elsewhere" });

/** `olds`: arguments in the state; none of a new resource */
const shows = (what: string, kind: StateKind, args: Json, olds: Json, lines: string[]): void =>
  test(`of ${what}`, async () => expect(await linesOf(kind, "x", args, olds)).toEqual([lines.join("\n  - ")]));
shows("a new identity: who can assume it", "identity", identity("s"), {}, [
  `Identity x is new: ${workload("s")} can assume it`,
]);
const [shop, evil] = [identity("repo:acme/shop:x"), identity("repo:evil/shop:x")];
shows("an identity that changes: who can assume it before and after, what differs marked", "identity", evil, shop, [
  "Identity x changes:",
  `who can assume it, before: ${workload("repo:»acme«/shop:x")}`,
  `who can assume it, after: ${workload("repo:»evil«/shop:x")}`,
]);
test("of an identity that changes, in Bun, whose node:util has no `diff`: all between the common ends is marked", async () => {
  const { diff } = util;
  Reflect.deleteProperty(util, "diff");
  try {
    const lines = await linesOf("identity", "x", identity("repo:evil/store:x"), identity("repo:acme/shop:x"));
    expect(lines.join()).toContain(`who can assume it, before: ${workload("repo:»acme/shop«:x")}`);
  } finally {
    Object.assign(util, { diff });
  }
});
shows("an identity that is renamed: both names", "identity", identity("s", "publish"), identity("s"), [
  "Identity x changes:",
  'name "release" becomes "publish"',
]);
const moved = { ...identity("s"), parent: elsewhere, allowReplace: true };
shows("an identity that is replaced: who could assume the old one", "identity", moved, identity("s"), [
  "Identity x is replaced:",
  `it gets another uid; workflows that name ${UID} in IRM_IDENTITY can no longer sign in`,
  `who could assume it: ${workload("s")}`,
]);
const secret = { ...identity("hidden", "hidden"), [SECRET_ARGUMENTS]: ["claimMatch", "name"] };
shows("an identity that the program marks as secret: nothing of it", "identity", secret, identity("old"), [
  "Identity x changes:",
  "its name changes",
  "who can assume it changes: [secret]",
]);
shows("a new one that it marks as secret", "identity", secret, {}, ["Identity x is new: [secret] can assume it"]);
shows("an identity that only the run knows", "identity", { ...identity("s"), claimMatch: UNKNOWN }, {}, [
  "Identity x is new: a workload that is not known yet can assume it",
]);
const grants = role("repo.list", "repo.create", "roles.update");
shows("a new role: what it grants, the worst first", "role", grants, {}, [
  "Role x is new: it grants roles.update, repo.create, repo.list",
]);
shows("a role that changes: what it gains and loses", "role", grants, role("CAP_REPO_LIST", "CAP_TAG_LIST"), [
  "Role x changes:",
  "gains roles.update, repo.create",
  "loses tag.list",
]);
shows("a group that is renamed: both names", "group", group("team"), group("crew"), [
  "Group x changes:",
  'name "crew" becomes "team"',
]);

test("nothing of keys that end at the same instant, in another spelling", async () => {
  const keys = (expirationTime: string): Json => ({
    ...{ parent: api.organization, name: "signer" },
    staticKeys: { issuer: ISSUER, subject: "s", issuerKeys: '{"keys":[]}', expirationTime },
  });
  const olds = keys("2027-03-01T00:00:00.000Z");
  const { inputs } = await methods.identity.check(olds, inputsWith("x", keys("2027-03-01T01:00:00+01:00")));
  expect(inputs.staticKeys).toEqual(olds.staticKeys);
  expect(await linesOf("identity", "x", keys("2027-03-01T01:00:00+01:00"), olds)).toEqual([]);
  const { failures } = await methods.identity.check(olds, inputsWith("x", keys("2027-03-01T00:00:01Z")));
  expect(failures).toMatchObject([{ property: "staticKeys" }]);
});

test("nothing in an update", async () => {
  await methods.identity.check({}, { ...keyOf("c"), ...identity("s") });
  expect(messages).toEqual([]);
});

describe("of bindings that a program declares by uid", async () => {
  const ci: string = (await api.actor("ci")).uid;
  const team: string = await createUid(api, "groups", api.organization, { name: "team" });

  test("the names that the API has, and the path of the group; the organization by its name, and a group that the update creates by that which the program passes", async () => {
    await linesOf("roleBinding", "one", { parent: team, identity: ci, role: "viewer" });
    await linesOf("roleBinding", "two", { parent: api.organization, identity: ci, role: "viewer" });
    expect(messages).toEqual([
      'RoleBinding one is new: identity "ci", role "viewer", group "team"',
      expect.stringMatching(/^RoleBinding two is new: identity "ci", role "viewer", group "[a-z]+"$/),
    ]);
    const pair = { parent: UNKNOWN, identity: ci, role: "viewer" };
    await linesOf("roleBinding", "three", { ...pair, names: { group: "tools" } });
    expect(messages.at(-1)).toBe('RoleBinding three is new: identity "ci", role "viewer", group "tools"');
  });

  test("uids where the preview has no credentials", async () => {
    start({});
    expect(await linesOf("roleBinding", "one", { parent: team, identity: ci, role: "viewer" })).toEqual([
      `RoleBinding one is new: identity ${ci}, role "viewer", group ${team}`,
    ]);
  });

  test("no name that the program marks as secret on the record itself, nor a path through it", async () => {
    const hidden = inputsWith("team", { parent: api.organization, name: "team", [SECRET_ARGUMENTS]: ["name"] });
    const { inputs } = await methods.group.check(hidden, hidden);
    await methods.group.diff(team, { ...hidden, uid: team }, inputs);
    const below = await createUid(api, "groups", team, { name: "below" });
    messages.length = 0;
    await linesOf("roleBinding", "four", { parent: team, identity: ci, role: "viewer" });
    await linesOf("roleBinding", "five", { parent: below, identity: ci, role: "viewer" });
    expect(messages).toEqual(
      ["four", "five"].map((name) => `RoleBinding ${name} is new: identity "ci", role "viewer", group [secret]`),
    );
  });

  test("also of a set, which adopts a binding that exists", async () => {
    const uid = await createUid(api, "roleBindings", team, { identityUid: ci, roleUid: await api.role("viewer") });
    const bindings = ["viewer", "editor"].map((role) => ({ identity: ci, role }));
    expect(await linesOf("roleBindingSet", "all", { parent: team, bindings })).toEqual([
      `RoleBindingSet all is new:\n  - adopts "ci" as "viewer", role binding ${uid}\n  - adds "ci" as "editor"`,
    ]);
  });

  test("no more of a set than is known: without credentials a pair may exist, in a new group none does", async () => {
    start({});
    const bindings = [{ identity: ci, role: "viewer" }];
    await linesOf("roleBindingSet", "here", { parent: team, bindings });
    await linesOf("roleBindingSet", "there", { parent: UNKNOWN, bindings });
    expect(messages).toEqual([
      `RoleBindingSet here is new:\n  - adds or adopts ${ci} as "viewer"`,
      `RoleBindingSet there is new:\n  - adds ${ci} as "viewer"`,
    ]);
  });
});

const bindingOf = (uid: string, identity: string) => ({
  uid,
  identity: { uid: `${uid}/i`, name: identity },
  role: { uid: `${uid}/r`, name: "viewer" },
});

const types = ["pulumi-nodejs:dynamic/irm:RoleBindingSet", "irm:index:RoleBindingSet"];

const nothing = { sets: [], identities: [], isKept: () => false, isShared: () => false };

test.each(types)("a %s that leaves names what it removes, not what a RoleBinding adopts", (type) => {
  const outputs = { bindings: [bindingOf("a", "images"), bindingOf("b", "audit")] };
  const urn = `urn:pulumi:dev::tooling::${type}::tooling`;
  const leaving = { type, urn, outputs, shown: outputs };
  const isB = (uid: string) => uid === "b";
  const removed = ["RoleBindingSet tooling is removed:", 'removes "images" as "viewer"'];
  expect(removedText(leaving, { ...nothing, isKept: isB })).toBe(removed.join("\n  - "));
  const left = 'leaves "audit" as "viewer" to a RoleBinding: role binding b stays';
  expect(removedText(leaving, { ...nothing, isKept: isB, isShared: isB })).toBe([...removed, left].join("\n  - "));
});

const leavingAs =
  (type: string) =>
  (outputs: Json, shown = outputs) => ({ type, urn: `urn:pulumi:dev::p::${type}::old`, outputs, shown });

describe("a role binding that leaves", () => {
  const group = "0123456789abcdef0123456789abcdef01234567";
  const own = { ...bindingOf(`${group}/0123456789abcdef`, "images"), group: { name: "tooling" } };
  const leaving = leavingAs("irm:index:RoleBinding");
  const pairs = [{ identity: own.identity.uid, role: own.role.uid }];
  const sets = (parent: string) => [{ name: "tooling", parent, pairs }];

  test.each([
    ["has the uid of its group", { ...own, group: { uid: group, name: "tooling" } }],
    ["leaves that to its own uid", own],
  ])("stays with a set of its group, in a state that %s", (_, outputs) => {
    const staying = { ...nothing, sets: sets(group) };
    expect(removedText(leaving(outputs), staying), "the set says that it adopts it").toBeUndefined();
    expect(removedText(leaving(outputs), { ...staying, isShared: () => true })).toBe(
      `RoleBinding old is no longer in the program: RoleBindingSet tooling has role binding ${own.uid}, which stays`,
    );
    expect(removedText(leaving(outputs), { ...nothing, sets: sets(`${group}/fedcba9876543210`) })).toBe(
      'RoleBinding old is removed: identity "images", role "viewer", group "tooling"',
    );
  });

  test("is named by the uid of its group where the name is secret", () => {
    expect(removedText(leaving({ ...own, group: {} }), nothing)).toContain(`group ${group}`);
  });
});

describe("an identity that leaves", () => {
  const group = "0123456789abcdef0123456789abcdef01234567";
  const uid = `${group}/0123456789abcdef`;
  const claimMatch = { issuer: "https://issuer.example", subject: "s" };
  const leaving = leavingAs("irm:index:Identity");
  const former = { uid, name: "release", claimMatch };
  const keep = "To keep the record, name the former resource in aliases, or the former key of a policy as was";
  const head = ["Identity old is removed:", `workflows that name ${uid} in IRM_IDENTITY can no longer sign in`];
  const who = 'who could assume it: a workload whose token has issuer "https://issuer.example" and subject "s"';

  test("says who could assume it", () => {
    expect(removedText(leaving(former), nothing)).toBe(
      [...head, who, `If another identity takes its place: ${keep}`].join("\n  - "),
    );
  });

  test.each([
    ["that the same workloads can assume", { name: "publish", claimMatch }],
    ["of its name in its group", { name: "release", parent: group, servicePrincipal: "INGESTER" }],
  ])("says that a new one %s takes its place with another uid", (_, record) => {
    const others = [
      { name: "elsewhere", record: { name: "release", parent: uid } },
      { name: "new", record },
    ];
    expect(removedText(leaving(former), { ...nothing, identities: others })).toBe(
      [...head, who, `Identity new takes its place with another uid. ${keep}`].join("\n  - "),
    );
  });

  test("prefers the one of the same workloads to a namesake", () => {
    const namesake = { name: "namesake", record: { name: "release", parent: group, servicePrincipal: "INGESTER" } };
    const identities = [namesake, { name: "new", record: { name: "publish", claimMatch } }];
    expect(removedText(leaving(former), { ...nothing, identities })).toContain("Identity new takes its place");
  });

  test("shows nothing of who could assume it where that is secret, not even by what it equals", () => {
    const shown = { ...former, claimMatch: { ...claimMatch, subject: "[secret]" } };
    const identities = [{ name: "new", record: { name: "publish", claimMatch } }];
    expect(removedText(leaving(former, shown), { ...nothing, identities })).toBe(
      [...head, "who could assume it: [secret]", `If another identity takes its place: ${keep}`].join("\n  - "),
    );
  });
});
