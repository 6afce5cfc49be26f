// Receives the message of a call within a time limit: any process that reaches the port may send anything.
import { type Server, type ServerReadableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import { requestTypes, type ServedMethod } from "./request-type.ts";
import { Ended } from "./status.ts";
import { MalformedMessage, readMessage } from "./wire-format.ts";

/** How long a message may take to arrive. The engine sends it at once. */
const MESSAGE_MS = 60_000;

/** Adds a method. `answer` gets its request. `late`: a client sent only a part of a message; `peer` is the address of its connection. */
export const addMethod = (
  {
    server,
    late,
    messageMs = MESSAGE_MS,
  }: { server: Server; late(peer: string): void; messageMs?: number | undefined },
  name: ServedMethod,
  answer: (request: object, callback: sendUnaryData<Buffer>) => void,
): void => {
  const method = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const handle = (call: ServerReadableStream<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    const refuse = (error: Error) => {
      callback({
        code: error instanceof Ended ? error.code : status.INVALID_ARGUMENT,
        details: `${method}: ${error.message}`,
      });
      if (error instanceof Ended && error.code === status.DEADLINE_EXCEEDED) setImmediate(late, call.getPeer());
    };
    void receive(call, messageMs)
      .then((bytes) => readMessage<object>(requestTypes[name], bytes))
      .then((request) => answer(request, callback), refuse);
  };
  const asItIs = (bytes: Buffer) => bytes;
  // As a stream of messages: grpc-js would wait for a single message without a time limit.
  server.register(`/pulumirpc.ResourceProvider/${method}`, handle as never, asItIs as never, asItIs, "clientStream");
};

/** The only message of a call. */
const receive = (call: ServerReadableStream<Buffer, Buffer>, withinMs: number) =>
  new Promise<Buffer>((resolve, reject) => {
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
