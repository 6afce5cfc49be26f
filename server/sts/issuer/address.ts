// Decides which hosts the server may ask for an issuer's documents: public ones over https, and with `dev` also loopback. Otherwise a
// stored issuer could make the server read its own network (SSRF). The check applies to the address of the connection itself,
// so a name that resolves to another address later gains nothing (DNS rebinding).
import type { LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { isLoopbackAddress, isLoopbackHost } from "../../../schema/index.ts";

/** Looks a host up, as `lookup` of node:dns/promises does with `all`. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>;

// IANA special-purpose registries (RFC 6890): everything that is not globally reachable, and multicast.
const PRIVATE_IPV4 = blockList("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  // Global by the registry, but in one cloud (Azure) the agent of every host.
  ["168.63.129.16", 32],
]);
// Global unicast is 2000::/3. Outside of it lie ::1, mapped and translated IPv4, fc00::/7, fe80::/10 and multicast;
// inside of it Teredo and its neighbours, 6to4 and documentation.
const GLOBAL_IPV6 = blockList("ipv6", [["2000::", 3]]);
const SPECIAL_IPV6 = blockList("ipv6", [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);

function blockList(family: "ipv4" | "ipv6", subnets: [address: string, prefix: number][]) {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}

export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 4) return !PRIVATE_IPV4.check(address, "ipv4");
  return isIP(address) === 6 && GLOBAL_IPV6.check(address, "ipv6") && !SPECIAL_IPV6.check(address, "ipv6");
};

/** The URL of a document. Throws TypeError. Checks addresses in the URL, which a socket does not look up. */
export const documentUrl = (text: string, options: { loopback: boolean }): URL => {
  if (!URL.canParse(text)) throw new TypeError("not a URL");
  const url = new URL(text);
  if (url.username || url.password) throw new TypeError("a URL with a user");
  if (isLoopbackHost(url.hostname)) {
    if (!options.loopback) throw new TypeError("a URL on loopback");
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new TypeError("neither https nor http");
    return url;
  }
  if (url.protocol !== "https:") throw new TypeError("not https");
  const address = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) && !isPublicAddress(address)) throw new TypeError("not a public address");
  return url;
};

/**
 * The name look-up of a socket: one look-up, and a connection only if all addresses are public. Only `localhost` must resolve
 * to loopback; `documentUrl` decides whether it is allowed.
 */
export const guardedLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    const isAllowed = hostname === "localhost" ? isLoopbackAddress : isPublicAddress;
    const addresses = resolve(hostname).then((found) => {
      if (found.length === 0 || !found.every(({ address }) => isAllowed(address)))
        throw new TypeError("the host resolves to an address that is not public");
      return found as [LookupAddress, ...LookupAddress[]];
    });
    addresses.then(
      (found) => (options.all ? callback(null, found) : callback(null, found[0].address, found[0].family)),
      (error) => callback(error, ""),
    );
  };
