// Copies a stack into the backend of the rehearsal. Its secrets stay encrypted: as they are, where the passphrase or the key service of the
// stack decrypts them there too. What only the backend decrypts goes through a pipe from one engine to another, which encrypts it again.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { SECRET_SIGNATURE } from "../../access/preview/value.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { EngineError, type RehearsalEngine } from "./engine.ts";
import type { Place } from "./place.ts";

/** A stack, as the engine names it where the program is. */
export interface Original {
  /** as `--stack` takes it; absent: the selected one */
  name?: string;
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** the stack's settings */
  settings?: string;
}

export interface CopiedStack {
  /** path of the copy of its settings */
  settings: string;
  /** what the commands of this stack need beside the environment of the place */
  env: NodeJS.ProcessEnv;
  /** what the engine stores of it: secrets are encrypted */
  deployment: Json;
}

interface Target {
  project: string;
  stack: string;
  /** what to keep of the state; default: all */
  keep?: (deployment: Json) => Json;
  /** Encrypts again whatever the stack's secrets are encrypted with. */
  reencrypt?: boolean;
}

/** Errors: EngineError. */
export const copyStack = async (
  engine: RehearsalEngine,
  place: Place,
  original: Original,
  { project, stack, keep = (all) => all, reencrypt }: Target,
): Promise<CopiedStack> => {
  const from = { cwd: original.cwd, env: original.env };
  const command = ["stack", "export", ...stackFlag(original)];
  const exported = deploymentIn(await engine.must(command, from));
  const { deployment } = exported;
  const isOfBackend = reencrypt ?? typeOfSecrets(deployment) === "service";
  const cwd = place.projectOf(project);
  const settings = join(cwd, `Pulumi.${stack}.yaml`);
  const passphrase = {
    PULUMI_CONFIG_PASSPHRASE: randomBytes(32).toString("hex"),
    PULUMI_CONFIG_PASSPHRASE_FILE: undefined,
  };
  const own = { cwd, env: { ...place.env, ...passphrase } };
  await engine.must(["stack", "init", stack, "--secrets-provider", "passphrase"], own);
  const to = isOfBackend ? own : { cwd, env: place.env };
  const source = isOfBackend ? deploymentIn(await engine.must([...command, "--show-secrets"], from)) : exported;
  const kept = { ...source, deployment: { ...keep(source.deployment), ...(isOfBackend && secretsOf(settings)) } };
  await engine.must(["stack", "import", "--stack", stack], { ...to, input: JSON.stringify(kept) });
  keepPending(place.checkpointOf(project, stack), kept.deployment, isOfBackend);
  if (!isOfBackend) copySettings(original.settings, settings);
  else await encryptSettings(engine, original, settings, own);
  return { settings, env: isOfBackend ? passphrase : {}, deployment };
};

/**
 * The import drops what a killed run had begun. A run without its journal looks there, so the copy has it. `isClear`: secrets are not
 * encrypted, and an operation with one stays away.
 */
const keepPending = (checkpoint: string, { pending_operations: pending }: Json, isClear: boolean): void => {
  if (!Array.isArray(pending)) return;
  const kept = pending.filter((one) => !(isClear && JSON.stringify(one).includes(SECRET_SIGNATURE)));
  if (kept.length === 0) return;
  const stored = JSON.parse(readFileSync(checkpoint, "utf8")) as { checkpoint: { latest: Json } };
  stored.checkpoint.latest.pending_operations = kept;
  writeFileSync(checkpoint, JSON.stringify(stored));
};

const stackFlag = ({ name }: Original): string[] => (name === undefined ? [] : ["--stack", name]);

interface Exported {
  version?: unknown;
  deployment: Json;
}

const deploymentIn = (text: string): Exported => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The error of the parser would show a part of the state.
  }
  if (isObject(parsed) && isObject(parsed.deployment)) return parsed as unknown as Exported;
  throw new EngineError("pulumi stack export printed no deployment");
};

/** `passphrase`, `cloud` for a key service, `service` for the backend's own. */
const typeOfSecrets = ({ secrets_providers: provider }: Json): unknown =>
  isObject(provider) ? provider.type : undefined;

const copySettings = (from: string | undefined, to: string): void => {
  const text = from !== undefined && existsSync(from) ? readFileSync(from) : "";
  writeFileSync(to, text, { mode: 0o600 });
};

/** The passphrase of the new stack, whose salt its settings have, encrypts what the import gets in clear text. */
const secretsOf = (settings: string): Json => {
  const { encryptionsalt: salt } = parse(readFileSync(settings, "utf8")) as Json;
  return { secrets_providers: { type: "passphrase", state: { salt } } };
};

/** Plain values are copied; each value with a secret goes to the engine through a pipe. */
const encryptSettings = async (
  engine: RehearsalEngine,
  original: Original,
  file: string,
  own: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> => {
  const { cwd, env, settings } = original;
  const before =
    settings !== undefined && existsSync(settings) ? (parse(readFileSync(settings, "utf8")) as unknown) : {};
  const config = isObject(before) && isObject(before.config) ? before.config : {};
  const hidden = Object.keys(config).filter((key) => hasSecret(config[key]));
  const plain = Object.fromEntries(Object.entries(config).filter(([key]) => !hidden.includes(key)));
  const salt = parse(readFileSync(file, "utf8")) as Json;
  writeFileSync(file, stringify({ ...salt, config: plain }), { mode: 0o600 });
  if (hidden.length === 0) return;
  const values = JSON.parse(
    await engine.must(["config", "--show-secrets", "--json", ...stackFlag(original)], { cwd, env }),
  ) as Json;
  for (const key of hidden) {
    const { value } = (values[key] ?? {}) as { value?: string };
    const command = ["config", "set", key, "--secret", "--config-file", file];
    await engine.must(command, { ...own, input: value ?? "" });
  }
};

const hasSecret = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasSecret)
    : isObject(value) && (typeof value.secure === "string" || Object.values(value).some(hasSecret));
