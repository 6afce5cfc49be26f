// The client of the API. The table of operations gives the address and shapes of a call, the credentials give its token, and retry.ts
// retries it. Every failure becomes an ApiError that names its operation.
import { readFile } from "node:fs/promises";
import {
  ApiError,
  type Code,
  isApiError,
  isLoopbackUrl,
  type Json,
  type Operation,
  type OperationName,
  operations,
  printable,
  type RequestOf,
  type ResponseOf,
} from "../schema/index.ts";
import type { Config, Env } from "./config.ts";
import { type Credentials, credentialsFrom, identityOf, type Limits } from "./credentials.ts";
import { isGateRefusal, LostAnswer, NoConnection, type Redactor, RefusedToken } from "./errors.ts";
import { parse, readAnswer, requestOf } from "./rest.ts";
import { type AttemptBudget, AttemptError, type Clock, isAmbiguous, type Retry, retryWith, SAFETY } from "./retry.ts";
import { claimsOf, expiredApiTokenAdvice, isPast, newTokenAdvice, refusalReason } from "./token.ts";
import type { HttpAnswer, HttpRequest, Transport } from "./transport.ts";

export interface CallOptions {
  /** tokens may lack a new permission: retries a denial with new tokens (docs/internals/faults.md#f9) */
  permissionIsNew?: boolean;
  /** shared by all calls of an operation; default: a new budget */
  attempts?: AttemptBudget;
  /** called right before each attempt to send the request */
  beforeSend?: () => Promise<void>;
}

type Call = <N extends OperationName>(
  operation: N,
  request: RequestOf<N>,
  options?: CallOptions,
) => Promise<ResponseOf<N>>;

export type Client = ReturnType<typeof clientWith>;

export interface Caller {
  /** where the API token came from, never the token itself: "IRM_TOKEN" */
  source: string;
  /** the API token comes from an exchange of the workload's own */
  isExchange: boolean;
  /** its claims, unverified; empty if it is not a JWT */
  claims: Readonly<Record<string, unknown>>;
}

export interface WriteCounts {
  deletes: number;
  /** creates and updates */
  others: number;
}

interface ClientParts {
  config: Config;
  env: Env;
  clock: Clock;
  redactor: Redactor;
  transport: Transport;
}

// Five attempts, as for any operation: the second one at once with a new token, the others after 2 to 16 seconds.
const DENIED_WAITS_MS = [0, 2_000, 8_000, 16_000];

