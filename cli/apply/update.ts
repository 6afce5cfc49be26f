// The real update: the engine with the stack's own state, in this terminal. Program, plugin and engine have no credentials of the services.

import { z } from "zod";
import type { Change } from "../../access/change/change.ts";
import { type Engine, EngineError, engineWith, type RunOperation, stackFlag } from "../../pulumi/command.ts";
import type { Original } from "../run/copy-stack.ts";
import type { ProgramUser } from "../run/user.ts";

interface Update {
  /** the engine and its first arguments */
  command: readonly [string, ...string[]];
  operation: RunOperation;
  /** of the change */
  arguments: readonly string[];
  /** as the engine takes it */
  stack: string | undefined;
  /** by which the stack's history names it */
  message: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** stdout has the report alone */
  isQuiet: boolean;
  user?: ProgramUser | undefined;
}

const FLAGS = ["--yes", "--skip-preview", "--refresh"];

/**
 * Returns the exit code of the engine, which has printed its progress. An interrupt of the terminal reaches the engine too: it ends its steps
 * and stores what they have done. Errors: EngineError.
 */
export const runUpdate = async (update: Update, signal: AbortSignal): Promise<number> => {
  const { command, operation, stack, message, cwd, env, isQuiet, user } = update;
  const args = [operation, ...FLAGS, "--message", message, ...update.arguments, ...stackFlag(stack)];
  const stdio = ["inherit", isQuiet ? 2 : "inherit", "inherit"] as const;
  const { end } = await engineWith(command, { signal, user }).run(args, { cwd, env, stdio: [...stdio] });
  return typeof end === "number" ? end : 1;
};

// The updates that a stack has had since a change was made. One that is not of the change may have been reviewed later: the change must not
// undo it.

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

/** By which the history of a stack names the updates of a change. */
export const messageOf = ({ digest }: Pick<Change, "digest">): string => `npx pulumi-irm apply ${digest}`;

export interface Updates {
  /** when the last update began that is not one of the change; undefined: there is none */
  other?: string;
  /** when an update of the change began that went through; undefined: there is none */
  applied?: string;
}

/** Errors: EngineError. */
export const updatesSince = async (
  engine: Engine,
  change: Pick<Change, "created" | "digest">,
  { name, cwd, env }: Original,
): Promise<Updates> => {
  const printed = await engine.must(["stack", "history", "--json", ...stackFlag(name)], { cwd, env });
  const entries = historyIn(printed).filter(
    ({ kind, startTime }) => !IDLE.includes(kind) && Date.parse(startTime) >= wholeSeconds(change.created),
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

/** An update that was under way when its machine was lost has no count. */
const hasChanges = ({ resourceChanges }: Entry) =>
  !resourceChanges || Object.entries(resourceChanges).some(([op, count]) => op !== "same" && count > 0);

/** The engine writes whole seconds. */
const wholeSeconds = (time: string) => Math.floor(Date.parse(time) / 1000) * 1000;
