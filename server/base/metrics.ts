// The server's metrics, in the text format of Prometheus, common to both wires. Each server has its own registry. Labels
// hold names of methods and codes only: no path, no uid.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Code, OperationName } from "../../schema/index.ts";

export type Wire = "rest" | "grpc";

export interface Outcome {
  /** absent: the request reached no served method (an unknown path, a page, a broken message) */
  operation?: OperationName | undefined;
  code: Code | "OK";
}

export type Metrics = ReturnType<typeof createMetrics>;

// 1 ms to 10 s: the drain cuts off whatever takes longer.
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Values that a scrape reads: open connections and held bytes. */
interface Gauges {
  connections: { count(): number };
  memory: { held(): number };
  answers: { held(): number };
}

export const createMetrics = ({ connections, memory, answers }: Gauges) => {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "irm_requests_total",
    help: "Requests answered, by method of the API (none: no method was reached), wire and code of the API.",
    labelNames: ["operation", "wire", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "irm_request_duration_seconds",
    help: "Time from the head of a request to its answer, by method of the API.",
    labelNames: ["operation"],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const inFlight = new Gauge({
    name: "irm_requests_in_flight",
    help: "Requests that are not answered yet, by wire.",
    labelNames: ["wire"],
    registers,
  });
  const exchanges = new Counter({
    name: "irm_exchanges_total",
    help: "Token exchanges decided, by the reason of the audit line.",
    labelNames: ["reason"],
    registers,
  });
  const addGauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  addGauge("irm_connections", "Connections that are open.", connections.count);
  addGauge(
    "irm_request_memory_bytes",
    "Memory that requests hold which have not been answered, by what has arrived of their bodies.",
    memory.held,
  );
  addGauge(
    "irm_answer_memory_bytes",
    "Memory of requests that are under way, with what clients have not read of their answers.",
    answers.held,
  );
  addGauge("process_resident_memory_bytes", "Resident memory size in bytes.", process.memoryUsage.rss);

  return {
    /** A request begins. The caller reports its outcome, once, and gets the time that it took in milliseconds. */
    begin: (wire: Wire) => {
      const start = performance.now();
      inFlight.inc({ wire });
      return ({ operation: reached, code }: Outcome) => {
        const operation = reached ?? "none";
        inFlight.dec({ wire });
        requests.inc({ operation, wire, code });
        const ms = performance.now() - start;
        seconds.observe({ operation }, ms / 1000);
        return Math.round(ms * 10) / 10;
      };
    },
    /** The decision on a token exchange. */
    exchanged: (reason: string) => exchanges.inc({ reason }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
};
