// Scripted failures (docs/server.md): each attempt that comes to the pipeline meets a step of the script, before or after it
// is carried out, and is written into the report.
import { STATUS_CODES } from "node:http";
import {
  type ApiError,
  apiError,
  type Code,
  codeFromHttp,
  type Json,
  type Operation,
  type OperationName,
  retryInfo,
} from "../../schema/index.ts";
import type { Log } from "../log.ts";
import type { Wire } from "../metrics.ts";
import type { Call, Pipeline } from "../pipeline.ts";
import type { Delivery } from "../port/delivery.ts";
import { currentRequestId } from "../request.ts";
import { createFaultDelays } from "./delay.ts";
import { createFaultDelivery, proxyPage, type WireFault } from "./delivery.ts";
import { checkFaults, type FaultScript, type Script, type Step } from "./script.ts";
import { createFaultSteps } from "./step.ts";

/** A request that reached a method, whatever came of it. */
export interface Attempt {
  operation: OperationName;
  wire: Wire;
  /** when it came, by the server's clock */
  timeMs: number;
  requestId: string;
  /** the rule whose step it met, by its place in the file from 1; absent: none */
  rule?: number | "random";
  /** the step that it met, by its place in the rule from 1 */
  step?: number;
  /** a request that is refused is not carried out */
  carriedOut: boolean;
}

export interface Faults {
  /** New rules, each from its first step on, and an empty report. Throws FaultsError. */
  set(script: FaultScript): void;
  /** The report, in the order in which the attempts came: of the last 100,000. */
  attempts(): Attempt[];
  /** Lets go the requests that a step holds: all that are in the report. */
  release(): void;
  /** No rules and an empty report; what is held stays held. */
  clear(): void;
}

export interface FaultControl extends Faults {
  script(): FaultScript;
  /** the script of the start, from its first step, and an empty report; what is held goes on */
  restart(): void;
  around(pipeline: Pipeline, log: Log): Pipeline;
  /** what the failures do to responses, for the wires */
  delivery: Delivery;
  /** Get and List hide records that were created later than this; undefined: they hide none */
  createdBy(row: Pick<Operation, "method">, now: number): number | undefined;
  /** ends the delays, waits for the requests that were delayed, until `cut` */
  drain(cut?: AbortSignal): Promise<void>;
}

const MAX_ATTEMPTS = 100_000;

export const createFaults = (given: FaultScript, clock: () => number): FaultControl => {
  const delays = createFaultDelays();
  let script = given;
  let compiled: Script = checkFaults(given);
  let nextStep = createFaultSteps(compiled);
  let report: Attempt[] = [];
  // The records of the start are readable at once.
  let startMs = clock();
  const wireFaults = new WeakMap<Call, WireFault>();

  const set = (next: FaultScript) => {
    compiled = checkFaults(next);
    script = structuredClone(next);
    nextStep = createFaultSteps(compiled);
    report = [];
  };

  const arrived = ({ operation, wire }: Call) => {
    const met = nextStep(operation);
    const attempt: Attempt = {
      operation,
      wire,
      timeMs: clock(),
      requestId: currentRequestId(),
      ...(met && { rule: met.rule, step: met.place }),
      carriedOut: false,
    };
    report.push(attempt);
    if (report.length > MAX_ATTEMPTS) report.shift();
    return { attempt, step: met?.step };
  };

  const around =
    (pipeline: Pipeline, log: Log): Pipeline =>
    (call) => {
      const { attempt, step } = arrived(call);
      const carryOut = async (own: Call): Promise<Json> => {
        const json = await pipeline(own);
        attempt.carriedOut = true;
        return json;
      };
      if (!step) return carryOut(call);
      const { operation, wire, rule, step: place } = attempt;
      log("info", "fault", { operation, wire, rule, step: place });
      return delays.track(meet(step, call, carryOut));
    };

  const meet = async (step: Step, call: Call, carryOut: (call: Call) => Promise<Json>): Promise<Json> => {
    const { at = step.truncate === undefined ? "before" : "after", delay = 0, hold = false } = step;
    // From its arrival on: whoever sees it in the report may release it, also when it is held after it is carried out.
    const released = hold ? delays.hold() : undefined;
    const wait = () => released ?? delays.wait(delay);
    if (at === "before") {
      // Before its client may go. What is wrong with the body, the pipeline says.
      if (hold || delay > 0) await call.decode().catch(() => {});
      await wait();
      failIn(step, call);
      // Whoever waited may have gone: that it is carried out all the same is what the delay is for.
      return await carryOut(hold || delay > 0 ? { ...call, gone: () => undefined } : call);
    }
    const [outcome] = await Promise.allSettled([carryOut(call)]);
    await wait();
    failIn(step, call);
    if (step.truncate !== undefined) wireFaults.set(call, { truncate: step.truncate });
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };

  const failIn = ({ status, reset, ...step }: Step, call: Call): void => {
    if (reset) {
      wireFaults.set(call, { reset });
      throw apiError("CANCELLED", "a scripted reset of the connection");
    }
    if (status === undefined) return;
    wireFaults.set(call, httpFault({ ...step, status }, clock()));
    throw statusError(status, step.retryAfter);
  };

  return {
    set,
    attempts: () => structuredClone(report),
    release: delays.release,
    clear: () => set({}),
    script: () => structuredClone(script),
    restart: () => {
      delays.release();
      set(given);
    },
    around: (...own) => {
      startMs = clock();
      return around(...own);
    },
    delivery: createFaultDelivery((call) => wireFaults.get(call)),
    createdBy: ({ method }, now) => {
      const lagMs = compiled.readAfterWriteLag;
      return method !== "GET" || lagMs === undefined ? undefined : Math.max(startMs, now - lagMs);
    },
    drain: delays.drain,
  };
};

// On HTTP: the very status, the date instead of seconds, the page.
const httpFault = (
  { status, retryAfter = 0, httpDate, body }: Omit<Step, "status"> & { status: number },
  now: number,
): WireFault => ({
  http: status,
  headers: {
    // A date has no milliseconds: the next one, so that nobody comes too early.
    ...(httpDate && { "retry-after": new Date(Math.ceil(now / 1000 + retryAfter) * 1000).toUTCString() }),
    ...(body && { "content-type": "text/html" }),
  },
  ...(body && { html: proxyPage(status, STATUS_CODES[status] ?? "Unknown") }),
});

const statusError = (status: number, retryAfter: number | undefined): ApiError => {
  const code: Code = codeFromHttp(status);
  const details = retryAfter === undefined ? [] : [retryInfo(retryAfter * 1000)];
  return apiError(code, `a scripted failure with status ${status}`, { details });
};
