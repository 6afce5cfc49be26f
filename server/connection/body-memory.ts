// The memory of requests that are still arriving, on all connections together. At the limit the oldest one gives way: however
// many clients stall, one that sends its request at once is served.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";

export interface Arriving {
  /** Counts bytes that are kept. May end this request, or others. */
  add(bytes: number): void;
  /** All of it has arrived: it keeps its memory until `release`. */
  complete(): void;
  release(): void;
}

export interface BodyMemory {
  /** A request begins to arrive. `refuse` ends it when another one needs the memory. */
  begin(refuse: (error: ApiError) => void): Arriving;
  /** bytes held now */
  held(): number;
}

// In bytes: the memory of a request besides its body, such as its head and its stream.
const REQUEST = 8 * 1024;
const RETRY_MS = 1000;

export const createBodyMemory = (max: number): BodyMemory => {
  let total = 0;
  // In the order of their beginning.
  const arriving = new Map<Arriving, () => void>();

  const begin: BodyMemory["begin"] = (refuse) => {
    let own = 0;
    const release = () => {
      arriving.delete(request);
      total -= own;
      own = 0;
    };
    const request: Arriving = {
      add: (bytes) => {
        own += bytes;
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
      refuse(overloaded());
    });
    request.add(REQUEST);
    return request;
  };
  return { begin, held: () => total };
};

const overloaded = (): ApiError =>
  apiError("UNAVAILABLE", "too many requests are arriving at once; try again later", {
    details: [retryInfo(RETRY_MS)],
  });
