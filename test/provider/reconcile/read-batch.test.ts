// The reads of a refresh: few lists answer them, never more requests than reads, and nothing that a list does not know.
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { forEachOf } from "../../../client/in-parallel.ts";
import type { Methods } from "../../../provider/engine/methods.ts";
import { type KindName, kindRecords, type StateKind } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import { isAncestor, type Json } from "../../../schema/index.ts";
import { createRateLimit } from "../../../server/base/rate-limit.ts";
import { startService, startSharedService } from "../../harness/provider.ts";
import { json, keyOf, ORG, refusal, scriptedSession } from "../../support/scripted.ts";

const inParallel = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>, parallel = 8): Promise<R[]> => {
  const results: R[] = [];
  const step = async ([i, item]: [number, T]): Promise<void> => {
    results[i] = await work(item);
  };
  await forEachOf(items.entries(), step, parallel);
  return results;
};

interface Stored<Kind = KindName> {
  kind: Kind;
  id: string;
  outs: Json;
}

/** As many reads at a time as the engine has under way. */
const readAll = (session: Session, stack: readonly Stored[], parallel = 8) => {
  const read = ({ kind, id, outs }: Stored): Promise<reconcile.ReadResult | Error> =>
    reconcile.read(kindRecords[kind], session, id, outs, { isRefresh: true }).catch((error: Error) => error);
  return inParallel(stack, read, parallel);
};

describe("a refresh", async () => {
  const groups: Stored[] = [];
  const createGroup = async (name: string): Promise<void> => {
    const inputs = { ...keyOf(name), parent: service.organization, name };
    groups.push({ kind: "group", ...(await reconcile.create(kindRecords.group, service.session, inputs)) });
  };
  afterAll(() => service.close());
  beforeEach(() => {
    service.requests.length = 0;
  });

  const asked = () => service.requests.map(({ url }) => url);

  const service = await startService();
  for (let i = 0; i < 20; i += 1) await createGroup(`g${i}`);
  service.clock.advance(10_000);

  it("reads a deleted record by its own GET before it believes that", async () => {
    await createGroup("gone");
    const [gone] = groups.splice(-1) as [Stored];
    await service.session.call("DeleteGroup", { uid: gone.id });
    service.clock.advance(10_000);
    service.requests.length = 0;
    const results = await readAll(service.otherSession(), [...groups, gone]);
    expect(results.at(-1)).toEqual({ id: "", props: {} });
    expect(asked().filter(({ pathname }) => pathname.endsWith(gone.id))).toHaveLength(1);
  });

  const describeAgain = (session: Session, { id }: Stored, description: string) =>
    session.call("UpdateGroup", { group: { uid: id, description }, updateMask: "description" } as never);

  it("sees what this process has written since a list began", async () => {
    const session = service.otherSession();
    const [first, second] = groups.slice(-2) as [Stored, Stored];
    await readAll(session, groups.slice(0, -2));
    await describeAgain(session, first, "new");
    const results = await readAll(session, [first, second]);
    expect(results).toMatchObject([{ props: { description: "new" } }, { id: second.id }]);
    expect(asked().some(({ pathname }) => pathname.endsWith(first.id))).toBe(true);
  });

  it.each([
    ["when a list is older than a minute", -3, 10, 61_000],
    ["at a second read of a record, by a GET", -4, undefined, 0],
  ])("sees what others have changed %s", async (description, at, count, laterMs) => {
    const session = service.otherSession();
    const changed = groups.at(at) as Stored;
    await readAll(session, groups.slice(0, count));
    await describeAgain(service.session, changed, description);
    service.clock.advance(laterMs);
    expect(await readAll(session, [changed])).toMatchObject([{ props: { description } }]);
  });
});

