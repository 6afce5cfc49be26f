// Streams that have no end of their own (reflection, a watched health): the end of the server ends them.
import type { EventEmitter } from "node:events";

export interface Streams {
  /** `end` is called when the server drains, unless the client has ended the stream before. */
  opened(call: EventEmitter, end: () => void): void;
  end(): void;
}

export const createStreams = (): Streams => {
  const open = new Map<EventEmitter, () => void>();
  return {
    opened: (call, end) => {
      open.set(call, end);
      for (const event of ["cancelled", "close", "finish"]) call.once(event, () => open.delete(call));
    },
    end: () => {
      for (const end of [...open.values()]) end();
    },
  };
};
