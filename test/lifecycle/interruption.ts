// Shared by the tests of interrupted runs: a program behind a proxy that holds a request, the processes of its run, and the
// conditions after the next run (docs/faults.md#nothing-lost).
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Started } from "../harness/engine-stack.ts";
import { createWorkplace, type Program, type ProgramOptions, type Workplace } from "../harness/engine-workplace.ts";
import { isRunning, processesBelow } from "../support/process.ts";
import { type Held, type HoldingProxy, startProxy } from "../support/proxy.ts";

export interface Interruption {
  place: Workplace;
  proxy: HoldingProxy;
  /** a program that reaches the server through the proxy */
  program(name: string, source: string, env?: Record<string, string>, options?: ProgramOptions): Promise<Program>;
  /** resolves when the run's request is held; a run that ends before that throws */
  during(run: Started, held: Held): Promise<void>;
  /** pid of the process that serves our resources in a run */
  providerOf(run: Started): number;
  /** kills the engine; its provider process ends by itself after `meanwhile` */
  killEngine(run: Started, meanwhile: (provider: number) => Promise<void> | void): Promise<void>;
  /** kills the engine and each provider process: a host of a language may have started another one */
  killAll(run: Started): Promise<void>;
  kill(pid: number): void;
}

/** A program of one group; `args` are further arguments of it. */
export const source = (name: string, description = "first", args = "", from = "pulumi-irm") => `
import { Group } from "${from}";
${group(name, description, args)}`;

/** A further group of such a program. */
export const group = (name: string, description = "first", args = "") =>
  `new Group("${name}", { parent: process.env.ORG!, name: "${name}", description: "${description}"${args} });\n`;

/** Of a run whose request is held: it does not time out before its release, however slow the machine is. */
export const PATIENT = { IRM_REQUEST_TIMEOUT: "600" };

/** The SDK's dynamic provider, or the plugin (scripts/build/plugin.ts). */
const PROVIDER = /dynamic-provider|plugin\/start\.js/;

export const interruptions = (): Interruption => {
  let place: Workplace;
  let proxy: HoldingProxy;
  beforeAll(async () => {
    place = await createWorkplace();
    proxy = await startProxy(() => place.server.baseUrl);
  });
  afterAll(async () => {
    await proxy.close();
    await place.close();
  });

  const providerOf = (run: Started): number => {
    const [provider, ...others] = processesBelow(run.pid, PROVIDER);
    if (provider === undefined || others.length > 0) throw new Error(`one provider process expected:\n${run.output()}`);
    return provider;
  };
  return {
    get place() {
      return place;
    },
    get proxy() {
      return proxy;
    },
    program: (name, text, env = {}, options = {}) => {
      const own = {
        ORG: place.server.organization,
        IRM_BASE_URL: proxy.url,
        // From the server itself: a token that was exchanged at the proxy would be for another audience.
        IRM_TOKEN: place.server.token,
        IRM_REQUEST_TIMEOUT: "20",
        ...env,
      };
      return place.program(name, text, own, options);
    },
    during: (run, held) => {
      const ended = run.result.then(({ output }) => Promise.reject(new Error(`it ended before that:\n${output}`)));
      return Promise.race([held.reached, ended]);
    },
    providerOf,
    killEngine: async (run, meanwhile) => {
      const provider = providerOf(run);
      process.kill(run.pid, "SIGKILL");
      await run.exited;
      try {
        await meanwhile(provider);
        await expect
          .poll(() => isRunning(provider), { timeout: 30_000, message: "the provider's process" })
          .toBe(false);
      } finally {
        if (isRunning(provider)) process.kill(provider, "SIGKILL");
      }
    },
    killAll: async (run) => {
      const providers = processesBelow(run.pid, PROVIDER);
      for (const pid of [run.pid, ...providers]) process.kill(pid, "SIGKILL");
      await run.exited;
      // A write that is under way may end after the signal.
      await expect.poll(() => providers.some(isRunning), { timeout: 30_000 }).toBe(false);
    },
    kill: (pid) => void process.kill(pid, "SIGKILL"),
  };
};

/** L1, L2, L3: the state has each record of that table once. */
export const expectOne = (place: Workplace, program: Program, table: string, name: string): string => {
  const rows = place.rows(table, "name = ?", name);
  const { resources } = program.state();
  const held = resources.filter(({ outputs }) => outputs?.name === name && outputs?.uid !== undefined);
  expect(held.map(({ id }) => id)).toEqual(rows.map(({ uid }) => uid));
  expect(rows).toHaveLength(1);
  // A run that only adopted may have no journal.
  const journal = join(place.folder, "journal");
  expect(existsSync(journal) ? readdirSync(journal).filter((file) => file.endsWith(".lock")) : []).toEqual([]);
  return rows[0]?.uid as string;
};

/** L5 as well: the whole stack has nothing to do. */
export const expectWhole = async (place: Workplace, program: Program, table: string, name: string): Promise<string> => {
  const uid = expectOne(place, program, table, name);
  await program.must("preview", "--expect-no-changes");
  return uid;
};
