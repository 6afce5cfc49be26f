// The audience, capabilities and scopes that the caller requests for the API token (docs/internals/contract.md#exchange-limits). Limits
// only reduce access. An unknown name leaves nothing, so that no response shows what exists.
import {
  capabilityFrom,
  type ExchangeRequest,
  type FieldViolation,
  isAncestor,
  isAncestorOrSelf,
  isUidp,
} from "../../../schema/index.ts";
import { Refusal, refuseViolations, unauthenticatedError } from "./refusal.ts";

/** As many uids as fit into a token in the header of a request. */
const MAX_SCOPES = 50;

/** Enum names of capabilities, by the uid of the group at and below which they are held. */
export type Grants = ReadonlyMap<string, ReadonlySet<string>>;

/** Absent: not requested. Empty: nothing that was requested exists. */
export interface Limits {
  capabilities?: ReadonlySet<string> | undefined;
  scopes?: readonly string[] | undefined;
}

/** The audience and the limits that a request asks for. Each is applied or refused; none is dropped. */
export const readLimitRequest = (
  { aud = [], cap = [], scope = "", scopes: many = [] }: Pick<ExchangeRequest, "aud" | "cap" | "scope" | "scopes">,
  bearer: string,
  violations: readonly FieldViolation[],
  ours: readonly string[],
): { audience: string[]; limits: Limits } => {
  if (bearer === "") throw new Refusal("missing_bearer", "no bearer", { answer: unauthenticatedError() });
  // One text may hold several, as the vendor's clients write them.
  const audience = unique(aud.flatMap((value) => value.split(",")));
  const names = unique(cap);
  const scopes = unique([...many, scope]);
  // Our audiences are public, so a refusal can explain itself in full.
  refuseViolations([
    ...violations,
    ...audienceViolations(audience, ours),
    ...emptyViolations("cap", cap),
    ...emptyViolations("scopes", many),
    ...(scopes.length > MAX_SCOPES ? [{ field: "scopes", description: `must have at most ${MAX_SCOPES} uids` }] : []),
  ]);
  const limits = {
    capabilities: names.length > 0 ? new Set(names.flatMap((name) => capabilityFrom(name) ?? [])) : undefined,
    scopes: scopes.length > 0 ? scopes.filter(isUidp) : undefined,
  };
  return { audience, limits };
};

// The text of the published service.
const audienceViolations = (asked: readonly string[], ours: readonly string[]): FieldViolation[] => {
  if (asked.length === 0) return [{ field: "aud", description: "Audience must be specified" }];
  if (asked.every((audience) => ours.includes(audience))) return [];
  return [{ field: "aud", description: `must be ${ours.join(" or ")}` }];
};

// A script sends this when its variable is not set.
const emptyViolations = (field: string, values: readonly string[]) =>
  values.includes("") ? [{ field, description: "must not have an empty item" }] : [];

const unique = (values: readonly string[]) => [...new Set(values.filter((value) => value !== ""))];

/**
 * The grants within the limits, each at the highest group where it holds. A grant inside a scope is kept there; one above a
 * scope begins at the scope. Of grants at `foo` and `foo/bar`, the scope `foo/bar` keeps both.
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
const beginnings = (group: string, scopes: readonly string[]) => {
  if (scopes.some((scope) => isAncestorOrSelf(scope, group))) return [group];
  const below = scopes.filter((scope) => isAncestor(group, scope));
  return below.filter((scope) => !below.some((other) => isAncestor(other, scope)));
};

/** Both limits at once: the inner of nested scopes, and the capabilities in both. */
export const narrowLimits = (first: Limits, second: Limits): Limits => {
  const capabilities =
    first.capabilities && second.capabilities
      ? new Set([...first.capabilities].filter((capability) => second.capabilities?.has(capability)))
      : (first.capabilities ?? second.capabilities);
  const scopes =
    first.scopes && second.scopes
      ? unique([...inside(first.scopes, second.scopes), ...inside(second.scopes, first.scopes)])
      : (first.scopes ?? second.scopes);
  return { capabilities, scopes };
};

const inside = (outer: readonly string[], inner: readonly string[]) =>
  inner.filter((uid) => outer.some((other) => isAncestorOrSelf(other, uid)));
