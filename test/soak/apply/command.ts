// `irm apply` in a process group of its own, as a job runs it: it can be killed as a whole, or one of the processes that it has started.
import { sharedEnv } from "../../harness/irm-command.ts";
import { startCommandIn } from "../../support/command.ts";
import { processesBelow } from "../../support/process.ts";
import type { Group } from "../change/group.ts";
import { CHANGE } from "../change/teller.ts";

export interface Applied {
  /** null: it was killed */
  code: number | null;
  /** undefined: it printed none */
  report?: { applied: number; refused: { method: string; message: string }[]; missing: number };
  /** what it and the engine said */
  output: string;
}

/** `node`: the processes of the program, where it has some of its own, and of the provider. */
export const VICTIMS = ["command", "engine", "node", "all"] as const;
type Victim = (typeof VICTIMS)[number];

export const startApply = ({ program, flags }: Pick<Group, "program" | "flags">) => {
  const args = ["apply", CHANGE, "--stack", "dev", "--yes", "--format", "json", ...flags];
  const started = startCommandIn({ cwd: program.folder, env: sharedEnv(program), detached: true }, args);
  const pid = started.process.pid as number;
  const ended = started.finished.then(
    ({ code, stdout, stderr }): Applied => ({ code, ...reportIn(stdout), output: `${stderr}\n${stdout}` }),
  );
  const endGroup = (): void => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All of it has ended.
    }
  };
  return {
    ended,
    /** kill -9, and then the end of all that is left of it */
    kill: async (victim: Victim): Promise<void> => {
      if (victim === "all") endGroup();
      else for (const one of pidsOf(victim, pid)) process.kill(one, "SIGKILL");
      // What is left ends by itself, or is stuck: a program of the SDK may report for ever that its engine is gone.
      setTimeout(endGroup, GRACE_MS).unref();
      await ended;
    },
  };
};

const GRACE_MS = 60_000;

const pidsOf = (victim: Exclude<Victim, "all">, command: number): number[] => {
  if (victim === "command") return [command];
  const engines = processesBelow(command, /^\S*pulumi up /);
  return victim === "engine" ? engines : engines.flatMap((engine) => processesBelow(engine, /\bnode\b/));
};

const reportIn = (stdout: string): Pick<Applied, "report"> => {
  try {
    return { report: JSON.parse(stdout) };
  } catch {
    return {};
  }
};
