// Streams without an end of their own (reflection, a watched health): the end of the server ends them.
import type { EventEmitter } from "node:events";

export type Streams = ReturnType<typeof createStreams>;

// For all clients, who need no token. One more ends the stream that has been open longest.
const STREAMS_MAX = 1000;

export const createStreams = () => {
  const open = new Map<EventEmitter, () => void>();
  let hasEnded = false;
  return {
    /** `end`: called when the server drains and the stream is open. `left`: called once it has ended, for any reason. */
    opened: (call: EventEmitter, end: () => void, left?: () => void): void => {
      open.set(call, end);
      if (open.size > STREAMS_MAX) {
        const [oldest] = open.values();
        oldest?.();
      }
      const close = () => {
        if (open.delete(call)) left?.();
      };
      for (const event of ["cancelled", "close", "finish"]) call.once(event, close);
      // It arrived when the drain had begun.
      if (hasEnded) end();
    },
    end: (): void => {
      hasEnded = true;
      for (const end of [...open.values()]) end();
    },
  };
};
