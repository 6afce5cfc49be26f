// Identity: claims and AWS principals change in place; keys and service principals replace the record
// (docs/contract.md#identities).
import { type FieldViolation, Identity, type Json } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";
import { patternViolations } from "./pattern.ts";

const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  claimMatch: ["issuerPattern", "subjectPattern", "audiencePattern"],
  awsIdentity: ["arnPattern", "userIdPattern"],
};

const members = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});

const patterns = (input: Json): FieldViolation[] => {
  const single = Object.entries(PATTERNS).flatMap(([block, names]) =>
    names.flatMap((name) => patternViolations(`${block}.${name}`, members(input[block])[name])),
  );
  const claims = Object.entries(members(members(input.claimMatch).claimPatterns));
  return [
    ...single,
    ...claims.flatMap(([claim, pattern]) => patternViolations(`claimMatch.claimPatterns.${claim}`, pattern)),
  ];
};

export const identity: Kind = {
  type: "Identity",
  word: "identity",
  schema: Identity,
  field: "identity",
  operations: { get: "GetIdentity", create: "CreateIdentity", update: "UpdateIdentity", delete: "DeleteIdentity" },
  list: { operation: "ListIdentities", plural: "identities", filters: ({ name }) => ({ name }) },
  replacementBreaks: "its uid would change: role bindings and workloads that name it would lose their access",
  violations: patterns,
  blockers: (uid) => [
    { operation: "ListRoleBindings", request: { identity: uid }, plural: "roleBindings", word: "role binding" },
  ],
  guarded: "role bindings of the identity would go with it, and this run deletes none of them",
  forceable: "guarded",
};
