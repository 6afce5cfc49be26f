// In a backend of files, stack references answer from a snapshot: of each stack that the program reads, its outputs are there.

import { type Engine, EngineError } from "../../pulumi/command.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { copyStack } from "./copy-stack.ts";
import type { Place } from "./place.ts";

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

const referencesIn = ({ steps }: Preview): Set<string> =>
  new Set(
    steps
      .filter(({ urn, op }) => partsOfUrn(urn).type === STACK_REFERENCE && op !== "delete")
      .flatMap(({ newState, oldState }) => {
        const name = (newState ?? oldState)?.inputs?.name;
        return typeof name === "string" ? [name] : [];
      }),
  );

/** As such a backend names it: `STACK`, or `organization/PROJECT/STACK`. The preview has read it. */
const targetOf = (name: string, own: string): { project: string; stack: string } => {
  const [stack = "", project = own] = name.split("/").reverse();
  if ([stack, project].every((one) => /^(?!\.)[\w.-]+$/.test(one))) return { project, stack };
  throw new EngineError(
    `the program reads the stack ${JSON.stringify(name)}, whose name is none of a backend of files`,
  );
};

const outputsOnly = (deployment: Json): Json => {
  const resources = Array.isArray(deployment.resources) ? deployment.resources : [];
  const isStack = (one: unknown): boolean => isObject(one) && one.type === "pulumi:pulumi:Stack";
  return { ...deployment, resources: resources.filter(isStack), pending_operations: [] };
};
