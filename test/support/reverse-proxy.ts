// A reverse proxy that passes the Host header on: HTTP/1.1 on one port, gRPC in the clear on another.
import { createServer, request } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { listen } from "./listen.ts";

/** `target` is asked for each request: it may start after the proxy. */
export const startReverseProxy = async (target: () => string) => {
  const http = createServer((incoming, outgoing) => {
    const { method = "GET", url: path, headers } = incoming;
    const passed = request(target(), { method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  const http2 = createHttp2Server();
  http2.on("stream", (incoming, headers) => {
    const session = connect(target());
    const passed = session.request(headers, { endStream: false });
    passed.on("response", (answer) => incoming.respond(answer, { waitForTrailers: true }));
    passed.on("trailers", (trailers) => incoming.once("wantTrailers", () => incoming.sendTrailers(trailers)));
    passed.on("close", () => session.close());
    incoming.pipe(passed);
    passed.pipe(incoming);
  });
  const [url, grpcUrl] = [`http://localhost:${await listen(http)}`, `http://localhost:${await listen(http2)}`];
  return {
    /** by a name of loopback */
    url,
    grpcUrl,
    close: async (): Promise<void> => {
      http.closeAllConnections();
      await Promise.all([http, http2].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
};
