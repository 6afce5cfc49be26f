// Which proxy a request goes through, by the variables that undici reads (client/transport.ts). A proxy's user and password are not shown.
import type { Env } from "../../client/env.ts";
import { isLoopbackUrl } from "../../schema/index.ts";
import { bad, type Check, good } from "./check.ts";

export const checkProxy = (address: string, env: Env): Check => {
  const url = new URL(address);
  const http = pick(env, "http_proxy", "HTTP_PROXY");
  const used = (url.protocol === "https:" ? pick(env, "https_proxy", "HTTPS_PROXY") : undefined) ?? http;
  if (used === undefined) return good("proxy", "none is set");
  const shown = withoutSecret(used.value);
  if (shown === undefined)
    return bad("proxy", `${used.name} is not a URL`, `set ${used.name} to http://HOST:PORT, or unset it`);
  if (isLoopbackUrl(address)) return good("proxy", `${used.name} is not used: ${url.host} is this machine`);
  if (isExempt(url, env)) return good("proxy", `${used.name} is not used: NO_PROXY lists ${url.hostname}`);
  return good("proxy", `${shown} (${used.name})`);
};

const pick = (env: Env, ...names: string[]): { name: string; value: string } | undefined =>
  names.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])).at(0);

const withoutSecret = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, username, password } = new URL(text);
  return `${protocol}//${username || password ? "[secret]@" : ""}${host}`;
};

// Entries are hosts, with or without a port, and stand for the hosts below them too; * is every host.
const isExempt = ({ hostname, port, protocol }: URL, env: Env): boolean => {
  const used = port || (protocol === "https:" ? "443" : "80");
  const entries = (env.no_proxy ?? env.NO_PROXY ?? "").toLowerCase().split(/[,\s]+/);
  return entries.filter(Boolean).some((entry) => {
    const [, host = entry, entryPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    if (entryPort !== undefined && entryPort !== used) return false;
    const name = host.replace(/^\*?\./, "");
    return name === "*" || hostname === name || hostname.endsWith(`.${name}`);
  });
};
