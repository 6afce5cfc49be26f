// new-issuer: an identity trusts an issuer of tokens that no identity trusts now.
import type { IdentityNode } from "../../graph/graph.ts";
import type { Rule } from "./rule.ts";

export const newIssuer: Rule = {
  name: "new-issuer",
  find: ({ reassumed, before }) => {
    const trusted = new Set([...before.identities.values()].flatMap(issuersOf));
    return reassumed.flatMap((identity) => {
      const issuers = issuersOf(identity).filter((issuer) => !trusted.has(issuer));
      if (issuers.length === 0) return [];
      return [{ subject: identity.id, message: `trusts an issuer that no identity trusts now: ${issuers.join(", ")}` }];
    });
  },
};

type Relationship = Partial<Record<"claimMatch" | "staticKeys", { issuer?: string; issuerPattern?: string }>>;

const issuersOf = ({ relationship }: IdentityNode): string[] => {
  const { claimMatch, staticKeys } = (relationship ?? {}) as Relationship;
  const pattern = claimMatch?.issuerPattern;
  return [claimMatch?.issuer, pattern && `any that matches ${pattern}`, staticKeys?.issuer].filter(
    (issuer): issuer is string => Boolean(issuer),
  );
};
