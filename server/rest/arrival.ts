// The body of a request while it arrives: bounded in size, and read to its end so that the client can read the answer.
import type { IncomingMessage } from "node:http";
import { BODY_MAX } from "../connection/body-size.ts";
import { createByteBuffer } from "../connection/byte-buffer.ts";
import { bodyTooLarge, ClientGone } from "./refused.ts";

// Beyond this the server stops reading a body that it discards.
const DISCARD_MAX = 64 * BODY_MAX;

/** `keep` returns false once the bytes are no longer wanted. Listens: iterating costs five times as much for each chunk. */
export const readBody = (request: IncomingMessage, max: number, keep: (bytes: number) => boolean): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const body = createByteBuffer();
    let size = 0;
    const end = () => (size > max ? reject(bodyTooLarge(max)) : resolve(body.take()));
    // A request that has arrived closes as well.
    const abort = (cause?: unknown) => request.readableEnded || reject(new ClientGone(cause));
    request
      .on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= max && keep(chunk.length)) body.add(chunk);
        else body.take();
        if (size > DISCARD_MAX) {
          end();
          request.destroy();
        }
      })
      .once("end", end)
      .once("error", abort)
      .once("close", abort);
    if (request.destroyed) abort();
  });

/** Reads and discards the rest of a request that was answered without its body. */
export const discardBody = (request: IncomingMessage): void => {
  let size = 0;
  request
    .on("error", () => {})
    .on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > DISCARD_MAX) request.destroy();
    });
};
