// A Pulumi program in its own folder, against its own server process, as a user of the package has it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fetch } from "undici";
import { afterAll, beforeAll } from "vitest";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { ENGINE_NODE } from "../support/compiled.ts";
import { type ReadyLine, root, type SeenRequest, startServerProcess, writesOf } from "./api-process.ts";
import type { TestServer } from "./api-server.ts";
import { createStack, keyOf, type Stack } from "./engine-stack.ts";

export type Workplace = Awaited<ReturnType<typeof createWorkplace>>;

export type Json = Record<string, unknown>;
export interface Row {
  uid: string;
  parent: string | null;
  name: string;
  body: Json;
  [column: string]: unknown;
}

export interface ProgramOptions {
  /**
   * Each run has a process of its own, as on the command line. Otherwise one process runs the program each time, as an inline
   * program of the Automation API, which takes half of the processor time.
   */
  ownProcess?: boolean;
  /** That one process runs no other program: an error that one leaves behind would be one of the next. */
  ownHost?: boolean;
  /** folder of the provider `irm`, for native resources */
  plugin?: string;
}

export interface Program extends Stack {
  folder: string;
  write(source: string): void;
  /** the stack's configuration, as `pulumi config set` writes it, and nothing else in it */
  configure(config: Readonly<Record<string, string>>): void;
}

