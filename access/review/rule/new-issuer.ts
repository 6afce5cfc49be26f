// new-issuer: an identity trusts an issuer of tokens that no identity trusts now, or people sign in at one that no identity provider has.
import type { IdentityNode } from "../../graph/graph.ts";
import type { Rule } from "./rule.ts";

export const newIssuer: Rule = {
  name: "new-issuer",
  people: true,
  find: ({ reassumed, before }) => {
    const trusted = new Set([...before.identities.values()].flatMap(issuersOf));
    return reassumed.flatMap((identity) => {
      const issuers = issuersOf(identity).filter((issuer) => !trusted.has(issuer));
      if (issuers.length === 0) return [];
      const what = identity.relationship?.signIn
        ? "sign in at an issuer that no identity provider has now"
        : "trusts an issuer that no identity trusts now";
      return [{ subject: identity.id, message: `${what}: ${issuers.join(", ")}` }];
    });
  },
};

type Relationship = Partial<
  Record<"claimMatch" | "staticKeys" | "signIn", { issuer?: string; issuerPattern?: string }>
>;

const issuersOf = ({ relationship }: IdentityNode): string[] => {
  const { claimMatch, staticKeys, signIn } = (relationship ?? {}) as Relationship;
  const pattern = claimMatch?.issuerPattern;
  return [claimMatch?.issuer, pattern && `any that matches ${pattern}`, staticKeys?.issuer, signIn?.issuer].filter(
    (issuer): issuer is string => Boolean(issuer),
  );
};
