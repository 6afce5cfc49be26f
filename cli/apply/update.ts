// The real update: the engine with the stack's own state, in this terminal. Program, plugin and engine have no credentials of the services.
import { engineWith, type RunOperation, stackFlag } from "../../pulumi/command.ts";
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
