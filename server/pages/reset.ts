// POST /dev/reset, for tests of clients in other processes: brings back the records of the start. It takes no token, and so
// only requests by a name of loopback, and none that a browser sends for a page of another origin.
import { type Pages, refusalOfForeign } from "../rest/page.ts";

export const resetPage =
  (reset: () => Promise<void>): Pages =>
  async (request) => {
    if (request.method !== "POST" || request.path !== "/dev/reset") return undefined;
    const refusal = refusalOfForeign("the reset is", request);
    if (refusal) return refusal;
    await reset();
    return { http: 200, json: {} };
  };
