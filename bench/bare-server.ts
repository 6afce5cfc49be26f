// The cost of a request to any Node server: receives a body, reads it as UTF-8 and JSON, responds. Prints its port.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
    response.writeHead(200).end("{}");
  } catch {
    response.writeHead(400).end("{}");
  }
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
