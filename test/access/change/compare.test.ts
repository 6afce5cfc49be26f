// What is left of a change that was approved, when some of its writes are sent and somebody edits the service.
import { expect, onTestFinished, test } from "vitest";
import { type Change, type ChangeContent, lifeFrom } from "../../../access/change/change.ts";
import { type Compared, compareChanges } from "../../../access/change/compare.ts";
import { type Call, makesUid, methodOf } from "../../../access/change/methods.ts";
import { requestOf } from "../../../access/change/request.ts";
import { mapMade } from "../../../access/change/value.ts";
import { type Write, writesFrom } from "../../../access/change/write.ts";
import type { Copy } from "../../../access/copy/copy.ts";
import { copyOf } from "../../../cli/copy.ts";
import { accessOfChange, currentChangeOf, sidesOf } from "../../../cli/twin/sides.ts";
import { readTwin, recordsOf, startTwin } from "../../../cli/twin/twin.ts";
import type { Client } from "../../../client/client.ts";
import { createRecord } from "../../../client/records.ts";
import { isApiError, type Json, resources } from "../../../schema/index.ts";
import { makeChange } from "../../harness/change-file.ts";
import { copyOfServer } from "../../harness/copy.ts";
import { createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { createRandom, type Random } from "../../support/random.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const { organization } = api;
const ci = await api.actor("ci", { role: publisher, at: registry });
const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];
const binding = await createUid(api, "roleBindings", platform, { identityUid: ci.uid, roleUid: viewer });
const held = await createUid(api, "roleBindings", organization, { identityUid: ci.uid, roleUid: viewer });
const other = await api.actor("other");
const unused = await createUid(api, "roles", platform, { name: "unused", capabilities: ["CAP_REPO_LIST"] });
const empty = await createUid(api, "groups", platform, { name: "empty" });
const base = await copyOfServer(api);

const address = api.baseUrl;
type Act = (client: Client) => Promise<unknown>;
type Kind = keyof typeof resources;
const make = async (client: Client, kind: Kind, parent: string, fields: Json): Promise<string> =>
  String((await createRecord(client, resources[kind] as typeof resources.group, parent, fields)).uid);
const update = (client: Client, kind: Kind, uid: string, fields: Json): Promise<unknown> => {
  const request = { [kind]: { uid, ...fields }, updateMask: Object.keys(fields).join() };
  return client.call(`Update${kind.replace(/^./, (first) => first.toUpperCase())}` as "UpdateRole", request as never);
};
const remove = (client: Client, method: string, uid: string) => client.call(method as "DeleteRole", { uid });

const currentFrom = async (copy: Copy, act: Act, head: Partial<ChangeContent>) => {
  const calls: Call[] = [];
  const twin = await startTwin(copy, address, { onWrite: (call) => void calls.push(call) });
  onTestFinished(() => twin.close());
  const before = await readTwin(twin);
  await act(await twin.operatorOf(api.identity));
  const normal = writesFrom(calls, { recordOf: recordsOf(new Map([[address, twin]]), address) });
  const services = [await sidesOf(twin, before)];
  const content: ChangeContent = {
    ...{ version: 1, operation: "up", arguments: [], stack: "access/dev", services: [address], as: api.identity },
    ...{ ...lifeFrom(Date.now()), writes: normal.writes, ...accessOfChange(services, normal), restored: [] },
    ...head,
  };
  return currentChangeOf(content, { services, normal, left: [] });
};

interface World {
  change: Change;
  client: Client;
  /** uids that the service has given, by the number of the write */
  uids: Map<number, string>;
}

