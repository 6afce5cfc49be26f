// Sets of role bindings over a reference server in this process, called as the engine calls them.
import { beforeAll, beforeEach } from "vitest";
import { type Methods, methodsWith } from "../../provider/engine/methods.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { getter, keyOf } from "../support/scripted.ts";
import { type Machine, type Process, startMachine } from "./provider.ts";

type DiffResult = Awaited<ReturnType<Methods["diff"]>>;

/** One set in a state of the engine. */
export interface EngineSet {
  outs: Json;
  inputs: Json;
}

export type EngineRun = Awaited<ReturnType<ReturnType<typeof startSets>["run"]>>;

const PROVIDER = { __provider: "the text that finds the provider" };

export const startSets = () => {
  const machine = startMachine();
  const identities: string[] = [];
  let call: Machine["service"]["session"]["call"];
  let [count, made] = [0, 0];
  const roles = new Map<string, string>();
  const uids = new Map<string, string>();

  beforeAll(async () => {
    ({ call } = machine.service.session);
    for (const { name, uid } of (await call("ListRoles", { uidp: { inRoot: true } })).roles ?? [])
      roles.set(name as string, uid as string);
    for (const name of ["one", "two", "three", "four", "five"]) {
      const claimMatch = { issuer: "https://issuer.example.com", subject: name };
      const request = { parent: machine.org, identity: { name, claimMatch } };
      const uid = (await call("CreateIdentity", request as never)).uid as string;
      identities.push(uid);
      uids.set(name, uid);
    }
  });
  beforeEach(() => {
    count = 0;
  });

  /** a run of the engine in a new process, or in `own` */
  const run = async (own: Process = machine.run()) => {
    const requests: string[] = [];
    const { transport } = own.environment;
    const countingTransport: typeof transport = (request) => {
      requests.push(`${request.method} ${request.url.pathname.replace(/^\/iam\/v2beta1\//, "")}`);
      return transport(request);
    };
    const methods = methodsWith({ ...own.environment, transport: countingTransport });
    await methods.group.configure({ config: { get: getter() } });
    const { roleBindingSet: set } = methods;
    const checkInputs = async (inputs: Json, before?: EngineSet): Promise<Json> => {
      const { inputs: news, failures } = await set.check(before?.inputs ?? {}, { ...PROVIDER, ...inputs });
      if (failures.length > 0)
        throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join("\n"));
      return news;
    };
    /** check and diff */
    const preview = async (inputs: Json, before?: EngineSet): Promise<DiffResult> => {
      const news = await checkInputs(inputs, before);
      return before ? set.diff(String(before.outs.parent), before.outs, news) : { changes: true, replaces: [] };
    };
    return {
      methods,
      requests,
      preview,
      /** check, then create, or diff and update */
      up: async (inputs: Json, before?: EngineSet): Promise<EngineSet> => {
        const news = await checkInputs(inputs, before);
        if (!before) return { outs: { ...(await set.create(news)).outs, ...PROVIDER }, inputs: news };
        const { changes, replaces } = await set.diff(String(before.outs.parent), before.outs, news);
        if (replaces.length > 0) throw new Error(`replaces ${replaces.join()}`);
        if (!changes) return { ...before, inputs: news };
        const { outs } = await set.update(String(before.outs.parent), before.outs, news);
        return { outs: { ...outs, ...PROVIDER }, inputs: news };
      },
      refresh: async ({ outs, inputs }: EngineSet): Promise<EngineSet> => {
        const { props, inputs: read } = await set.read(String(outs.parent), outs);
        return { outs: { ...props, ...PROVIDER }, inputs: { ...inputs, ...read } };
      },
      delete: ({ outs }: EngineSet) => set.delete(String(outs.parent), outs),
    };
  };

  type Run = Awaited<ReturnType<typeof run>>;
  return {
    machine,
    /** uids of five identities of the organization */
    identities,
    run,
    // Each in a new process.
    up: async (...args: Parameters<Run["up"]>) => (await run()).up(...args),
    preview: async (...args: Parameters<Run["preview"]>) => (await run()).preview(...args),
    refresh: async (before: EngineSet) => (await run()).refresh(before),
    delete: async (before: EngineSet) => (await run()).delete(before),
    /** uid of a new group */
    group: async () => (await machine.createByOther({ parent: machine.org, name: `g${++count}`, description: "" })).uid,
    /** so many roles of the organization, of each its uid */
    newRoles: (count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const role = { name: `role ${++made}`, capabilities: ["CAP_IAM_GROUPS_LIST"] };
          return (await call("CreateRole", { parent: machine.org, role } as never)).uid as string;
        }),
      ),
    /** uid of a built-in role */
    role: async (name: string) => roles.get(name) as string,
    /** a binding that another caller creates; the identity by its uid, or by its name */
    bind: async (parent: string, identity: string, role: string) => {
      const roleBinding = { identityUid: uids.get(identity) ?? identity, roleUid: roles.get(role) ?? role };
      const request = { parent, roleBinding };
      return (await call("CreateRoleBinding", request as never)).uid as string;
    },
    unbind: async (uid: string) => void (await call("DeleteRoleBinding", { uid })),
    /** `identity role` of each binding of a group, as names */
    pairs: async (group: string) => {
      const { roleBindings } = await call("ListRoleBindings", { uidp: { childrenOf: group }, pageSize: 200 });
      return (roleBindings ?? []).map(({ identity, role }) => `${identity?.name} ${role?.name}`).sort();
    },
    /** of a pair that is a text, `one viewer`, the identity is one of the five, by its name */
    inputs: (parent: string, bindings: readonly (string | readonly [string, string])[], further: Json = {}): Json => ({
      ...keyOf(`set-${parent}`),
      parent,
      bindings: bindings.map((pair) => {
        const [identity = "", ...role] = typeof pair === "string" ? pair.split(" ") : pair;
        return { identity: uids.get(identity) ?? identity, role: role.join(" ") };
      }),
      ...further,
    }),
  };
};

/** How many requests of an operation a run has sent. */
export const countOf = ({ requests }: Pick<EngineRun, "requests">, operation: OperationName): number =>
  requests.filter((one) => MATCH[operation as keyof typeof MATCH]?.test(one)).length;

const MATCH = {
  BatchCreateRoleBindings: /^POST roleBindings:batchCreate$/,
  CreateRoleBinding: /^POST roleBindings\//,
  ListRoleBindings: /^GET roleBindings$/,
  DeleteRoleBinding: /^DELETE roleBindings\//,
} as const;
