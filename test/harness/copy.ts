// Everything that a caller can list, and servers that start with a copy of it.
import { copyOf } from "../../cli/copy.ts";
import type { ServerOptions } from "../../server/index.ts";
import { clientOf } from "../access/client.ts";
import type { Body } from "../support/http.ts";
import { serve, startServer, type TestServer } from "./api-server.ts";
import { COLLECTIONS, listAll } from "./records.ts";

/** The records of every list, as the API returns them. `except`: of one that it refuses. */
export const listEverything = async (api: TestServer, token = api.owner.token, except?: string) => {
  const query = { pageSize: 200, includeReferrers: true, includeDates: true, includeEpochs: true };
  const lists: Record<string, Body[]> = {};
  for (const [plural, [service]] of Object.entries(COLLECTIONS))
    if (plural !== except) lists[plural] = await listAll(api, `${service}/${plural}`, { token, query });
  return lists;
};

export const copyOfServer = (api: TestServer, token?: string) => copyOf(clientOf(api, token), api.baseUrl);

/** A server whose new records have other uids than those of the copy. */
export const startCopy = (seed: ServerOptions["seed"] & object, options: ServerOptions = {}): Promise<TestServer> =>
  startServer({ seed, ids: undefined as never, ...options } as Parameters<typeof startServer>[0]);

/** One that ends like a server of `serve`. */
export const serveCopy = (seed: ServerOptions["seed"] & object, options: ServerOptions = {}): Promise<TestServer> =>
  serve({ seed, ids: undefined, ...options } as Parameters<typeof serve>[0]);