/** Sends the writes that `isSent` takes to the service; then `edit` edits it. What is left is computed again. */
const compared = async ({
  act,
  isSent = () => false,
  edit = async () => {},
  more = async () => {},
  head = {},
}: {
  act: Act;
  isSent?: (write: Write) => boolean;
  edit?: (world: World) => Promise<unknown>;
  more?: (client: Client, uidOf: (n: number) => string) => Promise<unknown>;
  head?: Partial<ChangeContent>;
}): Promise<Compared & { change: Change }> => {
  const change = await makeChange(api, act);
  const service = await startTwin(base, address);
  onTestFinished(() => service.close());
  const client = await service.operatorOf(api.identity);
  const uids = new Map<number, string>();
  const sent = new Set<number>();
  for (const write of change.writes)
    if (isReady(write, change, sent) && isSent(write) && (await send(client, write, uids))) sent.add(write.n);
  await edit({ change, client, uids });
  const fresh = await copyOf(client, address);
  const rest = async (own: Client): Promise<void> => {
    const all = new Map(uids);
    for (const write of change.writes) if (!sent.has(write.n)) await send(own, write, all, true);
    await more(own, (n) => all.get(n) as string);
  };
  return { ...compareChanges(change, await currentFrom(fresh, rest, head)), change };
};

const send = async (client: Client, write: Write, uids: Map<number, string>, mustPass = false): Promise<boolean> => {
  const { method, request } = requestOf(write, { uidOf: (n) => uids.get(n) as string, hidden: "hidden" });
  try {
    const { uid } = (await client.call(method, request as never)) as Json;
    if (makesUid(methodOf(method))) uids.set(write.n, String(uid));
    return true;
  } catch (error) {
    if (mustPass || !isApiError(error)) throw error;
    return false;
  }
};

/** What it refers to is there, and earlier writes to its record are sent. */
const isReady = (write: Write, { writes }: Change, sent: ReadonlySet<number>): boolean => {
  let isThere = true;
  mapMade([write.parent, write.uid, write.fields], (made) => {
    isThere &&= sent.has(Object.values(made)[0] as number);
  });
  const own = JSON.stringify(write.uid);
  return isThere && writes.every(({ n, uid }) => n >= write.n || !uid || JSON.stringify(uid) !== own || sent.has(n));
};

const claimsOf = (subject: string) => ({ claimMatch: { issuer: "https://issuer.example", subject } });
const CAPABILITIES = ["CAP_REPO_LIST", "CAP_TAG_CREATE", "CAP_TAG_LIST", "CAP_REPO_CREATE", "CAP_IAM_GROUPS_LIST"];

const randomAct =
  (seed: number): Act =>
  async (client) => {
    const { pick, below, shuffle } = createRandom(seed);
    const groups = [platform, registry];
    const roles = [publisher, viewer];
    const identities = [ci.uid, reader.uid];
    const bind = () =>
      make(client, "roleBinding", pick(groups), { identityUid: pick(identities), roleUid: pick(roles) });
    const held = () => CAPABILITIES.slice(below(3), 3 + below(2));
    const OPS: (() => Promise<unknown>)[] = [
      ...[bind, bind, bind],
      async () => groups.push(await make(client, "group", pick(groups), { name: `g${below(3)}`, description: "new" })),
      async () =>
        identities.push(
          await make(client, "identity", pick(groups), { name: `i${below(3)}`, ...claimsOf(`s${below(3)}`) }),
        ),
      async () => roles.push(await make(client, "role", pick(groups), { name: `r${below(3)}`, capabilities: held() })),
      () => update(client, "role", publisher, { capabilities: held() }),
      () => update(client, "identity", pick(identities), { ...claimsOf(`u${below(5)}`), name: `n${below(9)}` }),
      () => update(client, "group", pick(groups), { description: `d${below(9)}` }),
      async () => {
        // Another role in place of one that grants the same and more.
        await remove(client, "DeleteRoleBinding", binding);
        await make(client, "roleBinding", platform, { identityUid: ci.uid, roleUid: editor });
      },
      () => remove(client, "DeleteGroup", empty),
      async () => {
        const oidc = { issuer: "https://login.example", clientId: "console", groupsClaim: "groups", pkceEnabled: true };
        const sso = await make(client, "identityProvider", organization, { name: "sso", defaultRole: viewer, oidc });
        const mapping = { externalGroupId: "sre", roleUid: pick([viewer, editor]), scope: organization };
        await make(client, "externalGroupRoleMapping", sso, mapping);
      },
      () => make(client, "groupInvite", pick(groups), { roleUid: pick(roles), ttl: "3600s" }),
      async () => {
        const staticKeys = { issuer: "https://keys.example", subject: "k", issuerKeys: KEYS };
        identities.push(await make(client, "identity", platform, { name: "keys", staticKeys }));
      },
      () => make(client, "repo", registry, { name: `repo-${below(1000)}` }),
    ];
    for (const op of [...shuffle(OPS).slice(0, 4 + below(5)), bind])
      await op().catch((error: Error) => {
        // What the API refuses is no write.
        if (!isApiError(error) && !isApiError(error.cause)) throw error;
      });
  };
