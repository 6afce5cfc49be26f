// The metrics of a server, as a scrape reads them.
import type { TestServer } from "./api-server.ts";

/** Samples of a scrape: value by name with labels, as in the text. */
export const scrape = async (api: TestServer) => {
  const { text } = await api.call("GET", "/metrics", { token: null });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))] as const));
};
