// The journal of the stack in the rehearsal: what an interrupted run has created, the update takes over there as it will in the real run.
import { chmodSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Config } from "../../client/config.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { isObject, type Json } from "../../schema/index.ts";
import type { Place } from "./place.ts";

interface Stack {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** path of its settings */
  settings: string;
  project: string;
  stack: string;
}

/** Copies the journals for these services. A stack of a backend of files alone: another one has a different name in the rehearsal. */
export const copyJournals = (
  place: Place,
  { cwd, env, settings, project, stack }: Stack,
  addresses: string[],
): void => {
  const config = configIn(settings);
  const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
  const journal = text(config["irm:journal"]) ?? text(env.IRM_JOURNAL);
  const name = `organization/${project}/${stack}`;
  // The path depends on the address as it is written.
  const written = [env.IRM_BASE_URL, config["irm:baseUrl"]].flatMap((one) => text(one)?.replace(/\/+$/, "") ?? []);
  for (const baseUrl of new Set([...addresses, ...written])) {
    const pathIn = (folder: string | undefined, own: NodeJS.ProcessEnv): string =>
      journalPath(name, { baseUrl, ...(folder !== undefined && { journal: folder }) } as Config, own, cwd);
    const [from, to] = [pathIn(journal, env), pathIn(place.journal, place.env)];
    if (!existsSync(from)) continue;
    copyFileSync(from, to);
    chmodSync(to, 0o600);
  }
};

const configIn = (settings: string): Json => {
  if (!existsSync(settings)) return {};
  const content: unknown = parse(readFileSync(settings, "utf8"));
  return isObject(content) && isObject(content.config) ? content.config : {};
};
