// Whether a user's pattern compiles, shown in the preview. RE2, as the service has it (docs/contract.md#d12), never the
// JavaScript engine, which is another dialect. The schema's rules report what is too long or too costly.
import { RE2JS } from "re2js";
import type { FieldViolation } from "../../schema/index.ts";
import { isUnknown } from "../state/unknown.ts";

const MAX_LENGTH = 1024;

export const patternViolations = (field: string, pattern: unknown): FieldViolation[] => {
  if (typeof pattern !== "string" || isUnknown(pattern) || pattern.length > MAX_LENGTH) return [];
  try {
    RE2JS.compile(pattern);
    return [];
  } catch (error) {
    return [{ field, description: `must be an RE2 pattern: ${(error as Error).message}` }];
  }
};
