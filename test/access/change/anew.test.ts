// A change that is made anew is the approved one or what is left of it. Each case sends some of the writes of a random change to a service,
// edits that by hand, and carries the other writes out on a fresh copy.
import { afterAll, describe, expect, test } from "vitest";
import { type Compared, compareAnew } from "../../../access/change/anew.ts";
import { type Change, type ChangeContent, changeText, lifeFrom, parseChange } from "../../../access/change/change.ts";
import { type Call, makesUid, methodOf } from "../../../access/change/methods.ts";
import { requestOf } from "../../../access/change/request.ts";
import { mapMade } from "../../../access/change/value.ts";
import { type Write, writesFrom } from "../../../access/change/write.ts";
import type { Copy } from "../../../access/copy/copy.ts";
import { copyOf } from "../../../cli/copy.ts";
import { readTwin } from "../../../cli/twin/live.ts";
import { accessOfChange, anewOf, sidesOf } from "../../../cli/twin/sides.ts";
import { recordsOf, startTwin, type Twin } from "../../../cli/twin/twin.ts";
import type { Client } from "../../../client/client.ts";
import { createRecord } from "../../../client/records.ts";
import { isApiError, type Json, resources } from "../../../schema/index.ts";
import { copyOfServer } from "../../harness/copy.ts";
import { createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { createRandom, type Random } from "../../support/random.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const { organization } = api;
const ci = await api.actor("ci", { role: publisher, at: registry });
const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];
const binding = await createUid(api, "roleBindings", platform, { identityUid: ci.uid, roleUid: viewer });
const empty = await createUid(api, "groups", platform, { name: "empty" });
const base = await copyOfServer(api);
afterAll(() => api.close());

const address = api.baseUrl;
type Act = (client: Client) => Promise<unknown>;
const make = async (
  client: Client,
  kind: Parameters<typeof createRecord>[1],
  parent: string,
  fields: Json,
): Promise<string> => String((await createRecord(client, kind, parent, fields)).uid);
const update = (client: Client, method: string, field: string, fields: Json): Promise<unknown> =>
  client.call(
    method as "UpdateRole",
    {
      [field]: fields,
      updateMask: Object.keys(fields)
        .filter((name) => name !== "uid")
        .join(","),
    } as never,
  );
const remove = (client: Client, method: string, uid: string) => client.call(method as "DeleteRole", { uid });

/** What a run has sent to a copy, as a change. */
const changeFrom = async (copy: Copy, act: Act, head: Partial<ChangeContent> = {}) => {
  const calls: Call[] = [];
  const twin = await startTwin(copy, address, { onWrite: (call) => void calls.push(call) });
  try {
    const before = await readTwin(twin);
    await act(await twin.operatorOf(api.identity));
    const normal = writesFrom(calls, { recordOf: recordsOf(new Map([[address, twin]]), address) });
    const services = [await sidesOf(twin, before)];
    const content: ChangeContent = {
      ...{ version: 1, operation: "up", arguments: [], stack: "access/dev", services: [address], as: api.identity },
      ...{ ...lifeFrom(Date.now()), writes: normal.writes, ...accessOfChange(services, normal), restored: [] },
      ...head,
    };
    return { content, anew: anewOf(content, { services, normal, left: [] }) };
  } finally {
    await twin.close();
  }
};

interface World {
  change: Change;
  service: Twin;
  client: Client;
  /** uids that the service has given, by the number of the write */
  uids: Map<number, string>;
}