/** `makeDatabase` makes the one that the server starts with; by default the server does. */
export const createWorkplace = async (flags: readonly string[] = [], makeDatabase?: (file: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), "irm-test-"));
  const db = join(folder, "irm.db");
  makeDatabase?.(db);
  const server = await startServerProcess(["--db", db, ...flags]);
  const tokenFile = join(folder, "identity-token");
  const hosts: Awaited<ReturnType<typeof startLanguageHost>>[] = [];
  writeFileSync(tokenFile, await mintDevToken(server.issuer, { subject: "owner" }), { mode: 0o600 });
  const env = {
    IRM_BASE_URL: server.baseUrl,
    IRM_AUTH_URL: server.authUrl,
    IRM_IDENTITY: server.identity,
    IRM_IDENTITY_TOKEN_FILE: tokenFile,
    IRM_JOURNAL: join(folder, "journal"),
  };
  const rows = (table: string, where = "TRUE", ...values: string[]) => rowsOf(db, table, where, values);
  const writes = async (): Promise<SeenRequest[]> => writesOf(await server.takeRequests());
  return {
    /** the running server */
    server,
    folder,
    /** environment that a CI job has: addresses, identity, a file with the workload's token */
    env: env as Record<string, string>,
    /** a program with its own folder and stack; `write` replaces its source */
    program: async (
      name: string,
      source: string,
      own: Record<string, string> = {},
      { ownProcess = false, ownHost = false, plugin }: ProgramOptions = {},
    ): Promise<Program> => {
      const program = join(folder, name);
      linkPackages(program);
      writeFileSync(join(program, "package.json"), JSON.stringify({ name, type: "module" }));
      writeFileSync(
        join(program, "Pulumi.yaml"),
        `name: ${name}\nruntime: nodejs\nmain: index.js\n${pluginsOf(plugin)}`,
      );
      // Compiled here once. Otherwise each of the many processes would load the type stripper first.
      const write = (text: string) => writeFileSync(join(program, "index.js"), stripTypeScriptTypes(text));
      write(source);
      const all = { ...env, ...own };
      writeFileSync(join(program, ENVIRONMENT), JSON.stringify(all));
      const host = ownProcess ? undefined : await (ownHost ? startLanguageHost() : languageHostOfWorker());
      if (host && ownHost) hosts.push(host);
      const languageHost = host?.address;
      const stack = await createStack({ folder: program, program, env: all, languageHost });
      return { ...stack, folder: program, write, configure: (config) => configure(program, config) };
    },
    /** a copy of a folder of examples with its packages, in which the shared process runs the program of a stack */
    example: (name: string) => {
      const program = join(folder, name);
      cpSync(join(root, "examples", name), program, { recursive: true });
      linkPackages(program);
      writeFileSync(join(program, ENVIRONMENT), JSON.stringify(env));
      const open = async (stack: string): Promise<Stack> => {
        const { address: languageHost } = await languageHostOfWorker();
        return createStack({ folder: join(folder, `${name}-${stack}`), program, name: stack, env, languageHost });
      };
      return { folder: program, open };
    },
    /** rows of a table of the server, by a condition on its columns */
    rows,
    /** uid of the first row of this name */
    uidOf: (table: string, name: string): string => rows(table, "name = ?", name)[0]?.uid as string,
    /** the requests that change records, since requests were taken last */
    writes,
    /** the names of their operations */
    operations: async (): Promise<string[]> => (await writes()).map(({ operation }) => operation as string),
    /** a call of the API as the owner */
    call: (method: string, path: string, body?: unknown) => call(server, method, path, body),
    /** makes a record of the IAM service as the owner, such as `groups/PARENT`; returns its uid */
    create: async (path: string, body: object): Promise<string> => {
      const { status, json } = await call(server, "POST", `/iam/v2beta1/${path}`, body);
      if (status !== 200) throw new Error(`POST ${path}: ${status} ${JSON.stringify(json)}`);
      return json.uid as string;
    },
    close: async (): Promise<void> => {
      await server.stop();
      for (const host of hosts) host.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** That of the tests of a suite or file: there once the hooks of the suite run, before those that follow. It ends with the suite. */
export const openWorkplace = (...flags: string[]): Workplace => {
  let own: Workplace;
  beforeAll(async () => {
    own = await createWorkplace(flags);
  });
  afterAll(() => own.close());
  return new Proxy({} as Workplace, { get: (_, name) => Reflect.get(own, name) });
};

/** Gives a folder this package and the SDK. */
const linkPackages = (folder: string): void => {
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  // Vitest makes one for this clone (test/support/compile-engine.ts).
  symlinkSync(process.env.IRM_TEST_PACKAGE ?? root, join(folder, "node_modules", "pulumi-irm"));
  symlinkSync(join(root, "node_modules", "@pulumi", "pulumi"), join(folder, "node_modules", "@pulumi", "pulumi"));
};

/** The server of a workplace, for helpers that call one in this process. */
export const callerOf = (place: Workplace): Pick<TestServer, "call"> => {
  const call = async (method: string, target: string, options: { body?: unknown } = {}) => {
    const { status, json } = await place.call(method, target, options.body);
    return { status, json, text: JSON.stringify(json) };
  };
  return { call } as never;
};

/** The lines of Pulumi.yaml that say where the plugin is. */
const pluginsOf = (folder: string | undefined): string =>
  folder === undefined ? "" : `plugins:\n  providers:\n    - name: irm\n      path: ${folder}\n`;

const ENVIRONMENT = "environment.json";

const startLanguageHost = async () => {
  const child = spawn(
    process.execPath,
    ["--no-warnings", join(root, "test", "harness", "language-host.ts"), ENVIRONMENT],
    {
      env: { ...process.env, ...ENGINE_NODE },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  // It ends after this process, which need not wait for it.
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref();
  return { address: `127.0.0.1:${port}`, stop: () => child.stdin.end() };
};

// It ends when its standard input does.
let languageHost: ReturnType<typeof startLanguageHost> | undefined;
const languageHostOfWorker = () => (languageHost ??= startLanguageHost());

/** Writes the configuration of the stack of a program's folder. */
export const configure = (program: string, config: Readonly<Record<string, string>>): void => {
  const file = join(program, "Pulumi.dev.yaml");
  const own = keyOf(readFileSync(file, "utf8"));
  const lines = Object.entries(config).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
  writeFileSync(file, `${own}config:\n${lines.join("")}`);
};

const rowsOf = (file: string, table: string, where: string, values: string[]): Row[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare(`SELECT * FROM ${table} WHERE ${where} ORDER BY uid`).all(...values);
    return rows.map((row) => ({ ...row, body: JSON.parse(row.body as string) }) as Row);
  } finally {
    database.close();
  }
};

const call = async ({ baseUrl, token }: ReadyLine, method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: (text ? JSON.parse(text) : {}) as Json };
};
