// Ping: whether the API responds.
import type { ServiceMethods } from "./service.ts";

export const pingService = {
  Ping: () => ({ response: "pong" }),
} satisfies ServiceMethods;
