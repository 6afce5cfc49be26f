// gRPC on connections that the port hands over (docs/internals/contract.md#wire): the methods of the table, reflection and health.
import { constants, type Http2Server, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Duplex } from "node:stream";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Metrics } from "../base/metrics.ts";
import { BODY_MAX, type Bounds, DRAIN_MS, type Side } from "../connection/bounds.ts";
import { type Arrivals, createArrivals, createStreams } from "./arrival.ts";
import { type Calls, createCalls } from "./call.ts";
import { addHealth } from "./health.ts";
import { addMethods, type GrpcMethods } from "./method.ts";
import { addReflection, reflectionPath } from "./reflection.ts";
import { HEALTH_PACKAGE, REFLECTION_PACKAGES } from "./registry.ts";

export interface GrpcOptions extends GrpcMethods {
  metrics: Metrics;
  isServing: () => boolean;
}

export type Grpc = ReturnType<typeof createGrpc>;

// For one connection; further calls of a client wait (RFC 9113 section 5.1.2).
const STREAMS_MAX = 1000;

type RestHandler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Calls wait until `ready`. `rest` answers requests of HTTP/2 that are not gRPC. */
export const createGrpc = (side: Side, ready: Promise<GrpcOptions>, bounds: Bounds, rest: RestHandler) => {
  const { connections, memory, answers, idleMs } = bounds;
  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": BODY_MAX,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": STREAMS_MAX,
    "grpc.max_connection_idle_ms": idleMs,
  });
  const arrivals = createArrivals(memory);
  const openEnded = new Set(REFLECTION_PACKAGES.map(reflectionPath));
  const calls = createCalls({ arrivals, connections, answers, openEnded, ready });
  const streams = createStreams();
  const services = addMethods(server, { side, calls, ready });
  for (const name of REFLECTION_PACKAGES) services.add(`${name}.ServerReflection`);
  services.add(`${HEALTH_PACKAGE}.Health`);
  addReflection(server, { services: [...services].sort(), streams, calls });
  const isServing = async () => (await ready).isServing();
  addHealth(server, { services, streams, calls, isServing });

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const http2 = http2Of(server);
  dispatch(http2, calls.begin, arrivals.count, rest);
  http2.on("session", (session) => {
    const { socket } = session;
    const end = () => {
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    };
    // The window of the connection shrinks with each byte of an answer that is sent, and grows as the client reads.
    connections.useHttp2(socket, end, () => (session.destroyed ? undefined : session.state.remoteWindowSize));
    // No bytes for this long: the client does not take its responses, or is gone.
    session.setTimeout(idleMs, () => {
      if (connections.isIdle(socket)) session.destroy();
    });
  });
  return {
    /** Serves a connection that speaks HTTP/2. */
    accept: (socket: Duplex) => injector.injectConnection(socket),
    /** Takes no new calls, ends the streams of reflection and health, refuses incomplete calls, and lets the others finish. */
    drain: () => {
      streams.end();
      arrivals.end();
      injector.drain(DRAIN_MS);
    },
  };
};

// grpc-js hides its HTTP/2 server, and with it the raw headers, which its handlers never see.
const http2Of = (server: Server) => {
  const { http2Servers } = server as unknown as { http2Servers?: Map<Http2Server, unknown> };
  const [http2] = http2Servers?.keys() ?? [];
  if (!http2) throw new TypeError("grpc-js shows no HTTP/2 server");
  return http2;
};

// The content type marks gRPC; everything else is REST, on HTTP/2 as on HTTP/1.1.
const dispatch = (http2: Http2Server, begin: Calls["begin"], count: Arrivals["count"], rest: RestHandler) => {
  const [serve] = http2.listeners("stream");
  http2.removeAllListeners("stream");
  http2.on("stream", (stream, headers, flags, rawHeaders) => {
    if (headers["content-type"]?.startsWith("application/grpc")) {
      begin(stream, headers, rawHeaders);
      serve?.call(http2, stream, headers, flags);
      // grpc-js has paused the stream until a method asks for the message.
      count(stream);
      return;
    }
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
    rest(request, new Http2ServerResponse(stream));
  });
};
