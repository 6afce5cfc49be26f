// What a preview says of records: who can assume an identity, what a role grants, how they were called, and the names of what a program
// gives by uid.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import { type Methods, methodsWith } from "../../../provider/engine/methods.ts";
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

/** A process of a preview. */
const start = (env: Record<string, string>): void => {
  messages = [];
  const log = (text: string): void => void messages.push(text);
  const own = { IRM_JOURNAL: usedJournal(api.baseUrl), ...env };
  methods = methodsWith({ env: own, clock: manualClock(Date.now()), transport: systemTransport(), log });
  for (const one of Object.values(methods)) one.configure({ config: { get: getter({ "irm:baseUrl": api.baseUrl }) } });
};
beforeEach(() => start({ IRM_TOKEN: api.owner.token }));

const inputsWith = (name: string, args: Json, secrets: string[] = []): Json => ({
  ...keyOf(name),
  ...args,
  [PREVIEW]: true,
  [SECRET_ARGUMENTS]: secrets,
});

const checkMessages = async (kind: StateKind, name: string, args: Json, secrets?: string[]): Promise<string[]> => {
  const { failures } = await methods[kind].check({}, inputsWith(name, args, secrets));
  expect(failures).toEqual([]);
  return messages;
};

const diffMessages = async (kind: StateKind, name: string, olds: Json, args: Json, secrets?: string[]) => {
  const { inputs } = await methods[kind].check(olds, inputsWith(name, args, secrets));
  await methods[kind].diff(`${api.organization}/1111111111111111`, { parent: api.organization, ...olds }, inputs);
  return messages;
};

const ISSUER = "https://token.actions.githubusercontent.com";
const matchOf = (subject: string): Json => ({ claimMatch: { issuer: ISSUER, subject } });
const identity = (subject: string, name = "release"): Json => ({
  parent: api.organization,
  name,
  ...matchOf(subject),
});

describe("of an identity", () => {
  test("that is new, who can assume it", async () => {
    expect(await checkMessages("identity", "release", identity("repo:acme/shop:pull_request"))).toEqual([
      `Identity release is new: a workload whose token has issuer "${ISSUER}" and subject "repo:acme/shop:pull_request" can assume it`,
    ]);
  });

  test("that changes, who can assume it before and after, with what differs marked", async () => {
    const lines = await diffMessages("identity", "release", identity("repo:acme/shop:x"), identity("repo:evil/shop:x"));
    expect(lines).toEqual([
      [
        "Identity release changes:",
        `who can assume it, before: a workload whose token has issuer "${ISSUER}" and subject "repo:»acme«/shop:x"`,
        `who can assume it, after: a workload whose token has issuer "${ISSUER}" and subject "repo:»evil«/shop:x"`,
      ].join("\n  - "),
    ]);
  });

  test("nothing where its keys end at the same instant, in another spelling", async () => {
    const keys = (expirationTime: string): Json => ({
      ...{ parent: api.organization, name: "signer" },
      staticKeys: { issuer: ISSUER, subject: "s", issuerKeys: '{"keys":[]}', expirationTime },
    });
    const olds = keys("2027-03-01T00:00:00.000Z");
    for (const text of ["2027-03-01T00:00:00Z", "2027-03-01T01:00:00+01:00"]) {
      const { inputs } = await methods.identity.check(olds, inputsWith("signer", keys(text)));
      expect(inputs.staticKeys).toEqual(olds.staticKeys);
      expect(await diffMessages("identity", "signer", olds, keys(text))).toEqual([]);
    }
    const later = diffMessages("identity", "signer", olds, keys("2027-03-01T00:00:01Z"));
    await expect(later).rejects.toThrow(/staticKeys: a change creates a new identity/);
  });

  test("that is renamed, both names", async () => {
    expect(await diffMessages("identity", "release", identity("s"), identity("s", "publish"))).toEqual([
      'Identity release changes:\n  - name "release" becomes "publish"',
    ]);
  });

  test("that is replaced, who could assume the old one", async () => {
    const parent = await createUid(api, "groups", api.organization, { name: "elsewhere" });
    const lines = await diffMessages("identity", "moved", identity("s"), {
      ...identity("s"),
      parent,
      allowReplace: true,
    });
    expect(lines).toEqual([
      [
        "Identity moved is replaced:",
        `it gets another uid; workflows that name ${api.organization}/1111111111111111 in IRM_IDENTITY can no longer sign in`,
        `who could assume it: a workload whose token has issuer "${ISSUER}" and subject "s"`,
      ].join("\n  - "),
    ]);
  });

  test("nothing of what the program marks as secret, and nothing in an update", async () => {
    const secrets = ["claimMatch", "name"];
    const lines = await diffMessages("identity", "a", identity("old"), identity("hidden", "hidden"), secrets);
    await checkMessages("identity", "b", identity("hidden as well"), secrets);
    expect(lines.join("\n")).toBe(
      "Identity a changes:\n  - its name changes\n  - who can assume it changes: [secret]\nIdentity b is new: [secret] can assume it",
    );
    messages.length = 0;
    await methods.identity.check({}, { ...keyOf("c"), ...identity("hidden once more") });
    expect(messages).toEqual([]);
  });

  test("that only the run knows, that it is not known", async () => {
    expect(await checkMessages("identity", "late", { ...identity("s"), claimMatch: UNKNOWN })).toEqual([
      "Identity late is new: a workload that is not known yet can assume it",
    ]);
  });
});