export const clientWith = ({ config, env, clock, redactor, transport: wire }: ClientParts) => {
  const retry = retryWith(clock);
  // `Date` of the last response, and when it arrived. Its whole seconds are rounded down, so it is never ahead.
  let lastDate: { dateMs: number; atMs: number } | undefined;
  const transport: Transport = async (request) => {
    const answer = await wire(request);
    const dateMs = Date.parse([answer.headers.date].flat()[0] ?? "");
    if (request.url.href.startsWith(`${config.baseUrl}/`) && Number.isFinite(dateMs))
      lastDate = { dateMs, atMs: clock.now() };
    return answer;
  };
  const timeoutMs = config.requestTimeoutMs;
  const attempt = attemptWith(retry, redactor, transport, timeoutMs);

  const credentials: Credentials = credentialsFrom({
    ...(config.credentials ?? { env }),
    identity: config.identity,
    clock,
    redactor,
    readFile: (path) => readFile(path, "utf8"),
    exchange: async (identityToken, source, limits) => {
      const row: Operation = operations.ExchangeGet;
      const identity = config.identity ? { identity: config.identity } : {};
      const whole = requestOf(row, config.authUrl, { aud: [config.baseUrl], ...identity });
      const http = limits === undefined ? whole : withLimits(whole, limits);
      try {
        const answer = await attempt(
          "Exchange",
          http,
          async () => identityToken,
          (one) => readAnswer(row, "Exchange", one),
        );
        if (typeof answer.token === "string" && answer.token !== "") return answer.token;
        throw new ApiError("UNKNOWN", "the response contains no token", { operation: "Exchange" });
      } catch (error) {
        const workload = { source, claims: claimsOf(identityToken), nowMs: clock.today() };
        throw isApiError(error) ? exchangeError(error, config, workload) : error;
      }
    },
    // https://docs.github.com/actions/reference/security/oidc: the request token gets a token with our issuer as its audience.
    githubToken: (requestUrl, requestToken) => {
      const url = new URL(requestUrl);
      url.searchParams.set("audience", config.authUrl);
      return attempt(GITHUB_TOKEN, { method: "GET", url }, async () => requestToken, readGithubToken);
    },
  });

  const writes: WriteCounts = { deletes: 0, others: 0 };
  const call: Call = async (operation, request, options = {}) => {
    const row: Operation = operations[operation];
    const http = requestOf(row, config.baseUrl, request as Json);
    // The record that its response must be.
    const named = ["GET", "PATCH"].includes(row.method) ? (request as Json) : undefined;
    const waits = options.permissionIsNew ? [...DENIED_WAITS_MS] : [];
    const written = row.method === "GET" ? undefined : row.method === "DELETE" ? "deletes" : "others";
    let token = "";
    let replayed = false;
    if (written) writes[written] += 1;
    try {
      for (;;) {
        try {
          const answer = await attempt(
            operation,
            http,
            async () => {
              token = await credentials.token();
              return token;
            },
            (one) => readAnswer(row, operation, one, named),
            options,
          );
          // The row decodes the response, so it has the row's type.
          return answer as ResponseOf<typeof operation>;
        } catch (error) {
          // 401: the service rejected the token and did nothing. Replay once with a new token.
          if (isApiError(error, "UNAUTHENTICATED") && error.operation === operation) {
            if (replayed || (await credentials.renew(token)) === undefined)
              throw refusedToken(error, credentials.source, token);
            replayed = true;
            continue;
          }
          const wait = isGateRefusal(error) ? undefined : waits.shift();
          if (!isApiError(error, "PERMISSION_DENIED") || error.operation !== operation || wait === undefined)
            throw error;
          await clock.sleep(wait);
          await credentials.renew(token);
        }
      }
    } finally {
      if (written) writes[written] += 1;
    }
  };
  /** the time by the service's clock, never ahead of it (docs/internals/faults.md#f24); undefined before its first response */
  const serverNow = () => lastDate && lastDate.dateMs + clock.now() - lastDate.atMs;
  const refusedToken = (error: ApiError, source: string, token: string) => {
    const claims = claimsOf(token);
    const nowMs = serverNow() ?? clock.today();
    const reason = refusalReason(claims, config.baseUrl, nowMs);
    return new RefusedToken(error, source, { reason, advice: expiredApiTokenAdvice(claims, nowMs) });
  };
  return {
    call,
    /**
     * One attempt with this token, whatever the credentials are. Returns what the service answers, with the token out of its text. Throws an
     * AttemptError where no answer arrives.
     */
    send: async (operation: OperationName, request: Json, token: string): Promise<HttpAnswer> => {
      const http = requestOf(operations[operation], config.baseUrl, request);
      redactor.note(token);
      const answer = await transport({ ...http, timeoutMs, token });
      return { ...answer, body: redactor.redact(answer.body) };
    },
    clock,
    /** The tokens of its calls, and narrower ones. They are secrets. */
    credentials,
    serverNow,
    /** The same; pings the service if it has not answered yet. Falls back to this machine's time. */
    serviceNow: async (): Promise<number> => {
      // If the ping fails, the next request fails too.
      if (!lastDate) await call("Ping", {}).catch(() => undefined);
      return serverNow() ?? clock.today();
    },
    /** uid of the identity that the calls act as; undefined if the API token does not show it */
    identity: async (): Promise<string | undefined> => identityOf(await credentials.token()),
    /** What the API token shows of the caller. Signs in if there is no token yet. */
    caller: async (): Promise<Caller> => {
      const claims = claimsOf(await credentials.token());
      // A setting may name a token of either kind: only the token tells which, so the rest is read after it.
      return { source: credentials.source, isExchange: credentials.isExchange, claims };
    },
    /** Acquires one retry from the quota of the process; false when the quota is exhausted. */
    acquireRetry: retry.acquire,
    /** Counts the begins and ends of calls that write. What was read at another count may be stale. */
    writes: (): WriteCounts => ({ ...writes }),
  };
};

type Unsent = Omit<HttpRequest, "token" | "timeoutMs">;

