// Calls the provider's methods as the Pulumi engine does, and is small enough to be killed at any line: check, diff, then
// create, update, replace or delete. Writes the state before and after each step. Deletes last, dependents first.

import type { Methods } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { KEY, PROVIDER } from "../../../provider/state/state.ts";
import type { Json } from "../../../schema/index.ts";
import { type Declared, type Program, refsIn, resolved } from "./program.ts";
import type { Pending, StateFile, Stored } from "./state.ts";

export type Command = "up" | "preview" | "refresh" | "destroy";

export interface Outcome {
  /** steps that were done, or in a preview would be: `create subject` */
  steps: string[];
  /** `subject: why` */
  errors: string[];
}

export interface EngineOptions {
  methods: Record<StateKind, Methods>;
  state: StateFile;
  /** organisation/project/stack */
  stack: string;
  /** a step of this type has ended, and the state does not show it yet */
  beforeState(type: Pending["type"], name: string): Promise<void>;
  /** no further step begins, and those under way finish (^C) */
  isCancelled(): boolean;
}

const copied = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

export const engineWith = ({ methods, state, stack, beforeState, isCancelled }: EngineOptions) => {
  const outcome: Outcome = { steps: [], errors: [] };

  const keyed = ({ name, kind }: Declared, inputs: Json): Json => ({
    ...inputs,
    [PROVIDER]: "the text that finds the provider",
    [KEY]: `${stack}/${kind === "roleBindingSet" ? "RoleBindingSet" : kindRecords[kind].type}::${name}`,
  });

  const old = ({ name, kind }: Declared): Stored | undefined =>
    state.resources.find((one) => one.name === name && one.kind === kind && !one.delete);

  /** One step: recorded in the state before it begins and after it has ended. */
  const step = async <T>(pending: Pending, work: () => Promise<T>, ended: (result: T) => void): Promise<T> => {
    if (isCancelled()) throw new Error("cancelled");
    state.pending.push(pending);
    state.save();
    const over = (): void => {
      state.pending = state.pending.filter((one) => one !== pending);
      state.save();
    };
    try {
      const result = await work();
      await beforeState(pending.type, pending.name);
      ended(result);
      outcome.steps.push(`${VERB[pending.type]} ${pending.name}`);
      return result;
    } catch (error) {
      await beforeState(pending.type, pending.name);
      throw error;
    } finally {
      over();
    }
  };

  // An error with an id is a resource that exists and is not ready (ErrorResourceInitFailed).
  const halfDone = (error: unknown): { id: string; outs: Json; reasons: string[] } | undefined => {
    const { id, properties, reasons } = error as { id?: string; properties?: Json; reasons?: string[] };
    return id === undefined ? undefined : { id, outs: properties ?? {}, reasons: reasons ?? [] };
  };

  const stored = (declared: Declared, inputs: Json, id: string, outs: Json): Stored => ({
    name: declared.name,
    kind: declared.kind,
    id,
    inputs,
    // As the SDK stores them (resultIncludingProvider).
    outputs: { ...copied(outs), [PROVIDER]: inputs[PROVIDER] },
    dependencies: refsIn(declared.inputs),
  });

  const create = async (declared: Declared, inputs: Json, replaced?: Stored): Promise<string> => {
    const put = (one: Stored) => {
      if (replaced) replaced.delete = true;
      state.resources.push(one);
    };
    const pending: Pending = { type: "creating", name: declared.name, kind: declared.kind, inputs };
    const made = async () => {
      try {
        return { ...(await methods[declared.kind].create(copied(inputs))), reasons: [] as string[], error: undefined };
      } catch (error) {
        const half = halfDone(error);
        if (!half) throw error;
        return { ...half, error };
      }
    };
    const { id, error } = await step(pending, made, ({ id, outs, reasons }) =>
      put({ ...stored(declared, inputs, id, outs), ...(reasons.length > 0 && { initErrors: reasons }) }),
    );
    if (error) throw error;
    return id;
  };

  const update = async (declared: Declared, before: Stored, inputs: Json): Promise<string> => {
    const pending: Pending = { type: "updating", name: declared.name, kind: declared.kind, inputs };
    const changed = async () => {
      try {
        const { outs } = await methods[declared.kind].update(before.id, copied(before.outputs), copied(inputs));
        return { outs, reasons: [] as string[], error: undefined };
      } catch (error) {
        const half = halfDone(error);
        if (!half) throw error;
        return { ...half, error };
      }
    };
    const { error } = await step(pending, changed, ({ outs, reasons }) => {
      delete before.initErrors;
      Object.assign(before, stored(declared, inputs, before.id, outs), reasons.length > 0 && { initErrors: reasons });
    });
    if (error) throw error;
    return before.id;
  };

  /** What the program declares, each after those that it refers to. */
  const registered = async (program: Program, apply: boolean): Promise<void> => {
    const uids = new Map<string, string>();
    const one = async (declared: Declared): Promise<void> => {
      await Promise.all(refsIn(declared.inputs).map((name) => under.get(name)));
      const before = old(declared);
      const unresolved = refsIn(declared.inputs).some((name) => !uids.has(name));
      if (unresolved && apply) return;
      const { check, diff } = methods[declared.kind];
      const news = keyed(declared, resolved(declared.inputs, uids));
      const { inputs, failures } = await check(before ? copied(before.inputs) : {}, news);
      if (failures.length > 0) throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join());
      const own = copied(inputs);
      const plan = (verb: string) => void outcome.steps.push(`${verb} ${declared.name}`);
      if (!before) {
        if (apply) uids.set(declared.name, await create(declared, own));
        else plan("create");
        return;
      }
      const { changes, replaces } = await diff(before.id, copied(before.outputs), copied(own));
      if (replaces.length > 0) {
        if (apply) uids.set(declared.name, await create(declared, own, before));
        else plan("replace");
        return;
      }
      if (changes || before.initErrors) {
        if (apply) await update(declared, before, own);
        else plan("update");
      } else if (apply) {
        before.inputs = own;
        before.dependencies = refsIn(declared.inputs);
        state.save();
      }
      uids.set(declared.name, before.id);
    };
    const under = new Map<string, Promise<void>>();
    for (const declared of program)
      under.set(
        declared.name,
        Promise.resolve()
          .then(() => one(declared))
          .catch((error: Error) => void outcome.errors.push(`${declared.name}: ${error.message}`)),
      );
    await Promise.all(under.values());
  };

  const remove = async (one: Stored): Promise<void> => {
    const pending: Pending = { type: "deleting", name: one.name, kind: one.kind, inputs: one.inputs };
    await step(
      pending,
      () => methods[one.kind].delete(one.id, copied(one.outputs)),
      () => {
        state.resources = state.resources.filter((other) => other !== one);
      },
    );
  };

  // Its dependents first. `gone` is true when the delete succeeded.
  const removed = async (doomed: readonly Stored[]): Promise<void> => {
    const under = new Map<Stored, Promise<boolean>>();
    const gone = (one: Stored): Promise<boolean> => {
      const known = under.get(one);
      if (known) return known;
      const run = (async () => {
        const dependents = doomed.filter((other) => other !== one && other.dependencies.includes(one.name));
        const all = await Promise.all(dependents.map(gone));
        if (all.includes(false)) return false;
        try {
          await remove(one);
          return true;
        } catch (error) {
          outcome.errors.push(`${one.name}: ${(error as Error).message}`);
          return false;
        }
      })();
      under.set(one, run);
      return run;
    };
    await Promise.all(doomed.map(gone));
  };

  const undeclared = (program: Program): Stored[] =>
    state.resources.filter(
      (one) => one.delete || !program.some(({ name, kind }) => name === one.name && kind === one.kind),
    );

  // Pending creates stay until a refresh. The next run has no use for others.
  const forgetPending = (): void => {
    state.pending = state.pending.filter(({ type }) => type === "creating");
  };

  const refreshed = async (one: Stored): Promise<void> => {
    try {
      const { id, props, inputs } = await methods[one.kind].read(one.id, copied(one.outputs));
      if (id === "") state.resources = state.resources.filter((other) => other !== one);
      else {
        delete one.initErrors;
        one.outputs = { ...copied(props), [PROVIDER]: one.outputs[PROVIDER] };
        if (inputs) one.inputs = { ...copied(inputs), [PROVIDER]: one.inputs[PROVIDER] };
      }
      outcome.steps.push(`${id === "" ? "gone" : "read"} ${one.name}`);
      state.save();
    } catch (error) {
      outcome.errors.push(`${one.name}: ${(error as Error).message}`);
    }
  };

  return {
    up: async (program: Program): Promise<Outcome> => {
      forgetPending();
      await registered(program, true);
      if (outcome.errors.length === 0 && !isCancelled()) await removed(undeclared(program));
      return outcome;
    },
    preview: async (program: Program): Promise<Outcome> => {
      await registered(program, false);
      outcome.steps.push(...undeclared(program).map(({ name }) => `delete ${name}`));
      return outcome;
    },
    refresh: async (): Promise<Outcome> => {
      state.pending = [];
      await Promise.all(state.resources.map(refreshed));
      state.save();
      return outcome;
    },
    destroy: async (): Promise<Outcome> => {
      forgetPending();
      await removed(state.resources);
      return outcome;
    },
  } satisfies Record<Command, (program: Program) => Promise<Outcome>>;
};

const VERB = { creating: "create", updating: "update", deleting: "delete", reading: "read" } as const;
