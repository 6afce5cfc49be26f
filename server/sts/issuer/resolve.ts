// Resolves the hosts of issuers by DNS (c-ares). The system's resolver blocks one of the four threads of Node's pool while a
// name server is silent, and that pool also computes our signatures. Four names of a dead server would stop every exchange.
import { Resolver } from "node:dns/promises";
import type { Resolve } from "./address.ts";

const TIMEOUT_MS = 2_000;
const TRIES = 2;

// RFC 6761 section 6.3: not for a name server.
const LOCALHOST = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** `servers`: default: the system's */
export const createResolve =
  (options: { servers?: readonly string[]; timeoutMs?: number } = {}): Resolve =>
  async (host) => {
    if (host === "localhost") return LOCALHOST;
    const resolver = new Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: TRIES });
    if (options.servers) resolver.setServers(options.servers);
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    // Many hosts have addresses of one family only.
    if (found.length === 0 && four.status === "rejected") throw four.reason;
    return found;
  };
