// The actions of others that action.yml uses, by their published inputs: each does what matters to the action.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import type { Stub } from "./github-runner.ts";
import { TOKEN } from "./posts.ts";

export interface Stores {
  /** uploaded files: their texts by name, those of the last run */
  artifacts: Map<string, string>;
  /** the same of every run, by `RUN NAME`, with the name of the file */
  uploads: Map<string, { file: string; text: string }>;
  /** saved folders by key */
  caches: Map<string, string>;
  /** where saved folders are kept */
  folder: string;
}

/** `engine`: folder of pulumi, which is not on the PATH yet. */
export const otherActions = ({ artifacts, uploads, caches, folder }: Stores, engine: string | undefined) => ({
  "actions/checkout": known(["fetch-depth", "persist-credentials"], () => ({})),
  // https://github.com/actions/setup-node/blob/v6.5.0/action.yml
  "actions/setup-node": known(["node-version", "package-manager-cache"], () => ({})),
  // https://github.com/pulumi/actions/blob/v7.0.0/action.yml
  "pulumi/actions": known(["pulumi-version"], (_, env) => {
    if (engine === undefined) throw new Error("pulumi was to be on the PATH");
    env.PATH = [engine, env.PATH].join(delimiter);
    return {};
  }),
  // https://github.com/actions/cache/blob/v6.1.0/restore/action.yml
  "actions/cache/restore": known(["path", "key", "restore-keys"], ({ path = "", key = "", "restore-keys": begin }) => {
    const found = [...caches].filter(([one]) => one === key || (begin && one.startsWith(begin))).at(-1);
    if (found) cpSync(found[1], path, { recursive: true });
    return {};
  }),
  // https://github.com/actions/cache/blob/v6.1.0/save/action.yml
  "actions/cache/save": known(["path", "key"], ({ path = "", key = "" }) => {
    // A path that does not exist is a warning.
    if (!existsSync(path)) return {};
    if (/,/.test(key) || caches.has(key)) throw new Error(`the cache key ${key} is not allowed, or taken`);
    const copy = join(folder, `cache-${caches.size}`);
    cpSync(path, copy, { recursive: true });
    caches.set(key, copy);
    return {};
  }),
  // https://github.com/actions/upload-artifact/blob/v7.0.1/action.yml
  "actions/upload-artifact": known(
    ["name", "path", "archive", "if-no-files-found", "overwrite"],
    (
      { name: given = "artifact", path: file = "", archive, overwrite },
      { GITHUB_WORKSPACE = "", GITHUB_RUN_ID = "" },
    ) => {
      const path = resolve(GITHUB_WORKSPACE, file);
      // A file that is not archived keeps its own name.
      const name = archive === "false" ? basename(path) : given;
      const key = `${GITHUB_RUN_ID} ${name}`;
      if (uploads.has(key) && overwrite !== "true") throw new Error(`there is an artifact ${name}`);
      if (/[\r\n":<>|*?\\/]/.test(name)) throw new Error(`${name} is no name of an artifact`);
      const text = readFileSync(path, "utf8");
      artifacts.set(name, text);
      uploads.set(key, { file: basename(path), text });
      return { "artifact-id": "1", "artifact-url": `https://github.example/artifacts/${name}` };
    },
  ),
  // https://github.com/actions/download-artifact/blob/v8.0.1/action.yml
  "actions/download-artifact": known(
    ["name", "path", "run-id", "github-token"],
    ({ name = "", path = "", "run-id": run, "github-token": token }, { GITHUB_WORKSPACE = "", GITHUB_RUN_ID = "" }) => {
      const found = uploads.get(`${run ?? GITHUB_RUN_ID} ${name}`);
      // Without a token, only artifacts of this run can be seen.
      if (found === undefined || (run !== undefined && token !== TOKEN))
        throw new Error(`run ${run ?? GITHUB_RUN_ID} has no artifact ${name}`);
      mkdirSync(resolve(GITHUB_WORKSPACE, path), { recursive: true });
      writeFileSync(resolve(GITHUB_WORKSPACE, path, found.file), found.text);
      return {};
    },
  ),
});

const known =
  (names: readonly string[], act: Stub): Stub =>
  (inputs, env) => {
    const unknown = Object.keys(inputs).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`unexpected inputs: ${unknown.join(", ")}`);
    return act(inputs, env);
  };
