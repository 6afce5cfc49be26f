// What the caller asks of the API token: its audience, and the capabilities and scopes that it is held to (contract
// section 2; decision 28). Limits only ever take away, and a name that means nothing takes everything: no answer tells
// what exists.
import {
  capabilityFrom,
  type ExchangeRequest,
  invalidArgument,
  isAncestor,
  isAncestorOrSelf,
  isUidp,
} from "../../schema/index.ts";
import { Refusal } from "./refusal.ts";

/** As many uids as a token can carry in a request's header. */
const MAX_SCOPES = 50;

/** enum names of capabilities by uid of the group that they are held at, and below it */
export type Grants = ReadonlyMap<string, ReadonlySet<string>>;

/** Absent = not asked for; empty = nothing of what was asked for exists. */
export interface Limits {
  capabilities?: ReadonlySet<string>;
  scopes?: readonly string[];
}

/** The audiences of the API token: each one asked for has to be ours; without any, `otherwise`. */
export const requestedAudience = (
  asked: readonly string[] | undefined,
  ours: readonly string[],
  otherwise: readonly string[] = ours.slice(0, 1),
): string[] => {
  const wanted = unique((asked ?? []).flatMap((value) => value.split(",")));
  if (wanted.length === 0) return [...otherwise];
  if (wanted.every((audience) => ours.includes(audience))) return wanted;
  const violation = { field: "aud", description: `must be ${ours.join(" or ")}` };
  throw new Refusal("audience_parameter", "not an audience of ours", { answer: invalidArgument([violation]) });
};

export const requestedLimits = (request: Pick<ExchangeRequest, "cap" | "scope" | "scopes">): Limits => {
  const names = unique(request.cap ?? []);
  const scopes = unique([...(request.scopes ?? []), request.scope ?? ""]);
  if (scopes.length > MAX_SCOPES) {
    const violation = { field: "scopes", description: `must have at most ${MAX_SCOPES} uids` };
    throw new Refusal("limits_parameter", "too many scopes", { answer: invalidArgument([violation]) });
  }
  return {
    ...(names.length > 0 && { capabilities: new Set(names.flatMap((name) => capabilityFrom(name) ?? [])) }),
    ...(scopes.length > 0 && { scopes: scopes.filter(isUidp) }),
  };
};

const unique = (values: readonly string[]): string[] => [...new Set(values.filter((value) => value !== ""))];

/**
 * What is left of the grants, each at the group from which down it holds: what is granted inside a scope stays where it is,
 * what is granted above one begins at the scope. Of grants at `foo` and `foo/bar`, the scope `foo/bar` keeps both.
 */
export const limitGrants = (grants: Grants, { capabilities, scopes }: Limits): Map<string, Set<string>> => {
  const limited = new Map<string, Set<string>>();
  for (const [group, held] of grants) {
    const kept = [...held].filter((capability) => capabilities?.has(capability) ?? true);
    for (const at of scopes ? beginnings(group, scopes) : [group])
      if (kept.length > 0) limited.set(at, new Set([...(limited.get(at) ?? []), ...kept]));
  }
  return limited;
};

// The highest groups at or below `group` that lie in a scope.
const beginnings = (group: string, scopes: readonly string[]): string[] => {
  if (scopes.some((scope) => isAncestorOrSelf(scope, group))) return [group];
  const below = scopes.filter((scope) => isAncestor(group, scope));
  return below.filter((scope) => !below.some((other) => isAncestor(other, scope)));
};

/** Both limits at once: of nested scopes the inner one, of capabilities those that both name. */
export const narrowLimits = (first: Limits, second: Limits): Limits => {
  const capabilities =
    first.capabilities && second.capabilities
      ? new Set([...first.capabilities].filter((capability) => second.capabilities?.has(capability)))
      : (first.capabilities ?? second.capabilities);
  const scopes =
    first.scopes && second.scopes
      ? unique([...inside(first.scopes, second.scopes), ...inside(second.scopes, first.scopes)])
      : (first.scopes ?? second.scopes);
  return { ...(capabilities && { capabilities }), ...(scopes && { scopes }) };
};

const inside = (outer: readonly string[], inner: readonly string[]): string[] =>
  inner.filter((uid) => outer.some((other) => isAncestorOrSelf(other, uid)));
