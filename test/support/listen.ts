// Servers on loopback.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Returns its port; 0: any free one. */
export const listen = async (server: Server, port = 0): Promise<number> => {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

/** A port that nothing listens on: for a server whose address in its tokens is a proxy's, so that both are known before they start. */
export const unusedPort = async (): Promise<number> => {
  const server = createServer();
  return listen(server).finally(() => server.close());
};
