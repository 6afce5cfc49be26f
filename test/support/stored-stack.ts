// What the engine has stored of a stack, as a test gives it: the operations that a killed run left, and the resources.
import { AT } from "../../client/preview-marks.ts";
import { stampText } from "../../provider/record/id.ts";
import { TYPE_PREFIX } from "../../provider/record/kind.ts";
import type { StoredStacks } from "../../provider/run/stored-stack.ts";
import { type EngineRun, engineStateFrom } from "../../pulumi/state.ts";
import type { Json } from "../../schema/index.ts";

export const SECOND_MS = 1_000;

/** `organization/project/stack/Test::g1`, which the tests use, to the URN of a group. */
export const urnOf = (key: unknown): string =>
  `urn:pulumi:stack::project::${TYPE_PREFIX}Group::${String(key).split("::")[1]}`;

interface Pending {
  args: Json;
  /** how long ago the check was */
  agoMs?: number;
  action?: string;
  type?: string;
  /** options of the resource */
  options?: Json;
}

export interface StoredState {
  pending: Pending[];
  resources?: Json[];
  runs?: EngineRun[];
  secrets?: Pending[];
  /** how long ago the engine saved it last */
  savedMs?: number;
}

const operationOf = ({
  args,
  agoMs = 2 * SECOND_MS,
  action = "creating",
  type = `${TYPE_PREFIX}Group`,
  options = {},
}: Pending): Json => {
  const { __key, ...inputs } = args;
  const at = Date.now() - agoMs;
  const time = { [AT]: `http://127.0.0.1 ${stampText({ at, startedAt: at })}` };
  const urn = urnOf(__key).replace(`${TYPE_PREFIX}Group`, type);
  return { type: action, resource: { urn, type, inputs: { ...inputs, ...time }, ...options } };
};

/** What the engine has stored. Counts how often it is asked. */
export const storedWith = ({ pending, resources = [], runs = [], secrets = pending, savedMs = 0 }: StoredState) => {
  const asked = { states: 0, secrets: 0, runs: 0 };
  const stateOf = (operations: readonly Pending[]) =>
    engineStateFrom({
      deployment: {
        manifest: { time: new Date(Date.now() - savedMs).toISOString() },
        resources,
        pending_operations: operations.map(operationOf),
      },
    });
  const [plain, clear] = [stateOf(pending), stateOf(secrets)];
  const stored: StoredStacks = {
    engineState: async () => {
      asked.states += 1;
      return plain;
    },
    engineSecrets: async () => {
      asked.secrets += 1;
      return clear;
    },
    engineRuns: async () => {
      asked.runs += 1;
      return runs;
    },
    engineAgeMs: () => 0,
  };
  return { stored, asked };
};
