// Addresses of services: those that may get a token, and corrections of texts that lack a scheme. No message quotes a value that may hold a
// password.

// In lower case, so that a token by mistake is not taken for a host.
const WITHOUT_SCHEME = /^((?:[a-z\d-]{1,63}\.)*[a-z\d-]{1,63}|\[[\da-f:]+\])(:\d{1,5})?(\/.*)?$/s;

/** The problem of an address such as `127.0.0.1:8080`; undefined for any other text. */
export const schemeProblem = (text: string): string | undefined => {
  const [, host, port = "", path = ""] = WITHOUT_SCHEME.exec(text) ?? [];
  if (host === undefined) return undefined;
  const isHere = isLoopbackHost(host);
  if (!isHere && port === "" && !host.includes(".")) return undefined;
  return `has no scheme; write ${isHere ? "http" : "https"}://${host}${port}${path.length > 1 ? "/…" : ""}`;
};

/** Why no token may be sent to an address; undefined if it may. */
export const protocolProblem = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "must be an https URL";
  const { protocol, hostname } = new URL(text);
  if (protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname))) return undefined;
  return "must be an https URL; http is for loopback only, since tokens would travel in the clear";
};

/** The same for the address of a service, which a person writes, and which the paths of methods follow. */
export const addressProblem = (text: string): string | undefined => {
  const problem = schemeProblem(text);
  if (problem !== undefined) return problem;
  if (URL.canParse(text)) {
    const { username, password, search, hash } = new URL(text);
    if (username || password || search || hash) return "must be a URL without user, query or fragment";
  }
  return protocolProblem(text);
};

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
