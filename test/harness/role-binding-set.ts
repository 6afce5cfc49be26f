// Sets of role bindings over a reference server in this process, called as the engine calls them.
import { beforeAll, beforeEach } from "vitest";
import { methodsWith } from "../../provider/engine/methods.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { getter, keyOf } from "../support/scripted.ts";
import { type Machine, type Process, startMachine } from "./provider.ts";

/** One set in a state of the engine. */
export interface EngineSet {
  outs: Json;
  inputs: Json;
}

export interface SetsMachine {
  machine: Machine;
  /** uids of five identities of the organization */
  identities: string[];
  /** uid of a new group */
  group(): Promise<string>;
  /** a binding that another caller creates; the identity by its uid, or by its name */
  bind(group: string, identity: string, role: string): Promise<string>;
  unbind(uid: string): Promise<void>;
  /** so many roles of the organization, of each its uid */
  newRoles(count: number): Promise<string[]>;
  /** of a built-in role */
  role(name: string): Promise<string>;
  /** `identity role` of each binding of a group, as names */
  pairs(group: string): Promise<string[]>;
  /** of a pair that is a text, `one viewer`, the identity is one of the five, by its name */
  inputs(
    group: string,
    bindings: readonly (string | readonly [identity: string, role: string])[],
    further?: Json,
  ): Json;
  /** a run of the engine in a new process, or in `own` */
  run(own?: Process): Promise<EngineRun>;
  // Each in a new process.
  up: EngineRun["up"];
  preview: EngineRun["preview"];
  refresh: EngineRun["refresh"];
  delete: EngineRun["delete"];
}

export interface EngineRun {
  methods: ReturnType<typeof methodsWith>;
  requests: string[];
  /** check, then create, or diff and update */
  up(inputs: Json, before?: EngineSet): Promise<EngineSet>;
  /** check and diff */
  preview(inputs: Json, before?: EngineSet): Promise<{ changes: boolean; replaces: string[] }>;
  refresh(before: EngineSet): Promise<EngineSet>;
  delete(before: EngineSet): Promise<void>;
}

const PROVIDER = { __provider: "the text that finds the provider" };

export const startSets = (): SetsMachine => {
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

  const run = async (own: Process = machine.run()): Promise<EngineRun> => {
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
    const preview: EngineRun["preview"] = async (inputs, before) => {
      const news = await checkInputs(inputs, before);
      return before ? set.diff(String(before.outs.parent), before.outs, news) : { changes: true, replaces: [] };
    };
    return {
      methods,
      requests,
      preview,
      up: async (inputs, before) => {
        const news = await checkInputs(inputs, before);
        if (!before) return { outs: { ...(await set.create(news)).outs, ...PROVIDER }, inputs: news };
        const { changes, replaces } = await set.diff(String(before.outs.parent), before.outs, news);
        if (replaces.length > 0) throw new Error(`replaces ${replaces.join()}`);
        if (!changes) return { ...before, inputs: news };
        const { outs } = await set.update(String(before.outs.parent), before.outs, news);
        return { outs: { ...outs, ...PROVIDER }, inputs: news };
      },
      refresh: async ({ outs, inputs }) => {
        const { props, inputs: read } = await set.read(String(outs.parent), outs);
        return { outs: { ...props, ...PROVIDER }, inputs: { ...inputs, ...read } };
      },
      delete: ({ outs }) => set.delete(String(outs.parent), outs),
    };
  };

  return {
    machine,
    identities,
    run,
    up: async (...args) => (await run()).up(...args),
    preview: async (...args) => (await run()).preview(...args),
    refresh: async (...args) => (await run()).refresh(...args),
    delete: async (...args) => (await run()).delete(...args),
    group: async () => (await machine.createByOther({ parent: machine.org, name: `g${++count}`, description: "" })).uid,
    newRoles: (count) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const role = { name: `role ${++made}`, capabilities: ["CAP_IAM_GROUPS_LIST"] };
          return (await call("CreateRole", { parent: machine.org, role } as never)).uid as string;
        }),
      ),
    role: async (name) => roles.get(name) as string,
    bind: async (parent, identity, role) => {
      const roleBinding = { identityUid: uids.get(identity) ?? identity, roleUid: roles.get(role) ?? role };
      const request = { parent, roleBinding };
      return (await call("CreateRoleBinding", request as never)).uid as string;
    },
    unbind: async (uid) => void (await call("DeleteRoleBinding", { uid })),
    pairs: async (group) => {
      const { roleBindings } = await call("ListRoleBindings", { uidp: { childrenOf: group }, pageSize: 200 });
      return (roleBindings ?? []).map(({ identity, role }) => `${identity?.name} ${role?.name}`).sort();
    },
    inputs: (parent, bindings, further = {}) => ({
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
  GetRoleBinding: /^GET roleBindings\//,
  DeleteRoleBinding: /^DELETE roleBindings\//,
} as const;
