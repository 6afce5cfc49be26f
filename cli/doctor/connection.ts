// Whether the API answers at its address: the connection, its certificate, and how far this machine's clock is from the service's.
import { constants } from "node:fs";
import { spanText } from "../../access/text.ts";
import type { Env } from "../../client/addresses.ts";
import type { Config } from "../../client/config.ts";
import { apiErrorOf, sessionErrorOf, sessionText, withoutSection } from "../../client/errors.ts";
import { readAnswer, requestOf } from "../../client/rest.ts";
import { AttemptError } from "../../client/retry.ts";
import type { HttpAnswer, Transport } from "../../client/transport.ts";
import { isLoopbackUrl, type Operation, operations } from "../../schema/index.ts";
import { isAccessible } from "../files.ts";
import { bad, type Check, good } from "./check.ts";

const PING: Operation = operations.Ping;

/** Sends no token. `isReached`: requests to the API make sense. `serviceNowMs`: by the service's clock, if it tells. */
export const checkConnection = async (
  config: Config,
  transport: Transport,
  env: Env,
): Promise<{ checks: Check[]; isReached: boolean; serviceNowMs?: number }> => {
  const { baseUrl, requestTimeoutMs } = config;
  const isTls = baseUrl.startsWith("https:");
  const began = Date.now();
  let answer: HttpAnswer;
  try {
    answer = await transport({ ...requestOf(PING, baseUrl, {}), token: "", timeoutMs: requestTimeoutMs });
  } catch (error) {
    const { text, code } = failureOf(error);
    const tls = isTls && isCertificateCode(code);
    const check = bad(tls ? "tls" : "connection", text, fixFor(code));
    return { checks: [check, ...checkTlsSettings(env)], isReached: false };
  }
  const ended = Date.now();
  let problem: string | undefined;
  try {
    readAnswer(PING, "Ping", answer);
  } catch (error) {
    problem = failureOf(error).text;
  }
  const checks = [
    problem === undefined
      ? good("connection", `${baseUrl} answers in ${ended - began} ms`)
      : bad(
          "connection",
          `${baseUrl} answers, but not as the API: ${problem}`,
          "is IRM_BASE_URL the address of the API?",
        ),
    ...(isTls
      ? checkTlsSettings(env, "the certificate of the service is trusted")
      : [good("tls", "none: the address is on this machine")]),
  ];
  const dateMs = Date.parse([answer.headers.date].flat()[0] ?? "");
  if (!Number.isFinite(dateMs)) return { checks, isReached: problem === undefined };
  // A Date is whole seconds, rounded down; the service wrote the answer between the two moments.
  const ahead = (began + ended) / 2 - (dateMs + 500);
  const span = spanText(Math.abs(ahead));
  const clock =
    Math.abs(ahead) <= CLOCK_MS
      ? good("clock", `within ${span} of the service's`)
      : bad(
          "clock",
          `this machine is ${span} ${ahead > 0 ? "ahead of" : "behind"} the service`,
          "synchronize its clock (NTP): certificates and tokens depend on the time",
        );
  return { checks: [...checks, clock], isReached: problem === undefined, serviceNowMs: ended - ahead };
};

const failureOf = (error: unknown) => {
  const cause = error instanceof AttemptError ? error.cause : error;
  const session = sessionErrorOf(cause);
  if (session) return { text: withoutSection(sessionText(session)), code: "" };
  const api = apiErrorOf(cause);
  if (!api) throw error;
  return { text: api.message, code: String((api.cause as NodeJS.ErrnoException | undefined)?.code ?? "") };
};

const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|HOSTNAME_MISMATCH$|ERR_SSL_|EPROTO$)/;

const isCertificateCode = (code: string) => CERTIFICATE.test(code);

const fixFor = (code: string): string => {
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return "renew the certificate of the service, or correct the clock of this machine";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "use the name that the certificate of the service has";
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return "does this port speak TLS? Is a proxy in between?";
  if (isCertificateCode(code)) return "set NODE_EXTRA_CA_CERTS to a file with the certificate authority, in PEM";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return "is the host of IRM_BASE_URL right? Does it need a proxy or a VPN?";
  return "is the service running, and is IRM_BASE_URL its address? Does it need a proxy or a VPN?";
};

/** Wrong settings of Node for TLS; without any, the message, if there is one. */
const checkTlsSettings = (env: Env, message?: string): Check[] => {
  const { NODE_EXTRA_CA_CERTS: file, NODE_TLS_REJECT_UNAUTHORIZED: rejects } = env;
  if (rejects === "0")
    return [
      bad(
        "tls-settings",
        "NODE_TLS_REJECT_UNAUTHORIZED=0: this machine takes any certificate, so anyone on the way reads its tokens",
        "unset it, and set NODE_EXTRA_CA_CERTS",
      ),
    ];
  if (file && !isAccessible(file, constants.R_OK))
    return [
      bad("tls-settings", "NODE_EXTRA_CA_CERTS names a file that cannot be read", "correct the path: Node ignores it"),
    ];
  if (message === undefined) return [];
  return [good("tls", file ? `${message}; NODE_EXTRA_CA_CERTS adds authorities` : message)];
};

/** As tolerant as the exchange is with the times of a token. */
const CLOCK_MS = 60_000;

// Which proxy a request goes through, by the variables that undici reads (client/transport.ts). A proxy's user and password are not shown.

export const checkProxy = (address: string, env: Env): Check => {
  const url = new URL(address);
  const http = pick(env, "http_proxy", "HTTP_PROXY");
  const used = (url.protocol === "https:" ? pick(env, "https_proxy", "HTTPS_PROXY") : undefined) ?? http;
  if (used === undefined) return good("proxy", "none is set");
  const { name, value } = used;
  if (!URL.canParse(value)) return bad("proxy", `${name} is not a URL`, `set ${name} to http://HOST:PORT, or unset it`);
  if (isLoopbackUrl(address)) return good("proxy", `${name} is not used: ${url.host} is this machine`);
  if (isExempt(url, env)) return good("proxy", `${name} is not used: NO_PROXY lists ${url.hostname}`);
  const { protocol, host, username, password } = new URL(value);
  return good("proxy", `${protocol}//${username || password ? "[secret]@" : ""}${host} (${name})`);
};

const pick = (env: Env, ...names: string[]) =>
  names.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])).at(0);

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
