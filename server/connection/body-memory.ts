// Bounds the memory of requests that are still arriving, over all connections. At the limit the oldest one is refused. So
// clients that stall do not keep out a client that sends its request at once.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";

export interface Arriving {
  /** Counts bytes that are kept. May end this request, or others. */
  add(bytes: number): void;
  /** The whole request has arrived. It keeps its memory until `release`. */
  complete(): void;
  release(): void;
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

// In bytes: the memory of a request besides its body, such as its head and its stream.
const REQUEST = 8 * 1024;
const RETRY_MS = 1000;

export const createBodyMemory = (max: number) => {
  let total = 0;
  // In the order of their beginning.
  const arriving = new Map<Arriving, () => void>();

  /** A request begins to arrive. `refuse` ends it when another one needs the memory. */
  const begin = (refuse: (error: ApiError) => void): Arriving => {
    let ownBytes = 0;
    const release = () => {
      arriving.delete(request);
      total -= ownBytes;
      ownBytes = 0;
    };
    const request: Arriving = {
      add: (bytes) => {
        ownBytes += bytes;
        total += bytes;
        while (total > max) {
          const [oldest] = arriving.values();
          if (!oldest) return;
          oldest();
        }
      },
      complete: () => arriving.delete(request),
      release,
    };
    arriving.set(request, () => {
      release();
      refuse(overloadError());
    });
    request.add(REQUEST);
    return request;
  };
  return { begin, /** bytes held now */ held: () => total };
};

const overloadError = (): ApiError =>
  apiError("UNAVAILABLE", "too many requests are arriving at once; try again later", {
    details: [retryInfo(RETRY_MS)],
  });
