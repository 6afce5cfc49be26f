// Retries (docs/faults.md#retries): how many requests a service gets while it is down, and how its clients return afterwards,
// as the service counts them. Time is virtual: it advances when all workers sleep, so that each run is the same.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemTransport } from "../../client/transport.ts";
import { KEY, PROVIDER } from "../../provider/record/state.ts";
import { createServer, type FaultScript, type RunningServer } from "../../server/index.ts";
import { sharedKeys } from "../harness/api-server.ts";
import { type SharedClock, START_MS, sharedClock } from "../harness/clock.ts";
import { dynamicProvider } from "../harness/small-engine/dynamic.ts";
import { ownerOf } from "../harness/small-engine/owner.ts";
import type { Named, Provider } from "../harness/small-engine/provider.ts";
import { createRandom } from "../support/random.ts";

interface Town {
  clock: SharedClock;
  faults: NonNullable<RunningServer["faults"]>;
  organization: string;
  /** a provider as in a separate process */
  process(): Promise<Provider>;
}

const inTown = async (seed: number, visit: (town: Town) => Promise<void>): Promise<void> => {
  const clock = sharedClock(START_MS, createRandom(seed));
  const folder = mkdtempSync(join(tmpdir(), "irm-outage-"));
  const processes: Provider[] = [];
  const server = await createServer({ dev: true, keys: sharedKeys(), faults: {}, clock: clock.today });
  try {
    const { tokens } = await ownerOf(server);
    const env = { IRM_BASE_URL: server.baseUrl, IRM_TOKEN: tokens.at(-1), IRM_JOURNAL: folder };
    const transport = systemTransport();
    await visit({
      clock,
      faults: server.faults as Town["faults"],
      organization: server.organization as string,
      process: async () => {
        const environment = { env, clock, transport, log: () => undefined };
        const own = await dynamicProvider(environment, "organization/faults/outage");
        processes.push(own);
        return own;
      },
    });
  } finally {
    await Promise.all(processes.map((one) => one.end()));
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

type Rule = NonNullable<FaultScript["rules"]>[number];

const always = (operation: Rule["operation"], step: Rule["steps"][number]): FaultScript => ({
  rules: [{ operation, steps: [step], repeat: true }],
});

/** Of a stack of this name. */
const create = (provider: Provider, parent: string, name: string, stack = "outage") => {
  const own = { [KEY]: `organization/faults/${stack}/Group::${name}`, [PROVIDER]: "the text that finds the provider" };
  return provider.create(group(name), { parent, name, ...own });
};

const group = (name: string): Named => ({ name, kind: "group" });

const readIn = (provider: Provider, organization: string) =>
  provider.read(group("organization"), { id: organization, inputs: {}, outputs: { uid: organization } });

test("a service that is down for a minute gets at most a tenth more requests than needed, once the retry quota is empty", () =>
  inTown(1, async ({ clock, faults, organization, process }) => {
    // A process that has begun to create records.
    const provider = await process();
    const read = () => readIn(provider, organization);
    await clock.work(() => create(provider, organization, "before"));

    faults.set(always("*", { status: 503 }));
    const begun: number[] = [];
    const begin = (work: () => Promise<unknown>) => {
      begun.push(clock.now());
      return clock.work(work);
    };
    const all: Promise<void>[] = [];
    await clock.work(async () => {
      for (let at = 0; at < 60_000; at += 100) {
        all.push(begin(read));
        if (at % 300 === 0) all.push(begin(() => create(provider, organization, `group ${at}`)));
        await clock.sleep(100);
      }
    });
    await Promise.all(all);

    const attemptTimes = faults.attempts().map(({ timeMs }) => timeMs - START_MS);
    expect(begun).toHaveLength(800);
    // 500 tokens, 14 for each retry.
    expect(attemptTimes.length - begun.length).toBe(35);
    const spent = 5_000;
    const later = (times: number[]) => times.filter((time) => time >= spent).length;
    expect(later(begun)).toBeGreaterThan(700);
    expect(later(attemptTimes) / later(begun)).toBeLessThanOrEqual(1.1);
  }));

const CLIENTS = 100;
const SLOT_MS = 100;

const TOLD = { status: 503, retryAfter: 15 };

type Row = [what: string, operation: "GetGroup" | "CreateGroup", step: Rule["steps"][number], downForMs: number];

test.each<Row>([
  ["all at once, with Retry-After", "GetGroup", TOLD, 100],
  ["all at once, with Retry-After for a create", "CreateGroup", TOLD, 100],
  ["all at once, with 429", "GetGroup", { status: 429 }, 100],
  ["within a second, without Retry-After", "GetGroup", { status: 503 }, 1_000],
])(
  "a hundred refused clients: %s: return spread, at most a fifth of them in any tenth of a second",
  (what, operation, step, downForMs) =>
    inTown(2, async ({ clock, faults, organization, process }) => {
      const arrivingOverMs = what.startsWith("all at once") ? 0 : downForMs;
      const clients = await Promise.all(Array.from({ length: CLIENTS }, process));
      faults.set(always(operation, step));
      const slots = new Map<number, number>();
      const count = (timeMs: number, by: number) => {
        const slot = Math.floor(timeMs / SLOT_MS);
        slots.set(slot, (slots.get(slot) ?? 0) + by);
      };
      const note = () => {
        for (const attempt of faults.attempts())
          if (attempt.operation === operation) count(attempt.timeMs - START_MS, 1);
      };
      await Promise.all([
        ...clients.map((provider, at) =>
          clock.work(async () => {
            await clock.sleep((at * arrivingOverMs) / CLIENTS);
            // The first attempt is not a retry.
            count(clock.now(), -1);
            if (operation === "GetGroup") await readIn(provider, organization);
            else await create(provider, organization, `group ${at}`, `outage-${at}`);
          }),
        ),
        clock.work(async () => {
          await clock.sleep(downForMs);
          note();
          faults.clear();
        }),
      ]);
      note();
      const retries = [...slots.values()].reduce((sum, own) => sum + own, 0);
      expect(retries).toBeGreaterThanOrEqual(CLIENTS);
      expect(Math.max(...slots.values()) / retries).toBeLessThanOrEqual(0.2);
    }),
);
