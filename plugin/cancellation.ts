// What ends a call before its work is done: the engine, which cancels all calls of an operation, and the resource's customTimeouts.
import { status } from "@grpc/grpc-js";
import { withSection } from "../client/recovery.ts";
import { nameInKey } from "../provider/record/state.ts";
import type { Request } from "./request-type.ts";
import { Ended } from "./status.ts";

/** What the requests of one resource have in common. */
export type Operation = Partial<Request<"create">>;

/** One for all calls of an operation. */
export const cancellation = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const controller = new AbortController();
  return {
    isDone: false,
    signal: controller.signal,
    now() {
      this.isDone = true;
      resolve();
      controller.abort();
    },
    /** Rejects once the engine cancels. */
    during: (request: Operation): Promise<never> =>
      promise.then(() => {
        throw new Ended(status.CANCELLED, isRecorded(request) ? continued("cancelled: ") : "cancelled");
      }),
  };
};

const continued = (text: string): string =>
  withSection(`${text}the next update continues from the intent journal`, "recovery-waits");

/** Whether the journal may have what the call was about: customTimeouts apply to such calls alone. */
const isRecorded = ({ timeout, preview }: Operation): boolean => timeout !== undefined && !preview;

/** The resource that a request is about. */
export const urnOf = ({ urn = "" }: Operation): string => urn;

// A longer timer would fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/** Rejects once the time that the request gives its call is over. */
export const timeoutOf = (request: Operation): Promise<never> =>
  new Promise((_resolve, reject) => {
    const { timeout: seconds = 0 } = request;
    if (seconds <= 0) return;
    const end = () => {
      const text = `${nameInKey(urnOf(request))}: not finished after ${seconds} s (customTimeouts)`;
      reject(new Ended(status.DEADLINE_EXCEEDED, isRecorded(request) ? continued(`${text}; `) : text));
    };
    setTimeout(end, Math.min(seconds * 1000, LONGEST_MS)).unref();
  });