/** Sends the writes that `isSent` takes to the service; then `edit` edits it. What is left is made anew. */
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
  const { content } = await changeFrom(base, act);
  const change = parseChange(changeText(content), "a change");
  const service = await startTwin(base, address);
  try {
    const client = await service.operatorOf(api.identity);
    const uids = new Map<number, string>();
    const sent = new Set<number>();
    for (const write of change.writes)
      if (isReady(write, change, sent) && isSent(write) && (await send(client, write, uids))) sent.add(write.n);
    await edit({ change, service, client, uids });
    const fresh = await copyOf(client, address);
    const rest = async (own: Client): Promise<void> => {
      const all = new Map(uids);
      for (const write of change.writes) if (!sent.has(write.n)) await send(own, write, all, true);
      await more(own, (n) => all.get(n) as string);
    };
    const { anew } = await changeFrom(fresh, rest, head);
    return { ...compareAnew(change, anew), change };
  } finally {
    await service.close();
  }
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

/** Sends a random change. */
const randomAct =
  (seed: number): Act =>
  async (client) => {
    const random = createRandom(seed);
    const [groups, roles, identities] = [
      [platform, registry],
      [publisher, viewer],
      [ci.uid, reader.uid],
    ];
    const bind = (): Promise<unknown> =>
      make(client, resources.roleBinding, random.pick(groups), {
        identityUid: random.pick(identities),
        roleUid: random.pick(roles),
      });
    const OPS: (() => Promise<unknown>)[] = [
      async () =>
        void groups.push(
          await make(client, resources.group, random.pick(groups), { name: `g${random.below(3)}`, description: "new" }),
        ),
      async () =>
        void identities.push(
          await make(client, resources.identity, random.pick(groups), {
            name: `i${random.below(3)}`,
            ...claimsOf(`s${random.below(3)}`),
          }),
        ),
      async () =>
        void roles.push(
          await make(client, resources.role, random.pick(groups), {
            name: `r${random.below(3)}`,
            capabilities: CAPABILITIES.slice(random.below(4)),
          }),
        ),
      bind,
      bind,
      bind,
      () =>
        update(client, "UpdateRole", "role", {
          uid: publisher,
          capabilities: CAPABILITIES.slice(random.below(3), 3 + random.below(2)),
        }),
      () =>
        update(client, "UpdateIdentity", "identity", {
          uid: random.pick(identities),
          ...claimsOf(`u${random.below(5)}`),
          name: `n${random.below(9)}`,
        }),
      () => update(client, "UpdateGroup", "group", { uid: random.pick(groups), description: `d${random.below(9)}` }),
      async () => {
        // Another role in place of one that grants the same and more.
        await remove(client, "DeleteRoleBinding", binding);
        await make(client, resources.roleBinding, platform, { identityUid: ci.uid, roleUid: editor });
      },
      () => remove(client, "DeleteGroup", empty),
      async () => {
        const oidc = { issuer: "https://login.example", clientId: "console", groupsClaim: "groups", pkceEnabled: true };
        const sso = await make(client, resources.identityProvider, organization, {
          name: "sso",
          defaultRole: viewer,
          oidc,
        });
        const mapping = { externalGroupId: "sre", roleUid: random.pick([viewer, editor]), scope: organization };
        await make(client, resources.externalGroupRoleMapping, sso, mapping);
      },
      () => make(client, resources.groupInvite, random.pick(groups), { roleUid: random.pick(roles), ttl: "3600s" }),
      async () =>
        void identities.push(
          await make(client, resources.identity, platform, {
            name: "keys",
            staticKeys: { issuer: "https://keys.example", subject: "k", issuerKeys: KEYS },
          }),
        ),
      () => make(client, resources.repo, registry, { name: `repo-${random.below(1000)}` }),
    ];
    const left = random.shuffle(OPS).slice(0, 4 + random.below(5));
    for (const op of [...left, bind])
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

const SEEDS = Array.from({ length: Number(process.env.N ?? 12) }, (_, i) => i + 1);

describe("a random change, of which a part is sent", () => {
  test.each(SEEDS)("is what is left of it: %i", async (seed) => {
    const { problems, added, left, change } = await compared({
      act: randomAct(seed),
      isSent: someSent(createRandom(seed)),
    });
    expect(problems, JSON.stringify(change)).toEqual([]);
    expect([added, left <= change.writes.length]).toEqual([[], true]);
  });
});
