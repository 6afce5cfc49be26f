// Copies a stack of a bucket or a folder into the backend of the run. Its secrets stay encrypted: the passphrase or the key service of the
// stack decrypts them there too.

import { type Engine, stackFlag } from "../../pulumi/command.ts";
import { type Exported, exportFrom } from "../../pulumi/state.ts";
import type { Json } from "../../schema/index.ts";
import type { Place } from "./place.ts";

/** A stack, as the engine names it where the program is. */
export interface Original {
  /** as `--stack` takes it; absent: the selected one */
  name?: string | undefined;
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
}

interface Target {
  project: string;
  stack: string;
  /** what to keep of the state; default: all */
  keep?: (deployment: Json) => Json;
}

/** Returns what the engine has stored, its secrets encrypted. Errors: EngineError. */
export const copyStack = async (
  engine: Engine,
  place: Place,
  { name, cwd, env }: Original,
  { project, stack, keep = (all) => all }: Target,
): Promise<Exported> => {
  const exported = exportFrom(await engine.must(["stack", "export", ...stackFlag(name)], { cwd, env }));
  // As the engine stores it. Its import would drop what a killed run had begun, and a run without its journal looks there.
  const { deployment, ...version } = exported;
  place.writeState(project, stack, {
    ...version,
    checkpoint: { stack: `organization/${project}/${stack}`, latest: keep(deployment) },
  });
  return exported;
};
