// Copies a stack of a bucket or a folder into the backend of the run. Its secrets stay encrypted: the passphrase or the key service of the
// stack decrypts them there too.
import { type Engine, EngineError, stackFlag } from "../../pulumi/command.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { type Exported, exportFrom } from "../../pulumi/state.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { isObject, type Json } from "../../schema/index.ts";
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

// In a backend of files, stack references answer from a snapshot: of each stack that the program reads, its outputs are there.

const STACK_REFERENCE = "pulumi:pulumi:StackReference";

interface Program {
  cwd: string;
  env: NodeJS.ProcessEnv;
  project: string;
  /** its own stack, which is copied anyway */
  stack: string;
}

/** Errors: EngineError. */
export const copyReferences = async (
  engine: Engine,
  place: Place,
  preview: Preview,
  { cwd, env, project, stack: own }: Program,
): Promise<void> => {
  for (const name of referencesIn(preview)) {
    const target = targetOf(name, project);
    if (target.project === project && target.stack === own) continue;
    await copyStack(engine, place, { name, cwd, env }, { ...target, keep: outputsOnly });
  }
};

const referencesIn = ({ steps }: Preview) =>
  new Set(
    steps
      .filter(({ urn, op }) => partsOfUrn(urn).type === STACK_REFERENCE && op !== "delete")
      .flatMap(({ newState, oldState }) => {
        const name = (newState ?? oldState)?.inputs?.name;
        return typeof name === "string" ? [name] : [];
      }),
  );

/** As such a backend names it: `STACK`, or `organization/PROJECT/STACK`. The preview has read it. */
const targetOf = (name: string, own: string) => {
  const [stack = "", project = own] = name.split("/").reverse();
  if ([stack, project].every((one) => /^(?!\.)[\w.-]+$/.test(one))) return { project, stack };
  throw new EngineError(
    `the program reads the stack ${JSON.stringify(name)}, whose name is none of a backend of files`,
  );
};

const outputsOnly = (deployment: Json): Json => {
  const resources = Array.isArray(deployment.resources) ? deployment.resources : [];
  const isStack = (one: unknown) => isObject(one) && one.type === "pulumi:pulumi:Stack";
  return { ...deployment, resources: resources.filter(isStack), pending_operations: [] };
};