/** Limits go as a form (docs/internals/contract.md#exchange): an address with all the capabilities of an owner is too long for many proxies. */
const withLimits = ({ url, ...http }: Unsent, { capabilities, scopes }: Limits): Unsent => {
  // A request that names none asks for all of them.
  if (capabilities.length === 0) throw new TypeError("a narrowed token needs a capability");
  const form = new URLSearchParams(url.search);
  for (const one of capabilities) form.append("cap", one);
  for (const one of scopes) form.append("scopes", one);
  return { ...http, method: "POST", url: new URL(url.pathname, url), form: form.toString() };
};

/** Attempts an operation, as the policy of retries allows. Throws an ApiError that names it, without a token of this process in its texts. */
const attemptWith =
  (retry: Retry, redactor: Redactor, transport: Transport, timeoutMs: number) =>
  async <T>(
    operation: string,
    http: Unsent,
    token: () => Promise<string>,
    read: (answer: HttpAnswer) => T,
    { attempts, beforeSend }: CallOptions = {},
  ): Promise<T> => {
    // An exchange changes nothing, so it may be repeated.
    const safety = http.form === undefined ? SAFETY[http.method] : "safe";
    try {
      return await retry(
        safety,
        async () => {
          const request = { ...http, timeoutMs, token: await token() };
          await beforeSend?.();
          return read(await transport(request));
        },
        attempts,
      );
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      const { code, message, details } = error.cause as ApiError;
      // A service's text must not control the terminal that prints it.
      const clean = JSON.parse(redactor.redact(JSON.stringify(details)), (_, value: unknown) =>
        typeof value === "string" ? printable(value) : value,
      ) as ApiError["details"];
      // No cause: it may hold headers.
      const parts = [code, printable(redactor.redact(message)), { details: clean, operation }] as const;
      if (safety === "once" && isAmbiguous(error.failure)) throw new LostAnswer(error.failure, ...parts);
      throw error.failure.sent ? new ApiError(...parts) : new NoConnection(...parts);
    }
  };

const REFUSALS: readonly Code[] = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

const AFTER_RESTART =
  "Was this server restarted without --db? Then its organization, identities and keys are new: set IRM_IDENTITY and the " +
  "token as it prints them.";

const NO_EXCHANGE =
  "Is this the address of the token exchange? It comes from irm:authUrl (or IRM_AUTH_URL), and without one from " +
  "irm:baseUrl (or IRM_BASE_URL).";

// These refusals name their reason, so a restart is not the cause. All refusals have the same code and no details. So the text decides,
// but only about the hint.
const NAMES_ITS_REASON = /token is expired|invalid "(iss|sub|aud)"/;

interface ExchangedToken {
  /** where it came from */
  source: string;
  claims: Json;
  nowMs: number;
}

const exchangeError = (
  error: ApiError,
  { authUrl, identity }: Config,
  { source, claims, nowMs }: ExchangedToken,
): ApiError => {
  const whom = identity ? `identity ${identity}` : "the identity that matches it";
  const head = `exchanging the token of ${source} for ${whom} at ${authUrl}/sts/exchange: ${error.message}`;
  const isRefused = REFUSALS.includes(error.code);
  const advice =
    isRefused && (isPast(claims.exp, nowMs) || /token is expired/.test(error.message))
      ? newTokenAdvice(claims, source)
      : undefined;
  const mayBeRestart =
    isRefused && isLoopbackUrl(authUrl) && advice === undefined && !NAMES_ITS_REASON.test(error.message);
  const hints = [
    ...(mayBeRestart ? [AFTER_RESTART] : []),
    ...(error.code === "NOT_FOUND" ? [NO_EXCHANGE] : []),
    ...(advice === undefined ? [] : [`The token has expired: ${advice}`]),
  ];
  return new ApiError(error.code, [head, ...hints].join("\n"), {
    details: error.details,
    operation: "Exchange",
    cause: error,
  });
};

const GITHUB_TOKEN = "GitHub OIDC token";

const readGithubToken = ({ status, body }: HttpAnswer) => {
  const value = status === 200 ? (parse(body) as { value?: unknown } | null | undefined)?.value : undefined;
  if (typeof value === "string" && value !== "") return value;
  const text = `GitHub Actions returned no OIDC token (HTTP ${status})`;
  throw new AttemptError({ status, sent: true }, new ApiError("UNAVAILABLE", text, { operation: GITHUB_TOKEN }));
};
