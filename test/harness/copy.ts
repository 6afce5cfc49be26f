// Everything that a caller can list, and servers that start with a copy of it.
import { copyOf } from "../../cli/copy.ts";
import type { ServerOptions } from "../../server/index.ts";
import { clientOf } from "../access/client.ts";
import type { Body } from "../support/http.ts";
import { IAM, REGISTRY, serve, startServer, type TestServer } from "./api-server.ts";

const LISTS: Readonly<Record<string, string>> = {
  groups: IAM,
  roles: IAM,
  identities: IAM,
  identityProviders: IAM,
  externalGroupRoleMappings: IAM,
  roleBindings: IAM,
  groupInvites: IAM,
  accountAssociations: IAM,
  repos: REGISTRY,
  tags: REGISTRY,
};

/** The records of every list, as the API returns them. `except`: of one that it refuses. */
export const listEverything = async (
  api: TestServer,
  token = api.owner.token,
  except?: string,
): Promise<Record<string, Body[]>> => {
  const lists: Record<string, Body[]> = {};
  for (const [plural, service] of Object.entries(LISTS)) {
    if (plural === except) continue;
    const records: Body[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const query = { pageSize: 200, pageToken, includeReferrers: true, includeDates: true, includeEpochs: true };
      const page = await api.ok("GET", `${service}/${plural}`, { query, token });
      records.push(...page[plural]);
      pageToken = page.nextPageToken;
    }
    lists[plural] = records;
  }
  return lists;
};

export const copyOfServer = (api: TestServer, token?: string) => copyOf(clientOf(api, token), api.baseUrl);

/** A server whose new records have other uids than those of the copy. */
export const startCopy = (seed: ServerOptions["seed"] & object, options: ServerOptions = {}): Promise<TestServer> =>
  startServer({ seed, ids: undefined as never, ...options } as Parameters<typeof startServer>[0]);

/** One that ends like a server of `serve`. */
export const serveCopy = (seed: ServerOptions["seed"] & object, options: ServerOptions = {}): Promise<TestServer> =>
  serve({ seed, ids: undefined, ...options } as Parameters<typeof serve>[0]);
