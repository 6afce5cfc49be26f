// Ping: whether the API responds.
import type { Services } from "./service.ts";

export const pingService = {
  Ping: () => ({ response: "pong" }),
} satisfies Services<"Ping">;
