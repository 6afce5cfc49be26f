// The bytes of requests that have not come to their end, of all connections together. Where they would be too many, the
// request that has been arriving longest gives way: a client that sends its request at once is served, however many do not.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";

export interface Arriving {
  /** Counts bytes that are kept; may end this request, or others. */
  add(bytes: number): void;
  /** All of it is there: it is kept until it is released. */
  complete(): void;
  release(): void;
}

export interface BodyMemory {
  /** A request begins to arrive. `refuse` ends it when its room is needed. */
  begin(refuse: (error: ApiError) => void): Arriving;
  /** bytes that are held now */
  held(): number;
}

// What a request takes beside its body: its head, its stream, what waits for it. In bytes.
const REQUEST = 8 * 1024;
const RETRY_MS = 1000;

export const createBodyMemory = (max: number): BodyMemory => {
  let total = 0;
  // In the order in which they began.
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
