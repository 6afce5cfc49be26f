// Ping: whether the API answers at all. No token needed.
import { message, plain, string } from "../field.ts";
import { type Operations, rows } from "../operation.ts";

export const pingOperations = rows("ping.PingService", "/ping/{version}", {
  Ping: {
    http: "GET /ping",
    request: message("ping.PingRequest", {}),
    response: message("ping.PingResponse", { response: plain(1, string, { text: "What the request had" }) }),
    capabilities: [],
    auth: "none",
  },
}) satisfies Operations;
