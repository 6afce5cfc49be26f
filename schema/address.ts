// Addresses of services: which ones a token may be sent to, and what to write instead of one that is not an address. No message quotes
// a value that may hold a password.
import { isLoopbackHost } from "./loopback.ts";

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
