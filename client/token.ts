// The claims of a token, as it shows them. Nothing has verified them.
import { decodeJwt } from "jose/jwt/decode";
import { isLoopbackUrl, isUidp, type Json, printable } from "../schema/index.ts";
import { isAudience } from "./addresses.ts";

/** Empty for a token that is not a JWT. */
export const claimsOf = (token: string): Record<string, unknown> => {
  try {
    return decodeJwt(token);
  } catch {
    // an opaque token
    return {};
  }
};

/** Whether a claim in seconds, such as `exp`, is in the past. */
export const isPast = (time: unknown, nowMs: number): boolean => typeof time === "number" && time * 1000 <= nowMs;

/** Why the API refuses a token, as far as the token itself shows; undefined if it does not. */
export const refusalReason = (claims: Json, baseUrl: string, nowMs: number): string | undefined => {
  if (isPast(claims.exp, nowMs)) return "it has expired";
  const audiences = [claims.aud].flat().filter((one) => typeof one === "string");
  if (audiences.length === 0 || isAudience(claims, [baseUrl])) return undefined;
  return `its audience is ${printable(audiences.join(", ")).slice(0, MAX_LENGTH)}, and the address of the API is ${baseUrl}`;
};

// Of a text in an error. The token may be from anywhere.
const MAX_LENGTH = 200;

// How to get another token like one of the development issuer (`npx pulumi-irm serve --dev`), which mints tokens for anyone on this machine.

const ISSUER = /^https?:\/\/[\w.:[\]-]+\/dev-issuer$/;

/** What the issuer writes itself. */
const STANDARD = ["iss", "sub", "aud", "exp", "iat", "nbf", "jti"];

// The command is for a shell, and the token may be from anywhere.
const DEV_TOKEN_LENGTH_MAX = 500;

const word = (text: string) => (/^[\w.:/@=+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

const claimArgument = (value: unknown): string => {
  if (typeof value !== "string") return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    // Not JSON, so the command takes it as a text.
    return value;
  }
};

/** The command for a token with these claims; undefined if another issuer issued it. */
const commandFor = ({ iss, sub, aud, ...others }: Json): string | undefined => {
  if (typeof iss !== "string" || !ISSUER.test(iss) || !isLoopbackUrl(iss) || typeof sub !== "string") return undefined;
  const isDefault = aud === undefined || aud === iss.replace(/\/dev-issuer$/, "");
  const claims = Object.entries(others).filter(([name]) => !STANDARD.includes(name));
  const command = [
    `npx pulumi-irm serve token --issuer ${iss} --subject ${word(sub)}`,
    ...(isDefault || typeof aud !== "string" ? [] : [`--audience ${word(aud)}`]),
    ...claims.map(([name, value]) => `--claim ${word(`${name}=${claimArgument(value)}`)}`),
  ].join(" ");
  return command.length > DEV_TOKEN_LENGTH_MAX || /[^\x20-\x7e]/.test(command) ? undefined : command;
};

/** For an expired token of a workload; `source` is the variable that holds it, or names its file. */
export const newTokenAdvice = (claims: Json, source?: string): string | undefined => {
  const command = commandFor(claims);
  if (command === undefined) return undefined;
  if (source === "IRM_IDENTITY_TOKEN") return `get a new one: export ${source}=$(${command})`;
  return `get a new one: ${command}${source === "IRM_IDENTITY_TOKEN_FILE" ? ` > "$${source}"` : ""}`;
};

/** For an API token that has expired, which was exchanged for a token of the development issuer. */
export const expiredApiTokenAdvice = ({ sub, exp, act }: Json, nowMs: number): string | undefined => {
  if (!isPast(exp, nowMs) || !isUidp(sub)) return undefined;
  const command = commandFor((act ?? {}) as Json);
  if (command === undefined) return undefined;
  return `Use a workload's token, which each run exchanges: unset IRM_TOKEN; export IRM_IDENTITY=${sub} IRM_IDENTITY_TOKEN=$(${command})`;
};
