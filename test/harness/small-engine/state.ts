// The engine's state in one file, rewritten before and after each step, as the file backend does it.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { StateKind } from "../../../provider/kind/index.ts";
import type { EngineRun, EngineState, StateResource } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import { type Pace, timeAt } from "../clock.ts";
import { type Snapshot, typeOf } from "./provider.ts";

export interface Stored extends Snapshot {
  name: string;
  kind: StateKind;
  /** names of resources that it depends on */
  dependencies: string[];
  /** why its last step did not end; the next `up` continues */
  initErrors?: string[];
  /** replaced: to be deleted once its successor exists */
  delete?: true;
}

export interface Pending {
  type: "creating" | "updating" | "deleting" | "reading";
  name: string;
  kind: StateKind;
  inputs: Json;
}

export interface State {
  resources: Stored[];
  pending: Pending[];
  /** RFC 3339 */
  savedAt?: string;
  /** those that ended by themselves, the newest first */
  runs?: EngineRun[];
}

export interface StateFile extends State {
  /** after each step, unless the engine saves no checkpoints */
  save(): void;
  /** at the end of a run */
  close(): void;
}

export interface StateOptions {
  stateFile: string;
  pace: Pace;
  /** PULUMI_SKIP_CHECKPOINTS: it is saved once, at the end, and has no pending operations */
  isUnchecked?: boolean | undefined;
}

// github.com/pulumi/pulumi/sdk/go/common/resource/sig
const [SIGNATURE, SECRET] = ["4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"];

/** The value of a secret of a plugin. The real engine encrypts it in the state. */
export const secretIn = (value: unknown): unknown => {
  const own = value as { [SIGNATURE]?: string; value?: unknown } | null;
  return own?.[SIGNATURE] === SECRET ? own?.value : undefined;
};

export const readState = (file: string): State =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as State) : { resources: [], pending: [] };

export const openState = ({ stateFile: file, pace, isUnchecked = false }: StateOptions): StateFile => {
  const state = readState(file);
  const save = () => {
    const { resources, pending, runs } = opened;
    const savedAt = new Date(timeAt(pace)).toISOString();
    const saved = { resources, pending: isUnchecked ? [] : pending, savedAt, runs };
    writeFileSync(`${file}.next`, JSON.stringify(saved, undefined, 1));
    renameSync(`${file}.next`, file);
  };
  const opened: StateFile = { ...state, save: isUnchecked ? () => undefined : save, close: save };
  return opened;
};

/** What `pulumi stack export` shows of it: `stack` is organization/project/stack. */
export const engineStateOf = (file: string, form: string, stack: string): EngineState => {
  const [, project, name] = stack.split("/");
  const { resources, pending, savedAt = new Date(0).toISOString() } = readState(file);
  const shown = ({ kind, name: own, inputs }: Omit<Pending, "type">): StateResource => {
    const type = `${form}${typeOf(kind)}`;
    return { urn: `urn:pulumi:${name}::${project}::${type}::${own}`, type, custom: true, inputs, outputs: {} };
  };
  return {
    resources: resources.map((one) => ({ ...shown(one), id: one.id, outputs: one.outputs, delete: !!one.delete })),
    pending: pending.map((one) => ({ type: one.type, resource: shown(one) })),
    savedAt,
  };
};
