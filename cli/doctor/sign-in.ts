// Whether the service accepts the credentials, and the reason for a refused exchange of a workload's token. The exchange tells a stranger
// nothing, so this compares the claims of the token with the identity, or shows them. It neither keeps nor prints the token itself.
import { type WhoAmI, whoAmI } from "../../access/query/whoami.ts";
import { relativeTimeText } from "../../access/text.ts";
import {
  type ClaimCheck,
  type Comparison,
  claimText,
  compareClaims,
  compareTimes,
} from "../../access/workload/claims.ts";
import { isSameAddress, without } from "../../client/addresses.ts";
import { type Client, clientWith } from "../../client/client.ts";
import { type Config, type Env, serviceOf } from "../../client/config.ts";
import { API_TOKENS } from "../../client/credential-settings.ts";
import { missingCredentials } from "../../client/credentials.ts";
import { apiErrorOf, hasCode, redactor, withoutSection } from "../../client/errors.ts";
import { getRecord, listAll } from "../../client/records.ts";
import { systemClock } from "../../client/retry.ts";
import { claimsOf, newTokenAdvice } from "../../client/token.ts";
import type { Transport } from "../../client/transport.ts";
import { isUidp, type Json, printable, resources } from "../../schema/index.ts";
import { clientErrorText } from "../client.ts";
import { bad, type Check, good } from "./check.ts";

/** `nowMs`: by the service's clock. */
export const checkSignIn = async (config: Config, env: Env, transport: Transport, nowMs: number): Promise<Check[]> => {
  const secrets = redactor();
  /** the token of the last exchange */
  const seen: { claims?: Json; isAccepted: boolean } = { isAccepted: false };
  const watched: Transport = async (request) => {
    const isExchange = request.url.pathname.endsWith("/sts/exchange");
    if (isExchange) Object.assign(seen, { claims: claimsOf(request.token), isAccepted: false });
    const answer = await transport(request);
    if (isExchange) seen.isAccepted = answer.status === 200;
    return answer;
  };
  const clientOf = (own: Config, ownEnv: Env) =>
    clientWith({ config: own, env: ownEnv, clock: systemClock, redactor: secrets, transport: watched });
  const { credentials: _, ...plain } = config;

  const main = await attempt("sign-in", nowMs, () => clientOf(config, env));
  // A token of the API comes first, so a workload's token beside it is not tried yet.
  const isBeside =
    !config.credentials && hasApiToken(env) && missingCredentials({ env: withoutApiToken(env) }) === undefined;
  const beside = isBeside ? await attempt("exchange", nowMs, () => clientOf(plain, withoutApiToken(env))) : undefined;
  const checks = [main.check, ...(beside ? [beside.check] : [])];

  const { claims, isAccepted } = seen;
  const workload = beside ?? main;
  // Without an answer of the exchange there is nothing to explain.
  if (claims === undefined || (!isAccepted && !workload.isRefused)) return checks;
  const mayRead = hasApiToken(env) && isSameAddress(config.baseUrl, env.IRM_BASE_URL ?? "");
  const reader = isBeside || !mayRead ? main : await attempt("reader", nowMs, () => clientOf(plain, env));
  const target = config.identity ?? workload.who?.identity ?? undefined;
  const { authUrl, baseUrl } = config;
  const audiences = [authUrl, new URL(authUrl).host, baseUrl, serviceOf(authUrl), serviceOf(baseUrl)];
  const comparison = { claims, audiences, nowMs };
  const variable = config.credentials ? undefined : WORKLOAD_TOKENS.find((name) => env[name]);
  const checkOf = ({ claim, isMet, message, fix }: ClaimCheck): Check => {
    const advice = claim === "exp" && !isMet ? newTokenAdvice(claims, variable) : undefined;
    return { id: `claim.${claim}`, ok: isMet, message, fix: fix && (advice ?? fix) };
  };
  // The exchange refuses a token whose time is over, for each identity.
  const outdated = compareTimes(claims, nowMs).filter(({ isMet }) => !isMet);
  const { client } = reader;
  if (client && target === undefined) return [...checks, await findIdentity(client, comparison)];
  const record = client && target !== undefined ? await readIdentity(client, target) : "hidden";
  if (record === "missing") {
    const missing = `there is no identity ${target}`;
    return [...checks, bad("claims", missing, "set IRM_IDENTITY to the uid of one that exists")];
  }
  if (record === "hidden") {
    const shown = outdated.length > 0 && !isAccepted ? outdated.map(checkOf) : [showClaims(comparison, isAccepted)];
    return [...checks, ...shown];
  }
  const compared = compareClaims(record, comparison).map(checkOf);
  // The service has the last word: it may accept more audiences than are known here.
  if (isAccepted) return [...checks, ...compared.filter(({ ok }) => ok)];
  const end = compared.every(({ ok }) => ok) ? [bad("claims", ALL_MET, OTHER_REASONS)] : [];
  return [...checks, ...compared, ...end];
};

