// Scripted failures (docs/server.md). Each attempt that reaches the pipeline meets a step of the script, before or after the
// request is carried out, and enters the report.
import { STATUS_CODES } from "node:http";
import {
  apiError,
  codeFromHttp,
  invalidArgument,
  type Json,
  type Operation,
  type OperationName,
  retryInfo,
} from "../../schema/index.ts";
import { currentRequestId, type Log } from "../base/log.ts";
import type { Wire } from "../base/metrics.ts";
import type { Call, Pipeline } from "../pipeline/pipeline.ts";
import { local, type PageTable } from "../rest/page.ts";
import { restError } from "../rest/refused.ts";
import { createFaultDelays, createFaultDelivery, proxyPage, type WireFault } from "./delivery.ts";
import {
  checkFaults,
  createFaultSteps,
  type FaultScript,
  FaultsError,
  parseFaults,
  type Script,
  type Step,
} from "./script.ts";

/** A request that reached a method, regardless of its outcome. */
export interface Attempt {
  operation: OperationName;
  wire: Wire;
  /** its arrival, by the server's clock */
  timeMs: number;
  requestId: string;
  /** the rule whose step it met, counted from 1 in the file; absent: none */
  rule?: number | "random" | undefined;
  /** the step that it met, counted from 1 in the rule */
  step?: number | undefined;
  /** false for a refused request */
  carriedOut: boolean;
}

export interface Faults {
  /** Sets new rules, each from its first step, and empties the report. Throws FaultsError. */
  set(script: FaultScript): void;
  /** The report in the order of arrival: the last 100,000 attempts. */
  attempts(): Attempt[];
  /** Releases the requests that a step holds: all that are in the report. */
  release(): void;
  /** Removes the rules and empties the report. Held requests remain held. */
  clear(): void;
}

export type FaultControl = ReturnType<typeof createFaults>;

const MAX_ATTEMPTS = 100_000;

export const createFaults = (given: FaultScript, clock: () => number) => {
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

  const around = (pipeline: Pipeline, log: Log): Pipeline => {
    startMs = clock();
    return (call) => {
      const { operation, wire } = call;
      const met = nextStep(operation);
      const attempt: Attempt = {
        operation,
        wire,
        timeMs: clock(),
        requestId: currentRequestId(),
        rule: met?.rule,
        step: met?.place,
        carriedOut: false,
      };
      report.push(attempt);
      if (report.length > MAX_ATTEMPTS) report.shift();
      const carryOut = async (request: Call): Promise<Json> => {
        const json = await pipeline(request);
        attempt.carriedOut = true;
        return json;
      };
      if (!met) return carryOut(call);
      log("info", "fault", { operation, wire, rule: met.rule, step: met.place });
      return delays.track(meet(met.step, call, carryOut));
    };
  };

  const meet = async (step: Step, call: Call, carryOut: (call: Call) => Promise<Json>): Promise<Json> => {
    const { at = step.truncate === undefined ? "before" : "after", delay = 0, hold = false } = step;
    // Begins at the arrival: a test that sees the attempt in the report may release it at once.
    const released = hold ? delays.hold() : undefined;
    const wait = () => released ?? delays.wait(delay);
    if (at === "before") {
      // The client may go away during the wait, so the body is read first. The pipeline reports its problems.
      if (hold || delay > 0) await call.decode().catch(() => {});
      await wait();
      failIn(step, call);
      // The delay exists so that the request is carried out after its client has gone.
      return await carryOut(hold || delay > 0 ? { ...call, endedBy: () => undefined } : call);
    }
    const [outcome] = await Promise.allSettled([carryOut(call)]);
    await wait();
    failIn(step, call);
    if (step.truncate !== undefined) wireFaults.set(call, { truncate: step.truncate });
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };

  const failIn = ({ status, reset, retryAfter, httpDate, body }: Step, call: Call) => {
    if (reset) {
      wireFaults.set(call, { reset });
      throw apiError("CANCELLED", "a scripted reset of the connection");
    }
    if (status === undefined) return;
    // The parts that only HTTP shows: the exact status, the date instead of seconds, the page.
    wireFaults.set(call, {
      http: status,
      headers: {
        // A date has no milliseconds: rounded up, so that no client comes too early.
        ...(httpDate && {
          "retry-after": new Date(Math.ceil(clock() / 1000 + (retryAfter ?? 0)) * 1000).toUTCString(),
        }),
        ...(body && { "content-type": "text/html" }),
      },
      ...(body && { html: proxyPage(status, STATUS_CODES[status] ?? "Unknown") }),
    });
    const details = retryAfter === undefined ? [] : [retryInfo(retryAfter * 1000)];
    throw apiError(codeFromHttp(status), `a scripted failure with status ${status}`, { details });
  };

  const faults: Faults = {
    set,
    attempts: () => structuredClone(report),
    release: delays.release,
    clear: () => set({}),
  };
  return {
    ...faults,
    script: () => structuredClone(script),
    /** Restarts the script of the start, and empties the report. Releases held requests. */
    restart: () => {
      delays.release();
      set(given);
    },
    around,
    /** the effect of the failures on responses, for the wires */
    delivery: createFaultDelivery((call) => wireFaults.get(call)),
    /** Get and List hide records that were created later than this; undefined: they hide none */
    createdBy: ({ method }: Pick<Operation, "method">, now: number): number | undefined => {
      const lagMs = compiled.readAfterWriteLag;
      return method !== "GET" || lagMs === undefined ? undefined : Math.max(startMs, now - lagMs);
    },
    /** Ends the delays and waits for the delayed requests, at most until `cut`. */
    drain: delays.drain,
  };
};

// `/faults`, for tests of clients in other processes: GET returns the script and the report, PUT takes a new script, POST
// `/faults/release` releases held requests. It takes no token. So it accepts only requests by a name of loopback, and none that a
// browser sends for a page of another origin.

export const faultsPages = (faults: FaultControl): PageTable => {
  const report = () => ({ http: 200, json: { faults: faults.script(), attempts: faults.attempts() } });
  const here = (answer: Parameters<typeof local>[1]) => local("the scripted failures are", answer);
  return {
    "GET /faults": here(report),
    "POST /faults/release": here(() => {
      faults.release();
      return report();
    }),
    "PUT /faults": here(async ({ body }) => {
      try {
        faults.set(parseFaults((await body()).toString("utf8"), "body"));
      } catch (error) {
        if (!(error instanceof FaultsError)) throw error;
        return restError(invalidArgument(error.message.split("\n").map((description) => ({ field: "", description }))));
      }
      return report();
    }),
  };
};
