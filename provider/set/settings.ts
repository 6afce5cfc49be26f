// The arguments of a set beside its pairs.
import type { Json } from "../../schema/index.ts";

export const REMOVALS_MAX = 20;

export interface Settings {
  /** removes what it does not declare */
  exclusive: boolean;
  /** most removals of an exclusive set in one run */
  maxRemovals: number;
}

/** Of inputs or outputs. */
export const settingsOf = ({ exclusive, maxRemovals }: Json): Settings => ({
  exclusive: exclusive === true,
  maxRemovals: typeof maxRemovals === "number" ? maxRemovals : REMOVALS_MAX,
});
