// What a state marks as secret, in clear text: kept in memory, so that none of it gets into a change.
import { SECRET_SIGNATURE, SIGNATURE } from "../../access/preview/value.ts";
import { isObject } from "../../schema/index.ts";

/** Each text in a secret of `resources`, as `pulumi stack export --show-secrets` prints them. */
export const secretsIn = (resources: readonly unknown[]): string[] => {
  const found: string[] = [];
  // An explicit stack: how deep a state is, its program decides.
  const left: { value: unknown; isSecret: boolean }[] = [{ value: resources, isSecret: false }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, isSecret } = next;
    if (isSecret && (typeof value === "string" || typeof value === "number")) found.push(String(value));
    else if (Array.isArray(value)) for (const one of value) left.push({ value: one, isSecret });
    else if (isObject(value)) {
      const isWrapper = value[SIGNATURE] === SECRET_SIGNATURE && typeof value.plaintext === "string";
      if (isWrapper) left.push({ value: JSON.parse(value.plaintext as string), isSecret: true });
      else for (const one of Object.values(value)) left.push({ value: one, isSecret });
    }
  }
  return found;
};
