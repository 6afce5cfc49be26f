// The engine's state in one file, rewritten before and after each step, as the file backend does it.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { StateKind } from "../../../provider/kind/index.ts";
import type { Json } from "../../../schema/index.ts";

export interface Stored {
  name: string;
  kind: StateKind;
  id: string;
  inputs: Json;
  outputs: Json;
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
}

export interface StateFile extends State {
  save(): void;
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

export const openState = (file: string): StateFile => {
  const state = readState(file);
  const save = () => {
    const { resources, pending } = opened;
    writeFileSync(`${file}.next`, JSON.stringify({ resources, pending }, undefined, 1));
    renameSync(`${file}.next`, file);
  };
  const opened: StateFile = { ...state, save };
  return opened;
};
