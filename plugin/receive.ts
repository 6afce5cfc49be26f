// The message of a call: it arrives in time, and is checked before google-protobuf reads it. Whoever reaches the port may send
// anything.
import {
  type MethodDefinition,
  type Server,
  type ServerReadableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { requestTypes, type ServedMethod } from "./request-type.ts";
import { Ended } from "./status.ts";
import { checkMessage, MalformedMessage } from "./wire-format.ts";

/** How long a message may take to arrive. The engine sends it at once. */
const MESSAGE_MS = 60_000;

export interface MethodOptions {
  server: Server;
  /** its client sends half a message; the address of its connection */
  late(peer: string): void;
  messageMs?: number | undefined;
}

/** Adds a method. `answer` gets its request. */
export const addMethod = (
  { server, late, messageMs = MESSAGE_MS }: MethodOptions,
  name: ServedMethod,
  answer: (request: unknown, callback: sendUnaryData<unknown>) => void,
): void => {
  const definitions = services.ResourceProviderService as unknown as Record<string, MethodDefinition<unknown, unknown>>;
  const { path, requestDeserialize, responseSerialize } = definitions[name] as MethodDefinition<unknown, unknown>;
  const read = (bytes: Buffer): unknown => {
    checkMessage(requestTypes[name], bytes);
    try {
      return requestDeserialize(bytes);
    } catch (error) {
      throw new MalformedMessage(`the message cannot be read: ${(error as Error).message}`);
    }
  };
  const handle = (call: ServerReadableStream<Buffer, unknown>, callback: sendUnaryData<unknown>): void => {
    const refuse = (error: Error) => {
      callback({
        code: error instanceof Ended ? error.code : status.INVALID_ARGUMENT,
        details: `${path.replace(/^.*\//, "")}: ${error.message}`,
      });
      if (error instanceof Ended && error.code === status.DEADLINE_EXCEEDED) setImmediate(late, call.getPeer());
    };
    void receive(call, messageMs)
      .then(read)
      .then((request) => answer(request, callback), refuse);
  };
  // A stream of messages to grpc-js: it would give a single one to google-protobuf by itself, and wait for it without an end.
  const asItIs = (bytes: Buffer) => bytes;
  server.register(path, handle as never, responseSerialize as never, asItIs, "clientStream");
};

/** The only message of a call. */
const receive = (call: ServerReadableStream<Buffer, unknown>, withinMs: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const text = `the message did not arrive within ${withinMs / 1000} s`;
    const timer = setTimeout(() => reject(new Ended(status.DEADLINE_EXCEEDED, text)), withinMs).unref();
    let message: Buffer | undefined;
    call
      .on("data", (bytes: Buffer) => {
        if (message) reject(new MalformedMessage("the call has a second message"));
        message ??= bytes;
      })
      .on("end", () => {
        clearTimeout(timer);
        if (message) resolve(message);
        else reject(new MalformedMessage("the call has no message"));
      })
      .on("cancelled", () => {
        clearTimeout(timer);
        reject(new Ended(status.CANCELLED, "the call ended before its message"));
      });
  });
