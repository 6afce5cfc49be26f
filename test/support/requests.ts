import type { SeenRequest } from "../harness/api-process.ts";

/** The requests that change records. */
export const writesOf = (requests: readonly SeenRequest[]): SeenRequest[] =>
  requests.filter(({ method, operation }) => method !== "GET" && !operation?.startsWith("Exchange"));