const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] });

const someSent = (random: Random) => {
  const share = random.below(5);
  return () => random.below(4) < share;
};

test.each([1, 2, 3, 4, 5, 6, 7, 8])("a random change, sent in part, is what is left of it: %i", async (seed) => {
  const random = createRandom(seed);
  const { problems, added, change } = await compared({
    act: randomAct(seed),
    isSent: someSent(random),
    edit: (world) => random.pick(IRRELEVANT)(world),
  });
  expect(problems, JSON.stringify(change.writes)).toEqual([]);
  expect(added).toEqual([]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "a random change, sent in part, is another one after an edit of its access: %i",
  async (seed) => {
    const random = createRandom(seed);
    const edit = random.pick(Object.keys(RELEVANT) as (keyof typeof RELEVANT)[]);
    const { problems, change } = await compared({
      act: async (client) => {
        await randomAct(seed)(client);
        await make(client, "roleBinding", registry, { identityUid: ci.uid, roleUid: viewer });
        await make(client, "identity", platform, { name: "made", ...claimsOf("made") });
      },
      isSent: someSent(random),
      edit: (world) => RELEVANT[edit](world),
    });
    expect(problems, `${edit} ${JSON.stringify(change.writes)}`).not.toEqual([]);
  },
);

type Edit = (world: World) => Promise<unknown>;
const IRRELEVANT: readonly Edit[] = [
  async () => {},
  ({ client }) => update(client, "group", platform, { description: "by hand" }),
  ({ client }) => update(client, "role", unused, { capabilities: ["CAP_IAM_GROUPS_DELETE"] }),
  ({ client }) => make(client, "roleBinding", organization, { identityUid: other.uid, roleUid: editor }),
  // Equal to what the change may make.
  ({ client }) => make(client, "group", platform, { name: "g1", description: "new" }),
  ({ client }) => make(client, "identity", platform, { name: "i1", ...claimsOf("s1") }),
  ({ client }) => make(client, "repo", registry, { name: "by-hand" }),
];
const RELEVANT = {
  gives: ({ client }) => make(client, "roleBinding", organization, { identityUid: ci.uid, roleUid: editor }),
  widens: ({ client }) =>
    update(client, "role", publisher, { capabilities: ["CAP_IAM_GROUPS_DELETE", ...CAPABILITIES] }),
  takes: ({ client }) => remove(client, "DeleteRoleBinding", held),
  // Whoever has the name of the copy's issuer acts as it.
  retargets: ({ client }) => update(client, "identity", ci.uid, claimsOf("by hand")),
  "retargets what is made": async ({ client, change, uids }) => {
    const { n } = change.writes.findLast(({ fields }) => fields.name === "made") as Write;
    const uid = uids.get(n);
    // Where it is not made yet, somebody gives access that its group inherits.
    if (uid === undefined) await RELEVANT.gives({ client } as World);
    else await update(client, "identity", uid, claimsOf("by hand"));
  },
} satisfies Record<string, Edit>;

const bind =
  (role: string, at = registry) =>
  (client: Client) =>
    make(client, "roleBinding", at, { identityUid: other.uid, roleUid: role });
const nothing: Act = async () => {};

test("a change computed again of another head is another change, and says so of each member", async () => {
  const problemsOf = async (head: Partial<ChangeContent>) => (await compared({ act: bind(viewer), head })).problems;
  const stack = 'the approved change is of stack "access/dev", and this one: "access/dev2"';
  expect(await problemsOf({ stack: "access/dev2" })).toEqual([stack]);
  expect(await problemsOf({ operation: "destroy", stack: "access/dev2", arguments: ["--target"] })).toEqual([
    stack,
    'the approved change is an "up", and this one: "destroy"',
    'the approved change has the arguments "none", and this one: "--target"',
  ]);
});

test("a change computed again may send nothing that decides access and was not approved", async () => {
  const { problems, added, left } = await compared({
    act: bind(viewer),
    more: async (client) => {
      await update(client, "group", platform, { description: "of the program" });
      await update(client, "group", registry, { name: "renamed", description: "" });
      await remove(client, "DeleteRoleBinding", binding);
      await make(client, "group", registry, { name: "more" });
      await bind(viewer)(client);
    },
  });
  expect(problems).toEqual([
    'UpdateGroup group "registry": name: the approved change does not send this request',
    'DeleteRoleBinding role binding of identity "ci" and role "viewer": the approved change does not send this request',
    'CreateGroup group "more" in group "registry": the approved change does not send this request',
    'CreateRoleBinding role binding of identity "other" and role "viewer" in group "registry": the approved change sends this request less often',
  ]);
  expect([added.map(({ method, uid }) => [method, uid]), left]).toEqual([[["UpdateGroup", platform]], 5]);
});

test("a change computed again replaces an invite whose code a run before has lost, and no other one", async () => {
  const invite = (client: Client) =>
    make(client, "groupInvite", registry, { roleUid: viewer, email: "mail@example.com", ttl: "60s" });
  let uid = "";
  const end = (client: Client) => remove(client, "DeleteGroupInvite", uid);
  const lost = await compared({
    act: invite,
    edit: async ({ client }) => {
      uid = await invite(client);
    },
    more: end,
  });
  expect([lost.problems, lost.added, lost.left]).toEqual([[], [], 2]);
  const sent = await compared({
    act: invite,
    isSent: () => true,
    edit: async ({ uids }) => {
      uid = uids.get(1) as string;
    },
    more: end,
  });
  expect(sent.problems).toEqual([
    'group invite of role "viewer" would not be there after it as the approved change leaves it',
  ]);
});

test("a change computed again restores only what the approved one deletes itself", async () => {
  const role = { identityUid: ci.uid, roleUid: editor };
  const swap: Act = async (client) => {
    await remove(client, "DeleteRoleBinding", binding);
    await make(client, "roleBinding", platform, role);
  };
  const restoredBy = (uid: string) =>
    compared({ act: swap, isSent: ({ n }) => n === 1, head: { restored: [{ n: 1, uid }] } });
  expect((await restoredBy(binding)).problems).toEqual([]);
  expect((await restoredBy(held)).problems).toEqual([
    'CreateRoleBinding role binding of identity "ci" and role "editor" in group "platform": since the approval somebody has removed it by hand, and this would make it again',
  ]);
});

test("a change computed again gives back what its first half has taken from a role", async () => {
  const act: Act = async (client) => {
    await update(client, "role", publisher, { capabilities: ["CAP_REPO_LIST"] });
    await make(client, "roleBinding", registry, { identityUid: ci.uid, roleUid: await api.role("owner") });
  };
  expect((await compared({ act, isSent: ({ n }) => n === 1 })).problems).toEqual([]);
});

test("a change computed again that has nothing left is applied already", async () => {
  const { problems, left } = await compared({ act: bind(viewer), isSent: () => true });
  expect([problems, left]).toEqual([[], 0]);
  expect((await compared({ act: nothing })).left).toBe(0);
});

test("a change computed again finds what was made by its references, not by names in it", async () => {
  const act: Act = async (client) => {
    const group = await make(client, "group", platform, { name: "one" });
    const below = await make(client, "group", group, { name: group.slice(-16) });
    const bot = await make(client, "identity", below, { name: "bot", ...claimsOf(`of ${group}`) });
    await make(client, "roleBinding", group, { identityUid: bot, roleUid: viewer });
  };
  for (const sent of [1, 2, 3, 4])
    expect((await compared({ act, isSent: ({ n }) => n <= sent })).problems, String(sent)).toEqual([]);
});
