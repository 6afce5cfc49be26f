// The journal of the stack on twins: what an interrupted run has created, the update takes over there as it will in the real run.
import { existsSync, writeFileSync } from "node:fs";
import type { Config } from "../../client/config.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import type { Place } from "./place.ts";
import { type ProgramUser, readAs } from "./user.ts";

interface Stack {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** its configuration, plain values as they are */
  config: Json;
  /** organization/project/stack */
  name: string;
  preview: Preview;
  /** of the services */
  addresses: readonly string[];
  user?: ProgramUser | undefined;
}

/** Copies the journals to where a run with the environment `to` looks for them. */
export const copyJournals = (place: Place, stack: Stack, to: NodeJS.ProcessEnv): void => {
  const { cwd, env, config, name, preview, addresses, user } = stack;
  const providers = providersIn(preview);
  // A plugin that does not know the organization has the provider's id in its place (plugin/names.ts).
  const ids = providers.flatMap(({ id }) => (id === undefined ? [] : [name.replace(/^[^/]+/, `~${id}`)]));
  const [usual] = [config["irm:journal"], env.IRM_JOURNAL].flatMap(textIn);
  const folders = [usual, ...providers.flatMap(({ journal }) => textIn(journal))];
  // The path depends on the address as it is written.
  const urls = [env.IRM_BASE_URL, config["irm:baseUrl"], ...providers.map(({ baseUrl }) => baseUrl)].flatMap(textIn);
  for (const own of new Set([name, ...ids]))
    for (const baseUrl of new Set([...addresses, ...urls.map((one) => one.replace(/\/+$/, ""))])) {
      const pathIn = (journal: string | undefined, at: NodeJS.ProcessEnv): string =>
        journalPath(own, { baseUrl, ...(journal !== undefined && { journal }) } as Config, at, cwd);
      const copy = pathIn(place.journal, to);
      const from = folders.map((folder) => pathIn(folder, env)).find(existsSync);
      if (from === undefined) continue;
      writeFileSync(copy, readAs(user, from), { mode: 0o600 });
    }
};

const textIn = (value: unknown): string[] => (typeof value === "string" && value !== "" ? [value] : []);

const providersIn = ({ steps }: Preview): Json[] =>
  steps
    .filter(({ urn }) => partsOfUrn(urn).type === "pulumi:providers:irm")
    .map(({ oldState, newState }) => ({ ...valuesIn((newState ?? oldState)?.inputs), id: oldState?.id ?? undefined }));
