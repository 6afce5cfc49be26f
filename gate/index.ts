// The gate of `irm apply`: it sits between a real `pulumi up` and the services, in the process of the command. It passes only the writes of
// the change. Only the gate has tokens of the services. The engine, the program and the provider get a bearer for its address on loopback.
// It writes nothing to disk, and ends with the command.
import { canonical } from "../access/canonical.ts";
import type { Write } from "../access/change/write.ts";
import { writeProblems } from "./decide.ts";
import { gateOf, type Service, type ServiceGate } from "./gate.ts";
import { type Listener, startListener } from "./server.ts";

export { writeProblems } from "./decide.ts";
export type { Service } from "./gate.ts";

export interface GateInput {
  /** the change, computed again on a fresh twin: each `$uid` refers to one of them */
  writes: readonly Write[];
  /** by address; the first is the one without `service` */
  services: ReadonlyMap<string, Service>;
  /** uid of the identity that applies the change */
  as: string;
}

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** The writes cannot be applied. `problems` has a line for each. */
export class GateError extends Error {
  override readonly name = "GateError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(["the change cannot be applied:", ...problems].join("\n  - "));
    this.problems = problems;
  }
}

/** Throws GateError, or the error of a listener. */
export const startGate = async ({ writes, services, as }: GateInput) => {
  const problems = writeProblems(writes);
  if (problems.length > 0) throw new GateError(problems);
  const refused = new Map<string, { method: string; message: string }>();
  const [first] = services.keys();
  const gates: ServiceGate[] = [];
  const listeners: (Listener & { address: string })[] = [];
  let isClosing = false;
  const close = async () => {
    isClosing = true;
    await Promise.all(listeners.map((one) => one.close()));
  };
  try {
    for (const [address, service] of services) {
      const gate = gateOf({
        service,
        writes: writes.filter((write) => (write.service ?? first) === address),
        onRefused: (asked, message) => {
          const { method, request } = asked;
          refused.set(`${address} ${method} ${canonical(request)}`, { method, message });
        },
        isClosing: () => isClosing,
      });
      gates.push(gate);
      // The time of the service, which the provider compares with the times of its records.
      const clock = () => service.client.serverNow() ?? service.client.clock.today();
      listeners.push({ address, ...(await startListener({ address, as, clock, answer: gate.answer })) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const lines = () => gates.flatMap((gate) => gate.lines).sort((a, b) => a.write.n - b.write.n);
  return {
    /** for the run file (client/run-file.ts) */
    services: listeners.map(({ address, url, token }) => ({ address, url, token })),
    /** so far */
    report: () => ({
      /** number of writes that have succeeded */
      applied: lines().filter(({ isDone }) => isDone).length,
      /** each request once */
      refused: [...refused.values()],
      /** not sent, or not carried out */
      missing: lines().flatMap(({ write, isDone, isUnknown }) => (isDone || isUnknown ? [] : [write])),
      /** A request was sent, and its outcome is unknown. The next run finds out. */
      unknown: lines().flatMap(({ write, isUnknown }) => (isUnknown ? [write] : [])),
    }),
    /** uids of the records that the services have created, by the number of the write */
    get uids(): ReadonlyMap<number, string> {
      return new Map(gates.flatMap(({ uids }) => [...uids]));
    },
    close,
  };
};
