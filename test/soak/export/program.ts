// Runs what `irm export` wrote: the program in TypeScript, in this process, with the provider of its form.
import { mkdirSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import type { Files } from "../../../access/export/project.ts";
import * as dynamic from "../../../provider/index.ts";
import * as native from "../../../provider/program/native/index.ts";
import { startServer, type TestServer } from "../../harness/api-server.ts";
import { fastClock, type ManualClock, type Pace, timeAt } from "../../harness/clock.ts";
import { dynamicProvider } from "../../harness/small-engine/dynamic.ts";
import { environmentWith } from "../../harness/small-engine/environment.ts";
import { nativeHere } from "../../harness/small-engine/plugin-here.ts";
import { runProgram } from "../../harness/small-engine/program-host.ts";
import type { Snapshot } from "../../harness/small-engine/provider.ts";
import { temporaryFolder } from "../../support/command.ts";

export type Deployment = ReturnType<typeof deploy>;

export const PROJECT = "exported";

// Creates wait for each other, by this clock (provider/recovery/batch.ts).
const pace: Pace = { startMs: Date.now(), speed: 20 };

export const startPacedServer = (): Promise<TestServer> =>
  startServer({ clock: Object.assign(() => timeAt(pace), fastClock(pace)) as unknown as ManualClock });

/** A stack of the program in `files`. */
export const deploy = (api: TestServer, files: Files, isNative: boolean) => {
  // The journal must be outside the project.
  const { path, write, remove } = temporaryFolder();
  const [folder, journal] = [path("project"), path("journal")];
  mkdirSync(journal);
  for (const [name, text] of files) write(join("project", name), text);
  const program = compile(files.get("index.ts") as string, folder, isNative ? native : dynamic);
  const state = new Map<string, Snapshot>();
  const stack = `organization/${PROJECT}/dev`;
  return {
    ...{ state, remove },
    /** again, with the same state */
    up: async (config: Readonly<Record<string, string>> = {}) => {
      const own = {
        ...{ IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl, IRM_IDENTITY: api.identity },
        IRM_IDENTITY_TOKEN: await api.identityToken("owner"),
        IRM_JOURNAL: journal,
        PULUMI_BACKEND_URL: `file://${folder}`,
      };
      // The program reads that of its process.
      Object.assign(process.env, own);
      const options = { pace, atPoint: async () => undefined, log: () => undefined };
      const environment = { ...environmentWith(options), env: own, cwd: folder };
      const provider = await (isNative ? nativeHere(environment, stack) : dynamicProvider(environment, stack));
      try {
        return await runProgram({ program, stack, provider, config, state });
      } finally {
        await provider.end();
        for (const name of Object.keys(own)) delete process.env[name];
      }
    },
  };
};

/** The program as a function; what it imports is given. Its files are in the folder. */
const compile = (source: string, folder: string, irm: object): (() => Promise<object>) => {
  const body = stripTypeScriptTypes(source)
    .replace(/^import \* as pulumi from "@pulumi\/pulumi";$/m, "")
    .replace(/^import \{([^}]*)\} from "pulumi-irm(?:\/plugin)?";$/m, "const {$1} = irm;")
    .replace(/(?<=file: )"([\w.]+)"/g, (_, name: string) => JSON.stringify(join(folder, name)));
  const run = new Function("irm", "pulumi", `"use strict";\n${body}`);
  return async () => {
    run(irm, pulumi);
    return {};
  };
};
