// IdentityProvider: where people sign in. The rule that matches them to provisioned users is immutable; the client secret is
// never returned.
import { type Json, resources } from "../../schema/index.ts";
import { valueAt, withValueAt } from "../state/path.ts";
import { resolveRole } from "./built-in-role.ts";
import type { Kind } from "./kind.ts";

const RULE = "oidc.correlationRule";
const USUAL_RULES: readonly unknown[] = [
  undefined,
  "CORRELATION_RULE_UNSPECIFIED",
  "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
];

export const identityProvider: Kind = {
  ...resources.identityProvider,
  filters: ({ name }) => ({ name }),
  replacementBreaks: "its uid would change, and who signs in by it would be somebody new",
  byName: ["defaultRole"],
  resolve: resolveRole("defaultRole"),
  // Unset means the first of the rules.
  settle: (desired: Json, observed: Json) => {
    const isUsual = [desired, observed].every((record) => USUAL_RULES.includes(valueAt(record, RULE)));
    return isUsual ? withValueAt(desired, RULE, valueAt(observed, RULE)) : desired;
  },
  references: ({ defaultRole }: Json) => (typeof defaultRole === "string" ? [defaultRole] : []),
};