test("of a role, what it grants, gains and loses, the worst first", async () => {
  const role = (...capabilities: string[]): Json => ({ parent: api.organization, name: "pusher", capabilities });
  await checkMessages("role", "one", role("repo.list", "repo.create", "roles.update"));
  await diffMessages(
    "role",
    "two",
    role("CAP_REPO_LIST", "CAP_TAG_LIST"),
    role("repo.list", "repo.create", "roles.update"),
  );
  expect(messages).toEqual([
    "Role one is new: it grants roles.update, repo.create, repo.list",
    "Role two changes:\n  - gains roles.update, repo.create\n  - loses tag.list",
  ]);
});

test("of a group that is renamed, both names", async () => {
  const group = (name: string): Json => ({ parent: api.organization, name });
  expect(await diffMessages("group", "team", group("crew"), group("team"))).toEqual([
    'Group team changes:\n  - name "crew" becomes "team"',
  ]);
});

describe("of bindings that a program declares by uid", async () => {
  const ci: string = (await api.actor("ci")).uid;
  const team: string = await createUid(api, "groups", api.organization, { name: "team" });

  test("the names that the API has, and the path of the group; the organization by its name", async () => {
    await checkMessages("roleBinding", "one", { parent: team, identity: ci, role: "viewer" });
    await checkMessages("roleBinding", "two", { parent: api.organization, identity: ci, role: "viewer" });
    expect(messages).toEqual([
      'RoleBinding one is new: identity "ci", role "viewer", group "team"',
      expect.stringMatching(/^RoleBinding two is new: identity "ci", role "viewer", group "[a-z]+"$/),
    ]);
  });

  test("uids where the preview has no credentials", async () => {
    start({});
    expect(await checkMessages("roleBinding", "one", { parent: team, identity: ci, role: "viewer" })).toEqual([
      `RoleBinding one is new: identity ${ci}, role "viewer", group ${team}`,
    ]);
  });

  test("the name of a group that the update creates, where the program passes it", async () => {
    const pair = { parent: UNKNOWN, identity: ci, role: "viewer" };
    await checkMessages("roleBinding", "three", { ...pair, names: { group: "tools" } });
    expect(messages).toEqual(['RoleBinding three is new: identity "ci", role "viewer", group "tools"']);
  });

  test("no name that the program marks as secret on the record itself, nor a path through it", async () => {
    const hidden = inputsWith("team", { parent: api.organization, name: "team" }, ["name"]);
    const { inputs } = await methods.group.check(hidden, hidden);
    await methods.group.diff(team, { ...hidden, uid: team }, inputs);
    const below = await createUid(api, "groups", team, { name: "below" });
    messages.length = 0;
    await checkMessages("roleBinding", "four", { parent: team, identity: ci, role: "viewer" });
    await checkMessages("roleBinding", "five", { parent: below, identity: ci, role: "viewer" });
    expect(messages).toEqual(
      ["four", "five"].map((name) => `RoleBinding ${name} is new: identity "ci", role "viewer", group [secret]`),
    );
  });

  test("also of a set, which takes over a binding that exists", async () => {
    const uid = await createUid(api, "roleBindings", team, { identityUid: ci, roleUid: await api.role("viewer") });
    const bindings = ["viewer", "editor"].map((role) => ({ identity: ci, role }));
    expect(await checkMessages("roleBindingSet", "all", { parent: team, bindings })).toEqual([
      `RoleBindingSet all is new:\n  - takes over "ci" as "viewer", role binding ${uid}\n  - adds "ci" as "editor"`,
    ]);
  });

  test("no more of a set than is known: without credentials a pair may exist, in a new group none does", async () => {
    start({});
    const bindings = [{ identity: ci, role: "viewer" }];
    await checkMessages("roleBindingSet", "here", { parent: team, bindings });
    await checkMessages("roleBindingSet", "there", { parent: UNKNOWN, bindings });
    expect(messages).toEqual([
      `RoleBindingSet here is new:\n  - adds or takes over ${ci} as "viewer"`,
      `RoleBindingSet there is new:\n  - adds ${ci} as "viewer"`,
    ]);
  });
});
