// A port that nothing listens on: for a server whose address in its tokens is a proxy's, so that both are known before they start.
import { type AddressInfo, createServer } from "node:net";

export const unusedPort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
