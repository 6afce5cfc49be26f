// Runs without checkpoints by the provider's methods. A test says what the engine's state is.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { providerWith } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { contentsFrom } from "../../../provider/log/entries.ts";
import { TYPE_PREFIX } from "../../../provider/record/kind.ts";
import type { Environment } from "../../../provider/run/session.ts";
import { type EngineState, EngineStateError, type StateResource } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import type { Service } from "../../harness/provider.ts";
import { typeOf } from "../../harness/small-engine/provider.ts";
import { journalFolder } from "../../support/scripted.ts";

export interface Stored {
  kind: StateKind;
  name: string;
  id: string;
  outs: Json;
}

export type World = ReturnType<typeof createWorld>;

export type Run = ReturnType<World["run"]>;

type RunOptions = Partial<Pick<Environment, "transport" | "cancelled">> & { isUnchecked?: boolean };

export const createGroup = async ({ call }: Service, parent: string, name: string, description = "") =>
  call("CreateGroup", { parent, group: { name, description } });

const NO_PROCESS = 99_999_999;

/** What the SDK adds to outputs. */
const HANDLER = { __provider: "the text that finds the provider" };

const STACK = "organization/project/stack";
const keyOf = (kind: StateKind, name: string) => `${STACK}/${typeOf(kind)}::${name}`;

export const createWorld = (service: Service) => {
  let savedAt = 0;
  const state = {
    journal: mkdtempSync(join(journalFolder, "open-")),
    messages: [] as string[],
    saved: [] as Stored[],
    problem: undefined as string | undefined,
    others: [] as StateResource[],
    env: {} as Record<string, string | undefined>,
  };
  const run = ({ isUnchecked = false, transport = service.transport, cancelled }: RunOptions = {}) => {
    const read = async (): Promise<EngineState> => {
      if (state.problem !== undefined) throw new EngineStateError(state.problem);
      const resources = state.saved.map(resourceOf);
      return { resources: [...resources, ...state.others], pending: [], savedAt: new Date(savedAt).toISOString() };
    };
    const env = {
      ...service.env,
      IRM_JOURNAL: state.journal,
      ...(isUnchecked && { PULUMI_SKIP_CHECKPOINTS: "true" }),
      ...state.env,
    };
    const { kinds } = providerWith({
      ...{ env, clock: service.clock, transport, log: (text) => void state.messages.push(text) },
      ...(cancelled && { cancelled }),
      storedStacks: { engineState: read, engineSecrets: read, engineRuns: async () => [], engineAgeMs: () => 0 },
    });
    void kinds.group.configure({ config: { get: () => undefined } });
    const check = async (kind: StateKind, name: string, inputs: Json, olds: Json = {}) => {
      const { inputs: checked, failures } = await kinds[kind].check(olds, { ...inputs, __key: keyOf(kind, name) });
      if (failures.length > 0) throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join());
      return checked;
    };
    return {
      kinds,
      create: async (kind: StateKind, name: string, inputs: Json): Promise<Stored> => {
        const { id, outs } = await kinds[kind].create(await check(kind, name, inputs));
        return { kind, name, id, outs: { ...outs, ...HANDLER } };
      },
      update: async ({ kind, name, id, outs }: Stored, inputs: Json): Promise<Stored> => {
        const news = await check(kind, name, inputs, inputs);
        await kinds[kind].diff(id, outs, news);
        const { outs: updated } = await kinds[kind].update(id, outs, news);
        return { kind, name, id, outs: { ...updated, ...HANDLER } };
      },
      delete: ({ kind, id, outs }: Stored): Promise<void> => kinds[kind].delete(id, outs),
      diff: async ({ kind, name, id, outs }: Stored, inputs: Json) =>
        kinds[kind].diff(id, outs, await check(kind, name, inputs, inputs)),
    };
  };
  return Object.assign(state, {
    run,
    save: (...resources: readonly Stored[]): void => {
      state.saved = [...resources];
      savedAt = service.clock.today();
    },
    /** A run without checkpoints that is killed: nothing of it is saved, and its process is no more. */
    killed: async (work: (own: ReturnType<typeof run>) => Promise<unknown>): Promise<void> => {
      await work(run({ isUnchecked: true }));
      // The process of the tests goes on.
      for (const name of readdirSync(state.journal)) {
        const file = join(state.journal, name);
        writeFileSync(file, readFileSync(file, "utf8").replaceAll(`"pid":${process.pid}`, `"pid":${NO_PROCESS}`));
      }
      service.clock.advance(120_000);
    },
    lines: (): Json[] =>
      textOf(state.journal)
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Json),
    contents: () => contentsFrom(textOf(state.journal)),
  });
};

const resourceOf = ({ kind, name, id, outs }: Stored): StateResource => {
  const type = `${TYPE_PREFIX}${typeOf(kind)}`;
  return { urn: `urn:pulumi:stack::project::${type}::${name}`, type, id, custom: true, inputs: {}, outputs: outs };
};

const textOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
