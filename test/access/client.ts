// A client of a test server, that holds one token.
import { clientWith } from "../../client/client.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import type { TestServer } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";

/** `paths` collects `GET /path` of each request; `wire` sends it. */
export const clientOf = (
  api: Pick<TestServer, "baseUrl"> & { owner: { token: string } },
  token = api.owner.token,
  paths: string[] = [],
  wire: Transport = systemTransport(),
) => {
  const env = { IRM_BASE_URL: api.baseUrl, IRM_TOKEN: token };
  const transport: Transport = (request) => {
    paths.push(`${request.method} ${request.url.pathname}`);
    return wire(request);
  };
  return clientWith({ config: readConfig(undefined, env), env, clock: manualClock(), redactor: redactor(), transport });
};
