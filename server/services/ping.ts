// Ping: whether the API answers at all.
import type { Services } from "./service.ts";

export const pingService = {
  Ping: () => ({ response: "pong" }),
} satisfies Services<"Ping">;
