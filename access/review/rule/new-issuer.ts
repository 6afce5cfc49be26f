// new-issuer: an identity trusts an issuer of tokens that no identity trusts now, or people sign in at one that no identity provider has.
import type { Json } from "../../../schema/index.ts";
import type { IdentityNode } from "../../graph/graph.ts";
import { findText } from "../../pattern/decide.ts";
import { every, type Language, not, some, text } from "../../pattern/language.ts";
import { tokensOf } from "../../workload/token.ts";
import type { Rule } from "./rule.ts";

export const newIssuer: Rule = {
  name: "new-issuer",
  people: true,
  find: ({ reassumed, before, budget }) => {
    const trusted = Map.groupBy([...before.identities.values()].flatMap(issuersOf), ({ kind }) => kind);
    return reassumed.flatMap((identity) => {
      const issuers = issuersOf(identity).filter(({ kind, shown, language }) => {
        // The operator of an issuer that only signs for an identity's own key could not sign in until now.
        const known = KNOWN[kind].flatMap((one) => trusted.get(one) ?? []);
        if (known.some((one) => one.shown === shown)) return false;
        return findText(every(language, not(some(...known.map((one) => one.language)))), budget).is !== "none";
      });
      if (issuers.length === 0) return [];
      const what = identity.relationship?.signIn
        ? "sign in at an issuer that no identity provider has now"
        : "trusts an issuer that no identity trusts now";
      return [{ subject: identity.id, message: `${what}: ${issuers.map(({ shown }) => shown).join(", ")}` }];
    });
  },
};

type Kind = "claimMatch" | "staticKeys" | "signIn";

/** An issuer that is trusted in one of these ways is not new to the kind. */
const KNOWN: Readonly<Record<Kind, readonly Kind[]>> = {
  claimMatch: ["claimMatch"],
  staticKeys: ["claimMatch", "staticKeys"],
  signIn: ["signIn"],
};

interface Issuer {
  kind: Kind;
  shown: string;
  language: Language;
}

const issuersOf = ({ relationship }: IdentityNode): Issuer[] => {
  const { claimMatch, staticKeys, signIn } = (relationship ?? {}) as Partial<Record<Kind, Json>>;
  const exact = (kind: Kind, rule: Json | undefined): Issuer[] =>
    rule?.issuer ? [{ kind, shown: String(rule.issuer), language: text(String(rule.issuer)) }] : [];
  return [...fromClaims(claimMatch), ...exact("staticKeys", staticKeys), ...exact("signIn", signIn)];
};

const fromClaims = (match: Json | undefined): Issuer[] => {
  if (!match) return [];
  const shown = match.issuer ? String(match.issuer) : `any that matches ${match.issuerPattern}`;
  return [{ kind: "claimMatch", shown, language: tokensOf(match).issuer }];
};
