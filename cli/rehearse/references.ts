// Stack references answer from a snapshot: of each stack that the program reads, its outputs are in the backend of the rehearsal.
import type { Preview } from "../../access/preview/shape.ts";
import { partsOfUrn } from "../../access/preview/urn.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { EngineError, type RehearsalEngine } from "./engine.ts";
import type { Place } from "./place.ts";
import { copyStack } from "./stack.ts";

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
  engine: RehearsalEngine,
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

const referencesIn = ({ steps }: Preview): Set<string> =>
  new Set(
    steps
      .filter(({ urn, op }) => partsOfUrn(urn).type === STACK_REFERENCE && op !== "delete")
      .flatMap(({ newState, oldState }) => {
        const name = (newState ?? oldState)?.inputs?.name;
        return typeof name === "string" ? [name] : [];
      }),
  );

/** As a backend of files names it: `STACK`, or `organization/PROJECT/STACK`. */
const targetOf = (name: string, own: string): { project: string; stack: string } => {
  const parts = name.split("/");
  const stack = parts.at(-1) as string;
  if (parts.length === 1) return { project: own, stack };
  const [organization, project] = parts;
  if (parts.length === 3 && organization === "organization" && project) return { project, stack };
  throw new EngineError(
    `the program reads the stack ${name}, and the backend of a rehearsal has only the organization "organization": name it organization/PROJECT/STACK, or read it by a name from the configuration`,
  );
};

const outputsOnly = (deployment: Json): Json => {
  const resources = Array.isArray(deployment.resources) ? deployment.resources : [];
  const isStack = (one: unknown): boolean => isObject(one) && one.type === "pulumi:pulumi:Stack";
  return { ...deployment, resources: resources.filter(isStack), pending_operations: [] };
};
