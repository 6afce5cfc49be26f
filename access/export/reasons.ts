// Why a program does not declare a record, and which secrets it needs to.
import { inputViolations, type Json, printable, resources } from "../../schema/index.ts";
import type { Listed } from "../graph/live-record.ts";
import { hasEnded } from "./arguments.ts";
import type { ExportKind } from "./read.ts";
import type { Entry, ExportOptions, Value } from "./value.ts";

/** Undefined where the program declares it. */
export const reasonToLeaveOut = (
  kind: ExportKind,
  record: Listed,
  fields: Json,
  { isAdopted, unsayable, nowMs }: ExportOptions,
): string | undefined => {
  if (!isAdopted) {
    if (kind === "groupInvite" && hasEnded(record, nowMs)) return "has ended, and a copy would be good again";
    if (kind === "identity" && hasEnded((record.staticKeys ?? {}) as Json, nowMs))
      return "its keys have ended, and the service takes none that have";
  }
  // As every argument of a program, the record must keep the rules of the API: a newer service may have others.
  const given = needsSecret(kind, fields)
    ? { ...fields, oidc: { ...(fields.oidc as Json), clientSecret: "-" } }
    : fields;
  const [violation] = inputViolations(resources[kind].schema, given);
  if (violation === undefined && hasPrototype(fields))
    return "has a key __proto__, which a program would leave out without a word";
  if (violation === undefined) return unsayable?.(kind, fields);
  return `cannot be declared: ${printable(`${violation.field} ${violation.description}`)}`;
};

/** The engine's SDK takes such a key for the prototype of the object. */
const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototype));

/** A client without PKCE has a secret. */
export const needsSecret = (kind: ExportKind, { oidc }: Json): boolean =>
  kind === "identityProvider" && oidc !== undefined && (oidc as Json).pkceEnabled !== true;

/** Where the program has to give a secret: argument, and field in it. */
export const secretPath = ({ kind, args }: Entry): readonly [holder: string, field: string] | undefined => {
  const oidc = args.get("oidc") as ReadonlyMap<string, Value> | undefined;
  return kind === "identityProvider" && oidc && oidc.get("pkceEnabled") !== true ? ["oidc", "clientSecret"] : undefined;
};
