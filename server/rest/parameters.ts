// The parameters of a query or of a form, as many as a request may have.
import type { FieldViolation } from "../../schema/index.ts";

const PARAMETERS_MAX = 1000;

/** Too many are a violation, and none of them is read. */
export const parametersFrom = (text: string, violations: FieldViolation[]): [key: string, value: string][] => {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) count += 1;
  if (count <= PARAMETERS_MAX) return [...new URLSearchParams(text)];
  violations.push({ field: "", description: `must have at most ${PARAMETERS_MAX} parameters; got ${count}` });
  return [];
};
