// Arguments that a command passes on to the engine: which, in which form, and what is refused.
import { expect, test } from "vitest";
import { engineArguments } from "../../cli/engine-command.ts";
import { UsageError } from "../../cli/usage.ts";

const URN = "urn:pulumi:dev::acme::irm:index:Group::team";

test("what chooses the resources of an update is passed on, each value with its flag", () => {
  const words = ["--target", URN, `--replace=${URN}`, "--target-dependents", "--exclude", "**::team"];
  const found = [`--target=${URN}`, `--replace=${URN}`, "--target-dependents", "--exclude=**::team"];
  expect(engineArguments(words)).toEqual(found);
  expect(engineArguments(found)).toEqual(found);
});

test.each<[string[], string, string]>([
  [["--yes"], "it runs without a question anyway", '"--yes" is not passed on to the engine; only'],
  [["--config-file=x"], "it would be another stack", '"--config-file" is not passed on'],
  [["-t", URN], "one spelling is enough", '"-t" is not passed on'],
  [["--target"], "the value is missing", '--target takes the URN of a resource, or a pattern with *, not ""'],
  [["--target", "--yes"], "the engine would take the flag as the value", 'not "--yes"'],
  [["--target-dependents=false"], "it is given or not", "--target-dependents takes no value"],
  [["--parallel", "1"], "so is its value, in the same error", '"--parallel" is not passed on'],
])("%j is refused: %s", (words, _, message) => {
  expect(() => engineArguments(words)).toThrow(UsageError);
  expect(() => engineArguments(words)).toThrow(message);
});
