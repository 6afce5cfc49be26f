// The real update: the engine with the stack's own state, in this terminal. Program, plugin and engine have no credentials of the services.
import { spawn } from "node:child_process";
import type { RunOperation } from "../../access/preview/run-preview.ts";
import { endOf } from "../run/engine.ts";
import { stackFlag } from "../run/stack.ts";
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
  const [program, ...first] = command;
  const args = [...first, operation, ...FLAGS, "--message", message, ...update.arguments, ...stackFlag(stack)];
  // The setup of a clone runs the engine in this folder.
  const own = { ...env, INIT_CWD: cwd };
  const child = spawn(program, args, {
    cwd,
    env: own,
    stdio: ["inherit", isQuiet ? 2 : "inherit", "inherit"],
    ...user?.spawn,
  });
  const stop = (): void => void child.kill("SIGINT");
  signal.addEventListener("abort", stop);
  try {
    return await endOf(child, program);
  } finally {
    signal.removeEventListener("abort", stop);
  }
};
