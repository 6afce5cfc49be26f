// Streams that have no end of their own (reflection, a watched health): the end of the server ends them.
import type { EventEmitter } from "node:events";

export interface Streams {
  /** `end` is called when the server drains, unless the stream has ended before; `left` when it has ended, however. */
  opened(call: EventEmitter, end: () => void, left?: () => void): void;
  end(): void;
}

// All together: with one more, the one that has been open longest is ended. Nobody needs a token for them.
const STREAMS_MAX = 1000;

export const createStreams = (): Streams => {
  const open = new Map<EventEmitter, () => void>();
  let hasEnded = false;
  return {
    opened: (call, end, left) => {
      open.set(call, end);
      if (open.size > STREAMS_MAX) {
        const [oldest] = open.values();
        oldest?.();
      }
      const close = () => {
        if (open.delete(call)) left?.();
      };
      for (const event of ["cancelled", "close", "finish"]) call.once(event, close);
      // It was on its way when the drain began.
      if (hasEnded) end();
    },
    end: () => {
      hasEnded = true;
      for (const end of [...open.values()]) end();
    },
  };
};