/** A service of so many groups, as a fast one answers. */
const serviceOf = (uids: readonly string[], deny: (uid: string) => boolean = () => false) => {
  const recordOf = (uid: string): Json => ({ uid, name: uid.slice(-16), description: "d".repeat(100) });
  const seen = { gets: 0, lists: 0 };
  const answer = ({ url }: { url: URL }) => {
    const { pathname, searchParams: query } = url;
    const uid = pathname.split("/groups/")[1];
    if (uid !== undefined) {
      seen.gets += 1;
      return deny(uid) ? refusal("PERMISSION_DENIED", "no") : json(recordOf(uid));
    }
    seen.lists += 1;
    const ids = query.getAll("uidp.ids");
    const below = query.get("uidp.descendantsOf");
    const all = (ids.length > 0 ? uids.filter((one) => ids.includes(one)) : uids).filter(
      (one) => (below === null || isAncestor(below, one)) && !deny(one),
    );
    const from = Number(query.get("pageToken") ?? 0);
    const to = from + Number(query.get("pageSize"));
    const groups = all.slice(from, to).map(recordOf);
    return json({ groups, totalCount: String(all.length), ...(to < all.length && { nextPageToken: String(to) }) });
  };
  return { seen, answer };
};

const groupsIn = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${ORG}/${i.toString(16).padStart(16, "0")}`);

const storedGroups = (uids: readonly string[]): Stored[] => uids.map((id) => ({ kind: "group", id, outs: keyOf(id) }));

it("a large organization is read without tripping a limit of 50 requests a second", async () => {
  const uids = groupsIn(10_000);
  const { seen, answer } = serviceOf(uids);
  const { session, clock } = scriptedSession((request) => {
    limit.identity("ci");
    return answer(request);
  });
  const limit = createRateLimit(50, () => clock.now());
  // In another order than that of the list.
  const stack = storedGroups(uids.toSorted((a, b) => (a.slice(-2) < b.slice(-2) ? -1 : 1)));
  const results = await readAll(session, stack);
  expect(results.map((result) => (result as reconcile.ReadResult).id)).toEqual(stack.map(({ id }) => id));
  expect(seen.gets + seen.lists).toBeLessThanOrEqual(10_000 / 150 + 20);
});

it("a refresh of a large organization reads what this process writes while a list of uids is under way", async () => {
  const uids = groupsIn(30_000);
  const asked = uids.slice(-6);
  const changed = asked[3] as string;
  let written: Json | undefined;
  const { answer } = serviceOf(uids);
  const { session } = scriptedSession(async (request) => {
    if (request.method === "PATCH") written = { uid: changed, name: "new" };
    if (written && request.url.pathname.endsWith(changed)) return json(written);
    const shown = answer(request);
    if (request.url.searchParams.has("uidp.ids") && !written)
      await session.call("UpdateGroup", { group: { uid: changed, name: "new" }, updateMask: "name" } as never);
    return shown;
  });
  const results = await readAll(session, storedGroups(asked));
  expect(written).toBeDefined();
  expect(results[3]).toMatchObject({ id: changed, props: { name: "new" } });
});

it.each([1, 8])("a refresh takes no more requests than records, with %i at a time", async (parallel) => {
  const uids = groupsIn(30_000);
  for (const count of [1, 5, 12, 60]) {
    const { seen, answer } = serviceOf(uids);
    await readAll(scriptedSession(answer).session, storedGroups(uids.slice(-count)), parallel);
    // Where reads never wait together, one page is tried.
    expect(seen.gets + seen.lists).toBeLessThanOrEqual(count + (parallel === 1 && count > 12 ? 1 : 0));
  }
});

describe("a refresh from a service that lists something else", () => {
  const uids = groupsIn(40);
  const stack = storedGroups(uids);

  const refreshWith = async (list: (url: URL, honest: Json) => unknown, deny?: (uid: string) => boolean) => {
    const { seen, answer } = serviceOf(uids, deny);
    const { session } = scriptedSession((request) => {
      const honest = answer(request);
      if (request.url.pathname.includes("/groups/")) return honest;
      return list(request.url, JSON.parse(honest.body)) as never;
    });
    return { seen, results: await readAll(session, stack) };
  };
  const groupsOf = (page: Json) => page.groups as Json[];

  it("is not misled where lists are refused", async () => {
    const { seen, results } = await refreshWith(() => refusal("PERMISSION_DENIED", "no lists"));
    expect(results.map((result) => (result as reconcile.ReadResult).id)).toEqual(uids);
    expect(seen).toEqual({ gets: 40, lists: 1 });
  });

  it("is not misled where lists show less of a record than a GET", async () => {
    const less = (page: Json) => ({ ...page, groups: groupsOf(page).map(({ description: _, ...rest }) => rest) });
    const { seen, results } = await refreshWith((_, page) => json(less(page)));
    for (const result of results) expect(result).toMatchObject({ props: { description: "d".repeat(100) } });
    expect(seen.gets).toBe(40);
  });

  it("is not misled where lists ignore every filter", async () => {
    const other = { uid: `${"f".repeat(40)}/${"f".repeat(16)}`, name: "other" };
    const { results } = await refreshWith(() => json({ groups: [other], totalCount: "1" }));
    expect(results.map((result) => (result as reconcile.ReadResult).id)).toEqual(uids);
  });

  it("ends where pages never end", async () => {
    const { seen, results } = await refreshWith((url, page) =>
      url.searchParams.has("uidp.ids") ? json(page) : json({ groups: [], nextPageToken: "same", totalCount: "0" }),
    );
    expect(results.map((result) => (result as reconcile.ReadResult).id)).toEqual(uids);
    expect(seen.gets + seen.lists).toBeLessThanOrEqual(uids.length);
  });

  it("reports an error with its own record", async () => {
    const denied = uids[7] as string;
    const { results } = await refreshWith(
      (_, page) => json(page),
      (uid) => uid === denied,
    );
    const errors = results.flatMap((result) => (result instanceof Error ? [result.message] : []));
    expect(errors).toEqual([expect.stringContaining(`GetGroup group ${denied}: PERMISSION_DENIED`)]);
  });
});

// How many requests a refresh and a destroy take, of 10 groups, 30 identities and 60 role bindings, with 8 operations at a time as the engine
// has them.
const service = await startSharedService();
const home: string = service.organization as string;

const startProcess = (): Promise<Record<StateKind, Methods>> =>
  service.methods({ clock: service.clock, transport: service.transport });

const claimMatch = (subject: string) => ({ issuer: "https://issuer.example", subject });

const createStack = async (): Promise<Stored<StateKind>[]> => {
  const methods = await startProcess();
  const create = async (kind: StateKind, name: string, inputs: Json): Promise<Stored<StateKind>> => {
    const { inputs: checked, failures } = await methods[kind].check({}, { ...keyOf(`${kind} ${name}`), ...inputs });
    expect(failures).toEqual([]);
    return { kind, ...(await methods[kind].create(checked)) };
  };
  const names = Array.from({ length: 10 }, (_, i) => `g${i}`);
  const groups = await inParallel(names, (name) => create("group", name, { parent: home, name }));
  const owners = groups.flatMap(({ id }, i) => [0, 1, 2].map((j) => ({ parent: id, name: `i${i} ${j}` })));
  const identities = await inParallel(owners, ({ parent, name }) =>
    create("identity", name, { parent, name, claimMatch: claimMatch(name) }),
  );
  const pairs = owners.flatMap(({ parent, name }, i) =>
    ["viewer", "editor"].map((role) => ({ parent, name: `${name} ${role}`, identity: identities[i]?.id, role })),
  );
  const withSet = groups.slice(5).map(({ id }) => id);
  const single = pairs.filter(({ parent }) => !withSet.includes(parent));
  const bindings = await inParallel(single, ({ name, ...inputs }) => create("roleBinding", name, inputs));
  const sets = await inParallel(withSet, (parent) => {
    const own = pairs.filter((one) => one.parent === parent).map(({ identity, role }) => ({ identity, role }));
    return create("roleBindingSet", parent, { parent, bindings: own });
  });
  service.clock.advance(10_000);
  return [...groups, ...identities, ...bindings, ...sets];
};

describe("a stack with bindings and sets", async () => {
  const stack: Stored<StateKind>[] = await createStack();
  beforeEach(() => {
    service.requests.length = 0;
  });

  it("is refreshed by few lists, without drift", async () => {
    const methods = await startProcess();
    const results = await inParallel(stack, ({ kind, id, outs }) => methods[kind].read(id, outs));
    expect(service.requests.length).toBeLessThanOrEqual(stack.length / 150 + 20);
    expect(results.map(({ id }) => id)).toEqual(stack.map(({ id }) => id));
    expect(results.map(({ props }) => props)).toEqual(stack.map(({ outs }) => outs));
    // As by a GET of each.
    const sample = stack.flatMap((one, i) => (i % 17 === 0 ? [{ ...one, result: results[i] }] : []));
    for (const { kind, id, outs, result } of sample)
      expect(await (await startProcess())[kind].read(id, outs)).toEqual(result);
  });

  it("is read as it is by now where a program reads it", async () => {
    const methods = await startProcess();
    const groups = stack.filter(({ kind }) => kind === "group");
    await methods.group.check({}, { ...keyOf("new"), parent: home, name: "new" });
    service.requests.length = 0;
    await inParallel(groups, ({ id, outs }) => methods.group.read(id, outs));
    const paths = service.requests.map(({ url }) => url.pathname);
    for (const { id } of groups) expect(paths.filter((path) => path.endsWith(`/groups/${id}`))).toHaveLength(1);
    expect(paths.filter((path) => path.endsWith("/groups"))).toEqual([]);
  });

  it("is destroyed with hardly more requests than records", async () => {
    const methods = await startProcess();
    for (const layer of [["roleBinding", "roleBindingSet"], ["identity"], ["group"]] as StateKind[][])
      await inParallel(
        stack.filter(({ kind }) => layer.includes(kind)),
        ({ kind, id, outs }) => methods[kind].delete(id, outs),
      );
    const deletes = service.requests.filter(({ method }) => method === "DELETE");
    expect(deletes).toHaveLength(100);
    expect(service.requests.length).toBeLessThanOrEqual(105);
  });
});

type Created = Awaited<ReturnType<Methods["create"]>>;

const createIdentities = async (word: string): Promise<Created[]> => {
  const methods = await startProcess();
  const names = Array.from({ length: 8 }, (_, i) => `${word} ${i}`);
  return inParallel(names, (name) =>
    methods.identity.create({ ...keyOf(name), parent: home, name, claimMatch: claimMatch(name) }),
  );
};
const failuresOf = async ({ identity }: Record<StateKind, Methods>, identities: readonly Created[]) => {
  const results = await inParallel(identities, ({ id, outs }) =>
    identity.delete(id, outs).then(
      () => "",
      (error: Error) => error.message,
    ),
  );
  return results.filter((text) => text !== "");
};

it("the deletes of many identities spare role bindings of others, although one list clears most", async () => {
  const identities = await createIdentities("spared");
  const bound = identities.at(-2)?.id as string;
  const roleBinding = { identityUid: bound, roleUid: await service.role("viewer") };
  const { uid } = await service.call("CreateRoleBinding", { parent: home, roleBinding });
  const next = await startProcess();
  service.requests.length = 0;
  expect(await failuresOf(next, identities)).toEqual([expect.stringContaining(`role binding ${uid}`)]);
  const deleted = service.requests.filter(({ method }) => method === "DELETE").map(({ url }) => url.pathname);
  expect(deleted).toHaveLength(7);
  expect(deleted.some((path) => path.endsWith(bound))).toBe(false);
  await service.session.call("DeleteRoleBinding", { uid });
});

it("the deletes of many identities spare a role binding that this run creates after the list", async () => {
  const identities = await createIdentities("bound");
  const { id: identity } = identities.at(-1) as Created;
  const next = await startProcess();
  expect(await failuresOf(next, identities.slice(0, -1))).toEqual([]);
  const { id } = await next.roleBinding.create({ ...keyOf("new"), parent: home, identity, role: "viewer" });
  expect(await failuresOf(next, identities.slice(-1))).toEqual([expect.stringContaining(`role binding ${id}`)]);
  await service.session.call("DeleteRoleBinding", { uid: id });
});
