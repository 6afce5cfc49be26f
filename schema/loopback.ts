// The hosts that are this machine: 127.0.0.0/8 (RFC 1122 section 3.2.1.3), ::1 (RFC 4291 section 2.5.3) and the name
// localhost (RFC 6761 section 6.3). An IPv4-mapped IPv6 address is not among them.

/** Names of this machine as hosts of a URL: with the same port, they name the same service. */
export const LOOPBACK_NAMES: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

const IPV4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

/** `127.0.0.2`, `::1` */
export const isLoopbackAddress = (address: string): boolean => IPV4.test(address) || address === "::1";

/** `localhost`, `127.0.0.2`, `::1`, `[::1]`, in any case */
export const isLoopbackHost = (host: string): boolean => {
  const name = host.toLowerCase();
  return name === "localhost" || isLoopbackAddress(/^\[(.*)\]$/.exec(name)?.[1] ?? name);
};

/** A Host header, with or without a port: `localhost:8080` */
export const isLoopbackAuthority = (authority: string): boolean => isLoopbackHost(authority.replace(/:\d+$/, ""));

/** `http://localhost:8080/path`; false if the text is not a URL */
export const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
