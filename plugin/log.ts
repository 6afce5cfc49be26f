// Lines in the output of Pulumi, each beside its resource. The engine shows nothing of a plugin's stdout.
import { AsyncLocalStorage } from "node:async_hooks";
import { credentials } from "@grpc/grpc-js";
import services, { type EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineTypes from "@pulumi/pulumi/proto/engine_pb.js";
import { printableLines } from "../schema/index.ts";
import { messageWith } from "./response.ts";

export interface Log {
  info(text: string): void;
  /** Runs a call about the resource of that URN, and waits until the engine has its lines. */
  during<T>(urn: string, call: () => Promise<T>): Promise<T>;
}

/** `address` is the engine's. Without one, lines go to stderr. */
export const engineLog = (address: () => string | undefined): Log => {
  const current = new AsyncLocalStorage<{ urn: string; sent: Promise<void>[] }>();
  let client: EngineClient | undefined;

  const send = (text: string, urn: string): Promise<void> => {
    const engine = address();
    if (engine === undefined) {
      console.error(text);
      return Promise.resolve();
    }
    client ??= new services.EngineClient(engine, credentials.createInsecure());
    const { LogRequest, LogSeverity } = engineTypes;
    const request = messageWith(new LogRequest(), { severity: LogSeverity.INFO, message: text, urn });
    // An engine that has ended shows no more lines.
    return new Promise((resolve) => client?.log(request, () => resolve()));
  };

  return {
    info: (text) => {
      const call = current.getStore();
      const sent = send(printableLines(text), call?.urn ?? "");
      call?.sent.push(sent);
    },
    during: async (urn, call) => {
      const own = { urn, sent: [] as Promise<void>[] };
      try {
        return await current.run(own, call);
      } finally {
        await Promise.all(own.sent);
      }
    },
  };
};
