// POST /dev/reset, for tests of clients in other processes: the records as they were at the start. Without a token, and so by a
// name of loopback only, as the development issuer; and not for a page of another origin, whose POST a browser here would send.
import { apiError, isLoopbackAuthority } from "../../schema/index.ts";
import type { HttpOptions, Page } from "../rest/server.ts";
import { refused } from "./issuer.ts";

export const resetPage =
  (reset: () => Promise<void>): HttpOptions["pages"] =>
  async (method, path, _body, host, origin): Promise<Page | undefined> => {
    if (method !== "POST" || path !== "/dev/reset") return undefined;
    if (!isLoopbackAuthority(host))
      return refused(apiError("PERMISSION_DENIED", "the reset is reached by a name of loopback only"));
    if (origin !== undefined && !isOf(host, origin))
      return refused(apiError("PERMISSION_DENIED", "the reset is not for pages of another origin"));
    await reset();
    return { status: 200, json: {} };
  };

const isOf = (host: string, origin: string): boolean => URL.canParse(origin) && new URL(origin).host === host;
