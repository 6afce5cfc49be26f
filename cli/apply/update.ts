// The real update: the engine with the stack's own state, in this terminal. Program, plugin and engine lack credentials of the services.

import { z } from "zod";
import type { Change } from "../../access/change/change.ts";
import { type Engine, EngineError, type RunOperation, stackFlag } from "../../pulumi/command.ts";
import type { Original } from "../run/copy-stack.ts";

interface Update {
  operation: RunOperation;
  /** of the change */
  arguments: readonly string[];
  /** for `--stack` */
  stack: string | undefined;
  /** for the stack's history */
  message: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** stdout has the report alone */
  isQuiet: boolean;
}

const FLAGS = ["--yes", "--skip-preview", "--refresh"];

/**
 * Returns the exit code of the engine, which has printed its progress. An interrupt of the terminal reaches the engine too: it ends its steps
 * and stores their results. Errors: EngineError.
 */
export const runUpdate = async (
  engine: Engine,
  { operation, arguments: given, stack, message, cwd, env, isQuiet }: Update,
): Promise<number> => {
  const args = [operation, ...FLAGS, "--message", message, ...given, ...stackFlag(stack)];
  const { end } = await engine.run(args, { cwd, env, stdio: ["inherit", isQuiet ? 2 : "inherit", "inherit"] });
  return typeof end === "number" ? end : 1;
};

// The updates of a stack since a change was made. People may have reviewed one of another change later: the change must not undo it.

const History = z.array(
  z.object({
    kind: z.string(),
    startTime: z.string(),
    message: z.string().optional(),
    result: z.string().optional(),
    resourceChanges: z.record(z.string(), z.number()).nullish(),
  }),
);
type Entry = z.infer<typeof History>[number];

/** Entries that change no record. */
const IDLE = ["preview", "refresh", "rename"];

/** The message of a change's updates in the history of a stack. */
export const messageOf = ({ digest }: Pick<Change, "digest">): string => `npx pulumi-irm apply ${digest}`;

/** The start of the last update of another change, and of a successful update of this change. */
export interface Updates {
  other?: string;
  applied?: string;
}

/** Errors: EngineError. */
export const updatesSince = async (
  engine: Engine,
  change: Pick<Change, "created" | "digest">,
  { name, cwd, env }: Original,
): Promise<Updates> => {
  const printed = await engine.must(["stack", "history", "--json", ...stackFlag(name)], { cwd, env });
  // The engine writes whole seconds.
  const created = Math.floor(Date.parse(change.created) / 1000) * 1000;
  const entries = historyIn(printed).filter(
    ({ kind, startTime }) => !IDLE.includes(kind) && Date.parse(startTime) >= created,
  );
  const isOwn = ({ message }: Entry) => message === messageOf(change);
  const other = entries.find((one) => !isOwn(one) && hasChanges(one))?.startTime;
  const applied = entries.find((one) => isOwn(one) && one.result === "succeeded")?.startTime;
  return { ...(other !== undefined && { other }), ...(applied !== undefined && { applied }) };
};

/** The newest first. Of a stack without an update, the engine prints nothing. */
const historyIn = (printed: string): Entry[] => {
  if (printed.trim() === "") return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(printed);
  } catch {
    // The text may quote configuration.
  }
  const { data } = History.safeParse(parsed);
  if (!data) throw new EngineError("pulumi stack history printed no list of updates");
  return data;
};

/** An update whose machine was lost has no count. */
const hasChanges = ({ resourceChanges }: Entry) =>
  !resourceChanges || Object.entries(resourceChanges).some(([op, count]) => op !== "same" && count > 0);
