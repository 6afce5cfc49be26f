// new-issuer: an identity trusts an issuer of tokens that no identity trusts now, or people sign in at one that no identity provider has.
// A key is an issuer: its holder signs tokens, whatever issuer they name.
import type { Json } from "../../../schema/index.ts";
import type { IdentityNode } from "../../graph/graph.ts";
import { findText } from "../../pattern/decide.ts";
import { every, type Language, not, some, text } from "../../pattern/language.ts";
import { tokensOf } from "../../workload/token.ts";
import { fingerprint } from "../assume.ts";
import { keysIn } from "../static-keys.ts";
import type { Rule } from "./rule.ts";

export const newIssuer: Rule = {
  name: "new-issuer",
  people: true,
  find: ({ reassumed, before, budget }) => {
    // The operator of an issuer that only signs for an identity's own key could not sign in until now.
    const trusted = Map.groupBy([...before.identities.values()].flatMap(issuersOf), ({ kind }) => kind);
    return reassumed.flatMap((identity) => {
      const [issuer] = issuersOf(identity).filter(({ kind, language }) => {
        const known = trusted.get(kind)?.map((one) => one.language) ?? [];
        return findText(every(language, not(some(...known))), budget).is !== "none";
      });
      return issuer ? [{ subject: identity.id, message: `${WORDS[issuer.kind]}: ${issuer.shown}` }] : [];
    });
  },
};

type Kind = "claimMatch" | "staticKeys" | "signIn";

const WORDS: Readonly<Record<Kind, string>> = {
  claimMatch: "trusts an issuer that no identity trusts now",
  staticKeys: "trusts a key that no identity trusts now",
  signIn: "sign in at an issuer that no identity provider has now",
};

interface Issuer {
  kind: Kind;
  shown: string;
  language: Language;
}

/** At most one: a relationship is of one kind. */
const issuersOf = ({ relationship }: IdentityNode): Issuer[] => {
  const { claimMatch, staticKeys, signIn } = (relationship ?? {}) as Partial<Record<Kind, Json>>;
  if (claimMatch) return [fromClaims(claimMatch)];
  if (staticKeys) return [fromKeys(staticKeys)];
  if (!signIn?.issuer) return [];
  return [{ kind: "signIn", shown: String(signIn.issuer), language: text(String(signIn.issuer)) }];
};

const fromClaims = (match: Json): Issuer => {
  const shown = match.issuer ? String(match.issuer) : `any that matches ${match.issuerPattern}`;
  return { kind: "claimMatch", shown, language: tokensOf(match).issuer };
};

const fromKeys = ({ issuer, issuerKeys }: Json): Issuer => ({
  kind: "staticKeys",
  shown: `issuer ${issuer}, key set with SHA-256 ${fingerprint(String(issuerKeys))}…`,
  language: some(...keysIn(String(issuerKeys)).map((key) => text(JSON.stringify([issuer, key])))),
});
