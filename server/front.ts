// Serves the REST API for another pipeline (gate/), on loopback, with equal routes, messages, limits and errors.
import { createMetrics } from "./base/metrics.ts";
import { createBounds } from "./connection/bounds.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import { closerOf, listen, urlOf } from "./port/port.ts";
import type { Pages } from "./rest/page.ts";
import { createRouter } from "./rest/route.ts";
import type { HttpOptions } from "./rest/server.ts";
import { createHttp } from "./rest/server.ts";

export type { Call } from "./pipeline/pipeline.ts";
export { PassedOn, restError } from "./rest/refused.ts";

interface FrontOptions {
  pipeline: Pipeline;
  /** Asked before the router, with the address of the front. */
  pages(url: string): Pages;
  /** milliseconds since the epoch, for the header Date */
  clock(): number;
}

const HOST = "127.0.0.1";
const silent = () => {};

/** Errors: ListenError. */
export const startFront = async ({ pipeline, pages, clock }: FrontOptions) => {
  const bounds = createBounds({}, silent);
  const ready = Promise.withResolvers<HttpOptions>();
  let isDraining = false;
  const server = createHttp(ready.promise, bounds);
  server.prependListener("connection", (socket) => {
    if (!bounds.connections.admit(socket)) socket.destroy();
  });
  const close = closerOf(server, () => {
    isDraining = true;
  });
  await listen(server, 0, HOST);
  const url = urlOf(server, HOST, "http");
  ready.resolve({
    ...{ pipeline, pages: pages(url), router: createRouter("both"), strictBodies: false },
    ...{ metrics: createMetrics(bounds), isDraining: () => isDraining, clock, log: silent },
  });
  return {
    /** address, with a port that was free */
    url,
    /** Takes no new requests, and waits for those under way, ten seconds at most. */
    close: () => close(),
  };
};