const ALL_MET = "every claim is as the identity wants it, so the exchange is refused for another reason";
const OTHER_REASONS =
  "can the service reach the token's issuer and its keys? Is the token signed with one of them? Its log has the reason";

/** `id`: of its check. The client and its identity are present if the service accepted the credentials. `isRefused`: the service answered. */
const attempt = async (
  id: string,
  nowMs: number,
  create: () => Client,
): Promise<{ check: Check; client?: Client; who?: WhoAmI; isRefused?: boolean }> => {
  try {
    const client = create();
    const who = await whoAmI(client);
    const { name, identity, source, expires } = who;
    const text = `${name ?? "an identity whose name it cannot read"} ${identity ?? ""}, by ${source}`;
    if (expires === null) return { client, who, check: good(id, text) };
    const ms = Date.parse(expires);
    const until = Number.isNaN(ms) ? expires : relativeTimeText(ms, nowMs);
    return { client, who, check: good(id, `${text}, until ${until}`) };
  } catch (error) {
    const whole = clientErrorText(error);
    if (whole === undefined) throw error;
    // Each check has a remedy of its own.
    const text = withoutSection(whole);
    const isUnreached = hasCode(error, "UNAVAILABLE");
    const isExchange = apiErrorOf(error)?.operation === "Exchange";
    const fix = isUnreached ? ADDRESSES : isExchange ? CLAIMS : CREDENTIALS;
    return { isRefused: !isUnreached, check: bad(id, text, fix) };
  }
};

const CREDENTIALS =
  "get a new API token (docs/connect.md#sign-in), or correct the credentials (docs/reference/provider.md#credentials)";
const CLAIMS = "the claims below show what the token has";
const ADDRESSES =
  "is the address of the token exchange right? It is IRM_AUTH_URL, and without it follows from IRM_BASE_URL";

const WORKLOAD_TOKENS = ["IRM_IDENTITY_TOKEN", "IRM_IDENTITY_TOKEN_FILE"];

const hasApiToken = (env: Env) => API_TOKENS.some((name) => env[name]);

const withoutApiToken = (env: Env): Env => without(env, API_TOKENS);

const { identity: IDENTITY } = resources;

const readIdentity = async (client: Client, uid: string): Promise<Json | "missing" | "hidden"> => {
  try {
    return await getRecord(client, IDENTITY, uid);
  } catch (error) {
    if (apiErrorOf(error) === undefined) throw error;
    return hasCode(error, "NOT_FOUND") ? "missing" : "hidden";
  }
};

/** The identities that the reader can list and that would accept the token. */
const findIdentity = async (client: Client, comparison: Comparison): Promise<Check> => {
  const found: string[] = [];
  try {
    // The advice is for a shell, so a service must not write anything else into it.
    for await (const record of listAll(client, IDENTITY.list, {}))
      if (compareClaims(record, comparison).every(({ isMet }) => isMet)) found.push(`${record.uid} ${record.name}`);
  } catch (error) {
    const text = clientErrorText(error);
    if (text === undefined) throw error;
    if (hasCode(error, "PERMISSION_DENIED")) return showClaims(comparison, false);
    return bad("claims", text, "run it again, or set IRM_IDENTITY to the identity that is meant");
  }
  if (found.length === 0)
    return bad(
      "claims",
      `no identity that you can list accepts this token:${claimLines(comparison)}`,
      "set IRM_IDENTITY to the identity that is meant, and run it again",
    );
  return bad(
    "claims",
    `without IRM_IDENTITY, exactly one identity must have the token's issuer and subject; the token fits:${found.sort().map(printableLine).join("")}`,
    `export IRM_IDENTITY=${found[0]?.split(" ", 1)[0]}`,
  );
};

const printableLine = (text: string) => `\n  ${printable(text)}`;

const showClaims = (comparison: Comparison, isAccepted: boolean): Check => {
  const { claims } = comparison;
  const lines = claimLines(comparison);
  if (isAccepted) return good("claims", `the identity accepts a token with these claims:${lines}`);
  // The subject of an API token is an identity of the service.
  if (isUidp(claims.sub))
    return bad("claims", `this is an API token, and not a workload's:${lines}`, "give it as IRM_TOKEN");
  return bad(
    "claims",
    `you cannot read the identity, so compare the claims of the token with it:${lines}`,
    "set IRM_TOKEN to a token that may read the identity (identity.list), beside the workload's, and run it again",
  );
};

const claimLines = ({ claims, nowMs }: Comparison) =>
  Object.entries(claims)
    .map(([name, value]) => printableLine(`${name}: ${claimText(name, value, nowMs)}`))
    .join("");
