// A server with foreign records of every kind, below which programs create theirs. The testbed calls it as the owner.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationName } from "../../../schema/index.ts";
import { createLog } from "../../../server/base/log.ts";
import { createServer, type RunningServer, type ServerOptions } from "../../../server/index.ts";
import { temporaryFolder } from "../../support/command.ts";
import { sharedKeys } from "../api-server.ts";
import { type Pace, timeAt } from "../clock.ts";
import { furnish, ownerOf } from "./owner.ts";
import type { ChildOptions } from "./process.ts";
import type { Adapter } from "./provider.ts";
import { type Engine, engineIn } from "./run.ts";
import { readState } from "./state.ts";

export type Testbed = Awaited<ReturnType<typeof startTestbed>>;

interface EngineOptions {
  env?: Record<string, string>;
  /** The providers read the engine's state. Without checkpoints, it is saved once, at the end. */
  checkpoints?: "on" | "off";
}

export type TestbedOptions = ServerOptions & { speed?: number };

const POLL_MS = 5;

export const startTestbed = async (adapter: Adapter, options: TestbedOptions = {}) => {
  const pace: Pace = { startMs: Date.now(), speed: options.speed ?? 10 };
  const { path, remove } = temporaryFolder();
  const folder = path(".");
  const stateFile = (name: string): string => path(`${name}.state.json`);
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const server = await createServer({
    dev: true,
    keys: sharedKeys(),
    faults: {},
    ...options,
    clock: () => timeAt(pace),
    log: createLog({
      level: "debug",
      json: true,
      clock: () => timeAt(pace),
      write: (line) => {
        log.push(line);
        for (const isTrue of [...waiting]) isTrue();
      },
    }),
  });
  const { baseUrl, authUrl, identity = "", organization = "" } = server;
  const faults = server.faults as NonNullable<RunningServer["faults"]>;
  const owner = await ownerOf(server);
  const { home, foreign } = await furnish(owner, organization);

  /** attempts of an operation since the script was set */
  const attempts = (operation: OperationName) => faults.attempts().filter((one) => one.operation === operation);
  const waitUntil = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!isTrue()) return false;
        waiting.delete(check);
        resolve();
        return true;
      };
      waiting.add(check);
      check();
    });

  return {
    ...owner,
    ...{ server, organization, home, foreign, pace, folder, stateFile, attempts },
    stateText: (name: string) => readFileSync(stateFile(name), "utf8"),
    /** uid of a resource in a state */
    uid: (name: string, resource: string): string => {
      const found = readState(stateFile(name)).resources.find((one) => one.name === resource);
      if (!found) throw new Error(`the state has no ${resource}`);
      return found.id;
    },
    /** an engine with a new state, journal and token, unless they are given */
    engine: (name: string, { env = {}, checkpoints, ...own }: Partial<ChildOptions> & EngineOptions = {}): Engine => {
      const file = stateFile(name);
      const stored = checkpoints && { stored: { file, adapter } };
      const isUnchecked = checkpoints === "off";
      return engineIn(
        { adapter, stateFile: file, stack: `organization/faults/${name}`, pace, isUnchecked, ...stored, ...own },
        async () => ({
          IRM_BASE_URL: baseUrl,
          IRM_AUTH_URL: authUrl,
          IRM_IDENTITY: identity,
          IRM_IDENTITY_TOKEN: await owner.mintToken(),
          IRM_JOURNAL: path(`${name}.journal`),
          IRM_REQUEST_TIMEOUT: "20",
          PULUMI_BACKEND_URL: `file://${folder}`,
          ...(isUnchecked && { PULUMI_SKIP_CHECKPOINTS: "true" }),
          ...env,
        }),
      );
    },
    /** resolves when so many attempts of the operation have arrived; `carriedOut`: and are committed */
    waitForAttempts: async (operation: OperationName, count = 1, carriedOut = false): Promise<void> => {
      await waitUntil(() => attempts(operation).length >= count);
      if (!carriedOut) return;
      while (!attempts(operation)[count - 1]?.carriedOut) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    },
    /** all that was written: logs, journals, states */
    texts: () => [...log, ...filesBelow(folder)],
    /** advances the service's clock, as while the machines of its clients were asleep */
    advanceClock: (ms: number): void => {
      pace.movedMs = (pace.movedMs ?? 0) + ms;
    },
    /** stops the service's clock until it is resumed */
    stopClock: (): void => {
      pace.stillMs ??= timeAt(pace);
    },
    resumeClock: (): void => {
      const { stillMs } = pace;
      if (stillMs === undefined) return;
      delete pace.stillMs;
      pace.movedMs = (pace.movedMs ?? 0) - (timeAt(pace) - stillMs);
    },
    close: () => server.close().finally(remove),
  };
};

/** What engines and journals wrote. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(jsonl?|state)/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
