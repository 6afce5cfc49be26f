// Whether a relationship lets in each workload that another one lets in.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { every, type Language, not } from "../pattern/language.ts";
import { acceptedWorkloads } from "./token.ts";

/** False where it cannot be decided, and between workloads without a token. Audiences count as they are written. */
export const covers = (now: Json | null, old: Json | null, budget?: Budget): boolean => {
  if (now === null || old === null) return false;
  const [[is], [was]] = [acceptedWorkloads(now), acceptedWorkloads(old)];
  if (is?.kind !== "token" || was?.kind !== "token") return false;
  const isIn = (small: Language, large: Language): boolean => findText(every(small, not(large)), budget).is === "none";
  return (
    audienceOf(now) === audienceOf(old) &&
    isIn(was.issuer, is.issuer) &&
    isIn(was.subject, is.subject) &&
    [...is.claims].every(([name, language]) => {
      // A token may lack a claim that the old one does not name.
      const own = was.claims.get(name);
      return own !== undefined && isIn(own, language);
    })
  );
};

const audienceOf = ({ claimMatch }: Json): string => {
  const { audience, audiencePattern } = (claimMatch ?? {}) as Json;
  return JSON.stringify([audience ?? null, audiencePattern ?? null]);
};
