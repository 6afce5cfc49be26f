// The process of the commands that a worker runs one by one, each sent as a message: it loads `irm` once.
import { irm } from "../../cli/program.ts";

export interface IrmCommand {
  cwd: string;
  env: NodeJS.ProcessEnv;
  args: readonly string[];
  /** what ends its output on both streams */
  end: string;
}

process.on("message", async ({ cwd, env, args, end }: IrmCommand) => {
  process.chdir(cwd);
  process.env = env;
  const code = await irm(args);
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
  process.send?.(code);
});
