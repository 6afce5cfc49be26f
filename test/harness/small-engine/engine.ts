// Calls the provider's methods as the Pulumi engine does, and is small enough to be killed at any line: check, diff, then
// create, update, replace or delete. Writes the state before and after each step. Deletes last, dependents first.
import type { Json } from "../../../schema/index.ts";
import { type Pace, timeAt } from "../clock.ts";
import { type Declared, type Program, refsIn, resolve } from "./program.ts";
import type { ProgramEnd } from "./program-end.ts";
import { isHalfDone, type Provider, type Snapshot } from "./provider.ts";
import { openState, type Pending, type StateFile, type StateOptions, type Stored } from "./state.ts";

export type Command = "up" | "preview" | "refresh" | "destroy";

export interface Outcome {
  /** steps that were done, or in a preview would be: `create subject` */
  steps: string[];
  /** `subject: why` */
  errors: string[];
}

interface EngineOptions {
  provider: Provider;
  state: StateFile;
  pace: Pace;
  /** a step of this type has ended, and the state does not show it yet */
  beforeState(type: Pending["type"], name: string): Promise<void>;
  /** no further step begins, and those under way finish (^C) */
  isCancelled(): boolean;
  /** the program has declared everything */
  programEnd: ProgramEnd;
}

const engineWith = ({ provider, state, pace, beforeState, isCancelled, programEnd }: EngineOptions) => {
  const outcome: Outcome = { steps: [], errors: [] };

  const old = ({ name, kind }: Declared): Stored | undefined =>
    state.resources.find((one) => one.name === name && one.kind === kind && !one.delete);

  /** One step: recorded in the state before it begins and after it has ended. */
  const step = async <T>(pending: Pending, work: () => Promise<T>, put: (result: T) => void): Promise<T> => {
    if (isCancelled()) throw new Error("cancelled");
    state.pending.push(pending);
    state.save();
    try {
      const result = await work();
      await beforeState(pending.type, pending.name);
      put(result);
      outcome.steps.push(`${VERB[pending.type]} ${pending.name}`);
      return result;
    } catch (error) {
      await beforeState(pending.type, pending.name);
      throw error;
    } finally {
      state.pending = state.pending.filter((one) => one !== pending);
      state.save();
    }
  };

  /** A create or an update. */
  const write = async (
    type: "creating" | "updating",
    { name, kind, inputs: declared }: Declared,
    inputs: Json,
    work: () => Promise<Snapshot>,
    put: (stored: Stored) => void,
  ): Promise<string> => {
    const { snapshot, error } = await step(
      { type, name, kind, inputs },
      () => resultOf(inputs, work()),
      ({ snapshot: own, reasons }) =>
        put({
          ...{ name, kind, ...own, dependencies: refsIn(declared) },
          ...(reasons.length > 0 && { initErrors: reasons }),
        }),
    );
    if (error) throw error;
    return snapshot.id;
  };

  const create = (declared: Declared, inputs: Json, replaced?: Stored): Promise<string> =>
    write(
      "creating",
      declared,
      inputs,
      () => provider.create(declared, inputs),
      (stored) => {
        if (replaced) replaced.delete = true;
        state.resources.push(stored);
      },
    );

  const update = (declared: Declared, before: Stored, inputs: Json): Promise<string> =>
    write(
      "updating",
      declared,
      inputs,
      () => provider.update(declared, before, inputs),
      (stored) => {
        delete before.initErrors;
        Object.assign(before, stored);
      },
    );

  /** What the program declares, each after those that it refers to. */
  const register = async (program: Program, apply: boolean): Promise<void> => {
    const uids = new Map<string, string>();
    const one = async (declared: Declared): Promise<void> => {
      await Promise.all(refsIn(declared.inputs).map((name) => underWay.get(name)));
      const before = old(declared);
      const unresolved = refsIn(declared.inputs).some((name) => !uids.has(name));
      if (unresolved && apply) return;
      const news = resolve(declared.inputs, uids);
      const { inputs, failures } = await provider.check(declared, before?.inputs ?? {}, news);
      if (failures.length > 0) throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join());
      const plan = async (verb: string, before?: Stored): Promise<void> => {
        await provider.preview(declared, inputs, before);
        outcome.steps.push(`${verb} ${declared.name}`);
      };
      if (!before) {
        if (apply) uids.set(declared.name, await create(declared, inputs));
        else await plan("create");
        return;
      }
      const { changes, replaces } = await provider.diff(declared, before, inputs);
      if (replaces.length > 0) {
        // The engine checks a replacement as a new resource.
        const current = await provider.check(declared, {}, news);
        if (apply) uids.set(declared.name, await create(declared, current.inputs, before));
        else await plan("replace");
        return;
      }
      if (changes || before.initErrors) {
        if (apply) await update(declared, before, inputs);
        else await plan("update", before);
      } else if (apply) {
        before.inputs = inputs;
        before.dependencies = refsIn(declared.inputs);
        state.save();
      }
      uids.set(declared.name, before.id);
    };
    const underWay = new Map<string, Promise<void>>();
    for (const declared of program)
      underWay.set(
        declared.name,
        Promise.resolve()
          .then(() => one(declared))
          .catch((error: Error) => void outcome.errors.push(`${declared.name}: ${error.message}`)),
      );
    await Promise.all(underWay.values());
  };

  const forget = (one: Stored): void => {
    state.resources = state.resources.filter((other) => other !== one);
  };
  const remove = (one: Stored): Promise<void> => {
    const { name, kind, inputs } = one;
    return step(
      { type: "deleting", name, kind, inputs },
      () => provider.delete(one, one),
      () => forget(one),
    );
  };

  // Its dependents first. `gone` is true when the delete succeeded.
  const removeAll = async (doomed: readonly Stored[]): Promise<void> => {
    const underWay = new Map<Stored, Promise<boolean>>();
    const removeWithDependents = (one: Stored): Promise<boolean> => {
      const known = underWay.get(one);
      if (known) return known;
      const run = (async () => {
        const dependents = doomed.filter((other) => other !== one && other.dependencies.includes(one.name));
        const all = await Promise.all(dependents.map(removeWithDependents));
        if (all.includes(false)) return false;
        try {
          await remove(one);
          return true;
        } catch (error) {
          outcome.errors.push(`${one.name}: ${(error as Error).message}`);
          return false;
        }
      })();
      underWay.set(one, run);
      return run;
    };
    await Promise.all(doomed.map(removeWithDependents));
  };

  const undeclared = (program: Program): Stored[] =>
    state.resources.filter(
      (one) => one.delete || !program.some(({ name, kind }) => name === one.name && kind === one.kind),
    );

  // Pending creates stay until they are cleared. The next run has no use for others, and its first save leaves them out.
  const forgetPending = (): void => {
    state.pending = state.pending.filter(({ type }) => type === "creating");
  };

  const refreshOne = async (one: Stored): Promise<void> => {
    try {
      const live = await provider.read(one, one);
      if (live) {
        delete one.initErrors;
        Object.assign(one, live);
      } else forget(one);
      outcome.steps.push(`${live ? "read" : "gone"} ${one.name}`);
      state.save();
    } catch (error) {
      outcome.errors.push(`${one.name}: ${(error as Error).message}`);
    }
  };

  /** The engine notes the runs that end by themselves, with whole seconds. */
  const noted =
    (kind: "update" | "refresh" | "destroy", work: (program: Program) => Promise<Outcome>) =>
    async (program: Program): Promise<Outcome> => {
      const startedAt = Math.floor(timeAt(pace) / 1_000) * 1_000;
      const { errors } = await work(program);
      const result = errors.length > 0 || isCancelled() ? "failed" : "succeeded";
      state.runs = [{ kind, startedAt, result }, ...(state.runs ?? [])];
      state.save();
      return outcome;
    };

  return {
    up: noted("update", async (program) => {
      forgetPending();
      await register(program, true);
      if (outcome.errors.length === 0 && !isCancelled())
        outcome.steps.push(...(await programEnd(program, state.resources, false)).map((uid) => `clear ${uid}`));
      if (outcome.errors.length === 0 && !isCancelled()) await removeAll(undeclared(program));
      return outcome;
    }),
    preview: async (program: Program): Promise<Outcome> => {
      await register(program, false);
      if (outcome.errors.length === 0)
        outcome.steps.push(...(await programEnd(program, state.resources, true)).map((uid) => `clear ${uid}`));
      outcome.steps.push(...undeclared(program).map(({ name }) => `delete ${name}`));
      return outcome;
    },
    refresh: noted("refresh", async () => {
      forgetPending();
      await Promise.all(state.resources.map(refreshOne));
      state.save();
      return outcome;
    }),
    destroy: noted("destroy", async () => {
      forgetPending();
      await removeAll(state.resources);
      return outcome;
    }),
  } satisfies Record<Command, (program: Program) => Promise<Outcome>>;
};

/** One operation of the engine, which ends its provider. */
export const runCommand = async (
  command: Command,
  program: Program,
  options: StateOptions,
  parts: Omit<EngineOptions, "state" | "pace">,
): Promise<Outcome> => {
  const state = openState(options);
  try {
    return await engineWith({ ...parts, state, pace: options.pace })[command](program);
  } finally {
    await parts.provider.end();
    if (command !== "preview") state.close();
  }
};

/** What a step came to; an error with a record is a resource that exists and is not ready. */
const resultOf = async (inputs: Json, work: Promise<Snapshot>) => {
  try {
    return { snapshot: await work, reasons: [], error: undefined };
  } catch (error) {
    if (!isHalfDone(error)) throw error;
    const { id, properties, reasons } = error;
    return { snapshot: { id, inputs, outputs: properties }, reasons, error };
  }
};

const VERB = { creating: "create", updating: "update", deleting: "delete", reading: "read" } as const;
