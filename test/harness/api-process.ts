// The reference server as a separate process, as its users run it, with its output and the requests that it saw.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Attempt, FaultScript } from "../../server/index.ts";
import { COMPILED, irmModule } from "../support/compiled.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface ReadyLine {
  baseUrl: string;
  authUrl: string;
  issuer: string;
  organization: string;
  identity: string;
  token: string;
}

/** One request in the server's log. */
export interface SeenRequest {
  method: string;
  path: string;
  operation?: string;
  query?: Record<string, string>;
  /** top-level fields of the body */
  fields?: string;
  status: number;
  message?: string;
}

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>;

export const startServerProcess = async (flags: readonly string[]) => {
  const child = spawn(process.execPath, [irmModule("cli/main.ts"), "serve", "--dev", "--json", ...flags], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  let requests: SeenRequest[] = [];
  const markers = new Map<string, () => void>();
  let log = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    log += `${line}\n`;
    if (!line.startsWith("{")) return;
    const event = JSON.parse(line) as { event: string; requestId?: string } & SeenRequest;
    const marker = markers.get(event.requestId ?? "");
    if (marker) marker();
    else if (event.event === "request" && event.operation) requests.push(event);
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const ready = once(createInterface({ input: child.stdout }), "line").then(
    ([line]) => JSON.parse(line as string) as ReadyLine,
  );
  const line = await Promise.race([
    ready,
    exited.then((code) => Promise.reject(new Error(`irm serve ended with ${code}:\n${log}`))),
  ]);
  return {
    ...line,
    pid: child.pid as number,
    /** Requests of the API since the last call, in the order of their responses. */
    takeRequests: async (): Promise<SeenRequest[]> => {
      // The log is a separate stream. Once it has the line of a new request, it has those of all earlier ones.
      const id = randomUUID();
      const seen = new Promise<void>((resolve) => markers.set(id, resolve));
      await fetch(`${line.baseUrl}/ping/v2beta1/ping`, { headers: { "x-request-id": id } });
      await Promise.race([seen, exited]);
      const taken = requests;
      requests = [];
      return taken;
    },
    /** everything that it wrote to stderr */
    log: (): string => log,
    /** Ends it and waits; by default it finishes its work first. */
    stop: async (signal: NodeJS.Signals = "SIGTERM") => {
      child.kill(signal);
      return await exited;
    },
  };
};

/** The faults of a server with `--faults`: sets them, or tells them and the attempts since. */
export const faultsOf = async ({ baseUrl }: Pick<ReadyLine, "baseUrl">, set?: FaultScript) => {
  const answer = await fetch(`${baseUrl}/faults`, set && { method: "PUT", body: JSON.stringify(set) });
  if (!answer.ok) throw new Error(`/faults answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { faults: FaultScript; attempts: Attempt[] };
};

/** The requests that change records. */
export const writesOf = (requests: readonly SeenRequest[]): SeenRequest[] =>
  requests.filter(({ method, operation }) => method !== "GET" && !operation?.startsWith("Exchange"));
