// Copies a stack of a bucket or a folder, and its journals, into the place of a run. Secrets stay encrypted: the passphrase or the key service
// of the stack decrypts them there too.

import { existsSync, writeFileSync } from "node:fs";
import type { Config } from "../../client/config.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { type Engine, EngineError, stackFlag } from "../../pulumi/command.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { type Exported, exportFrom } from "../../pulumi/state.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import { isObject, type Json } from "../../schema/index.ts";
import type { Place } from "./place.ts";
import { type ProgramUser, readAs } from "./user.ts";

/** A stack, by its name in the folder of the program. */
export interface Original {
  /** for `--stack`; absent: the selected one */
  name?: string | undefined;
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** `keep` selects from the state; default: all. Returns the stored state, with encrypted secrets. Errors: EngineError. */
export const copyStack = async (
  engine: Engine,
  place: Place,
  { name, cwd, env }: Original,
  { project, stack, keep = (all) => all }: { project: string; stack: string; keep?: (deployment: Json) => Json },
): Promise<Exported> => {
  const exported = exportFrom(await engine.must(["stack", "export", ...stackFlag(name)], { cwd, env }));
  // In the engine's own form. Its import would drop the pending operations of a killed run, which a run without its journal reads.
  const { deployment, ...version } = exported;
  place.writeState(project, stack, {
    ...version,
    checkpoint: { stack: `organization/${project}/${stack}`, latest: keep(deployment) },
  });
  return exported;
};

/**
 * Copies the outputs of each stack that the program reads: in a backend of files, stack references answer from a snapshot. The program's own
 * stack is there already. Errors: EngineError.
 */
export const copyReferences = async (
  engine: Engine,
  place: Place,
  { steps }: Preview,
  { cwd, env, project, stack: own }: { cwd: string; env: NodeJS.ProcessEnv; project: string; stack: string },
): Promise<void> => {
  const names = steps
    .filter(({ urn, op }) => partsOfUrn(urn).type === "pulumi:pulumi:StackReference" && op !== "delete")
    .map(({ newState, oldState }) => (newState ?? oldState)?.inputs?.name)
    .filter((name) => typeof name === "string");
  for (const name of new Set(names)) {
    const target = targetOf(name, project);
    if (target.project === project && target.stack === own) continue;
    await copyStack(engine, place, { name, cwd, env }, { ...target, keep: outputsOnly });
  }
};

/** The name in such a backend: `STACK`, or `organization/PROJECT/STACK`. The preview has read it. */
const targetOf = (name: string, own: string) => {
  const [stack = "", project = own] = name.split("/").reverse();
  if ([stack, project].every((one) => /^(?!\.)[\w.-]+$/.test(one))) return { project, stack };
  throw new EngineError(
    `the program reads the stack ${JSON.stringify(name)}, whose name is none of a backend of files`,
  );
};

const outputsOnly = (deployment: Json): Json => {
  const resources = Array.isArray(deployment.resources) ? deployment.resources : [];
  const stacks = resources.filter((one) => isObject(one) && one.type === "pulumi:pulumi:Stack");
  return { ...deployment, resources: stacks, pending_operations: [] };
};

/**
 * Copies the journals for a run with the environment `to`. On twins, the update adopts the records of an interrupted run, as the real run
 * will. `config`: of the stack, without decrypted secrets. `name`: organization/project/stack. `addresses`: of the services.
 */
export const copyJournals = (
  place: Place,
  {
    cwd,
    env,
    config,
    name,
    preview,
    addresses,
    user,
  }: {
    cwd: string;
    env: NodeJS.ProcessEnv;
    config: Json;
    name: string;
    preview: Preview;
    addresses: readonly string[];
    user?: ProgramUser | undefined;
  },
  to: NodeJS.ProcessEnv,
): void => {
  const providers = providersIn(preview);
  // A plugin that does not know the organization uses the provider's id (plugin/names.ts).
  const ids = providers.flatMap(({ id }) => (id === undefined ? [] : [name.replace(/^[^/]+/, `~${id}`)]));
  const [usual] = [config["irm:journal"], env.IRM_JOURNAL].flatMap(textIn);
  const folders = [usual, ...providers.flatMap(({ journal }) => textIn(journal))];
  // The path depends on the spelling of the address.
  const urls = [env.IRM_BASE_URL, config["irm:baseUrl"], ...providers.map(({ baseUrl }) => baseUrl)].flatMap(textIn);
  for (const own of new Set([name, ...ids]))
    for (const baseUrl of new Set([...addresses, ...urls.map((one) => one.replace(/\/+$/, ""))])) {
      const pathIn = (journal: string | undefined, at: NodeJS.ProcessEnv) =>
        journalPath(own, { baseUrl, ...(journal !== undefined && { journal }) } as Config, at, cwd);
      const copy = pathIn(place.journal, to);
      const from = folders.map((folder) => pathIn(folder, env)).find(existsSync);
      if (from === undefined) continue;
      writeFileSync(copy, readAs(user, from), { mode: 0o600 });
    }
};

const textIn = (value: unknown) => (typeof value === "string" && value !== "" ? [value] : []);

const providersIn = ({ steps }: Preview): Json[] =>
  steps
    .filter(({ urn }) => partsOfUrn(urn).type === "pulumi:providers:irm")
    .map(({ oldState, newState }) => ({ ...valuesIn((newState ?? oldState)?.inputs), id: oldState?.id ?? undefined }));
