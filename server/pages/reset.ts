// POST /dev/reset, for tests of clients in other processes: brings back the records of the start. It takes no token, and so
// only requests by a name of loopback, and none that a browser sends for a page of another origin.
import { apiError, isLoopbackAuthority } from "../../schema/index.ts";
import { errorPage, type Pages } from "./page.ts";

export const resetPage =
  (reset: () => Promise<void>): Pages =>
  async ({ method, path, host, origin }) => {
    if (method !== "POST" || path !== "/dev/reset") return undefined;
    if (!isLoopbackAuthority(host))
      return errorPage(apiError("PERMISSION_DENIED", "the reset is reached by a name of loopback only"));
    if (origin !== undefined && !isOf(host, origin))
      return errorPage(apiError("PERMISSION_DENIED", "the reset is not for pages of another origin"));
    await reset();
    return { status: 200, json: {} };
  };

const isOf = (host: string, origin: string): boolean => URL.canParse(origin) && new URL(origin).host === host;
