// Arguments after `--`, which a command passes on to the engine: those that choose the resources of an update. Any other could change where
// or how it runs (--config-file, --policy-pack, --parallel), and is refused.
import { UsageError } from "./usage.ts";

/** Whether it has a value. */
const ALLOWED: ReadonlyMap<string, boolean> = new Map([
  ["--target", true],
  ["--target-dependents", false],
  ["--replace", true],
  ["--exclude", true],
]);

/** Each argument with its value in one text, as `--target=URN`. Throws one UsageError for all that is wrong. */
export const engineArguments = (words: readonly string[]): string[] => {
  const found: string[] = [];
  const wrong: string[] = [];
  const open = [...words];
  for (let word = open.shift(); word !== undefined; word = open.shift()) {
    const [, name = word, given] = /^(-[^=]*)=(.*)$/s.exec(word) ?? [];
    const hasValue = ALLOWED.get(name);
    if (hasValue === undefined) {
      wrong.push(`${JSON.stringify(name)} is not passed on to the engine; only ${[...ALLOWED.keys()].join(", ")} are`);
      continue;
    }
    const value = given ?? (hasValue ? open.shift() : undefined);
    if (!hasValue && value !== undefined) wrong.push(`${name} takes no value`);
    else if (hasValue && !value?.startsWith("urn:") && !value?.includes("*"))
      wrong.push(`${name} takes the URN of a resource, or a pattern with *, not ${JSON.stringify(value ?? "")}`);
    else found.push(hasValue ? `${name}=${value}` : name);
  }
  if (wrong.length > 0) throw new UsageError(wrong.join("\n"));
  return found;
};
