// Ends this process when its engine has ended. A killed engine leaves it running, with a token in its memory. It first finishes the
// operations under way, so that the journal records them.
//
// The engine holds the other end of our stdin, so the end of stdin is a hint. The proof is that nothing listens at the engine's address any
// more, which is the first argument of this process.
import { subscribe } from "node:diagnostics_channel";
import { fstatSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Methods, withEach } from "./methods.ts";

const POLL_MS = 250;
/** Refused connections in a row: a full queue of connections may look like a closed port for a moment. */
const REFUSALS = 3;

/** Address of the engine. Undefined if this process is not the SDK's dynamic provider: in a test, a program, `irm`. */
export const engineOf = (argv: readonly string[]): { host: string; port: number } | undefined => {
  const [, script = "", address = ""] = argv;
  if (!/[\\/]cmd[\\/]dynamic-provider([\\/]index(\.js)?)?$/.test(script)) return undefined;
  const [, host, port] = /^(?:\w+:\/\/)?(.+):(\d+)$/.exec(address) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
};

/** Resolves when the engine has ended. Never resolves if stdin is not a pipe: the engine always passes one. */
export const engineEnd = async (engine: { host: string; port: number }): Promise<void> => {
  const stdin = fstatSync(0);
  if (!stdin.isFIFO() && !stdin.isSocket()) return new Promise(() => undefined);
  await new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("error", resolve).once("close", resolve).resume();
    // Waiting for its end must not keep the process alive. A pipe is a socket to Node; its type does not say so.
    (process.stdin as unknown as { unref(): void }).unref();
  });
  for (let refused = 0; refused < REFUSALS; ) {
    refused = (await isRefused(engine)) ? refused + 1 : 0;
    await sleep(POLL_MS, undefined, { ref: false });
  }
};

const isRefused = ({ host, port }: { host: string; port: number }): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: POLL_MS });
    const finish = (refused: boolean) => {
      socket.destroy();
      resolve(refused);
    };
    socket.once("connect", () => finish(false)).once("timeout", () => finish(false));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => finish(code === "ECONNREFUSED"));
  });

/** Wraps the methods: after `end` it calls `exit` as soon as none of them is under way. */
export const untilEnd = <K extends string>(
  kinds: Record<K, Methods>,
  end: Promise<void>,
  exit: () => void,
): Record<K, Methods> => {
  let underWay = 0;
  let hasEnded = false;
  const endSoon = () => {
    if (hasEnded && underWay === 0) exit();
  };
  void end.then(() => {
    hasEnded = true;
    endSoon();
  });
  const counted = async (run: () => Promise<unknown>) => {
    underWay += 1;
    try {
      return await run();
    } finally {
      underWay -= 1;
      endSoon();
    }
  };
  return Object.fromEntries(
    Object.entries<Methods>(kinds).map(([kind, methods]) => [kind, withEach(methods, counted)]),
  ) as Record<K, Methods>;
};

// ^C. The engine calls Cancel in this process, and the SDK answers without passing it on (@pulumi/pulumi/cmd/dynamic-provider/index.ts), so
// this listens for the request itself (https://nodejs.org/api/diagnostics_channel.html).

const CANCEL = "/pulumirpc.ResourceProvider/Cancel";

/** Aborted when the engine calls Cancel. */
export const engineCancel = (): AbortSignal => {
  const controller = new AbortController();
  subscribe("http2.server.stream.start", (message) => {
    const { headers } = message as { headers?: Readonly<Record<string, unknown>> };
    if (headers?.[":path"] === CANCEL) controller.abort();
  });
  return controller.signal;
};
