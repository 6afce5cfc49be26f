// Lines in the output of Pulumi, each beside its resource. The engine does not show a plugin's stdout.
import { AsyncLocalStorage } from "node:async_hooks";
import { Client, credentials } from "@grpc/grpc-js";
import { printableLines } from "../schema/index.ts";
import { messageOf } from "./wire-format.ts";

// github.com/pulumi/pulumi/blob/master/proto/pulumi/engine.proto
const LOG = "/pulumirpc.Engine/Log";
const INFO = 1n;

const asItIs = (bytes: Buffer) => bytes;

export type Log = ReturnType<typeof engineLog>;

/** `address` is the engine's. Without one, lines go to stderr. */
export const engineLog = (address: () => string | undefined) => {
  const current = new AsyncLocalStorage<{ urn: string; sent: Promise<void>[] }>();
  let client: Client | undefined;

  const send = (text: string, urn: string): Promise<void> => {
    const engine = address();
    if (engine === undefined) {
      console.error(text);
      return Promise.resolve();
    }
    client ??= new Client(engine, credentials.createInsecure());
    const request = messageOf({ 1: INFO, 2: text, 3: urn });
    // An engine that has ended shows no more lines.
    return new Promise((resolve) => client?.makeUnaryRequest(LOG, asItIs, asItIs, request, () => resolve()));
  };

  return {
    info: (text: string): void => {
      const call = current.getStore();
      const sent = send(printableLines(text), call?.urn ?? "");
      call?.sent.push(sent);
    },
    /** Runs a call about the resource of that URN, and waits until the engine has its lines. */
    during: async <T>(urn: string, call: () => Promise<T>): Promise<T> => {
      const running = { urn, sent: [] as Promise<void>[] };
      try {
        return await current.run(running, call);
      } finally {
        await Promise.all(running.sent);
      }
    },
  };
};
