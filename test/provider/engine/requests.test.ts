// How many requests a refresh and a destroy take, of 10 groups, 30 identities and 60 role bindings, with 8 operations at a time as the
// engine has them.
import { beforeEach, describe, expect, it } from "vitest";
import type { Methods } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { inParallel } from "../../support/in-parallel.ts";
import { keyOf } from "../../support/scripted.ts";

interface Resource {
  kind: StateKind;
  id: string;
  outs: Json;
}
const service = await startSharedService();
const home: string = service.organization as string;

const startProcess = (): Promise<Record<StateKind, Methods>> =>
  service.methods({ clock: service.clock, transport: service.transport });

const claimMatch = (subject: string) => ({ issuer: "https://issuer.example", subject });

/** Of half of the groups with a set, and of the others with single bindings. */
const createStack = async (): Promise<Resource[]> => {
  const methods = await startProcess();
  const create = async (kind: StateKind, name: string, inputs: Json): Promise<Resource> => {
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
  const stack: Resource[] = await createStack();
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
    const layers: StateKind[][] = [["roleBinding", "roleBindingSet"], ["identity"], ["group"]];
    for (const layer of layers)
      await inParallel(
        stack.filter(({ kind }) => layer.includes(kind)),
        ({ kind, id, outs }) => methods[kind].delete(id, outs),
      );
    const deletes = service.requests.filter(({ method }) => method === "DELETE");
    expect(deletes).toHaveLength(100);
    expect(service.requests.length).toBeLessThanOrEqual(105);
  });
});

describe("the deletes of many identities", () => {
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

  it("spare the role bindings of others, although one list clears most of them", async () => {
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

  it("spare a role binding that this run creates after the list", async () => {
    const identities = await createIdentities("bound");
    const { id: identity } = identities.at(-1) as Created;
    const next = await startProcess();
    expect(await failuresOf(next, identities.slice(0, -1))).toEqual([]);
    const { id } = await next.roleBinding.create({ ...keyOf("new"), parent: home, identity, role: "viewer" });
    expect(await failuresOf(next, identities.slice(-1))).toEqual([expect.stringContaining(`role binding ${id}`)]);
    await service.session.call("DeleteRoleBinding", { uid: id });
  });
});
