// `irm check`: the mistakes of a policy file on stdout, one line each; how many on stderr.
import { mistakeText, type Policy, readPolicy } from "../access/policy/index.ts";
import { isTestFile } from "../access/test/file.ts";
import { printable } from "../schema/index.ts";
import { print, printError } from "./terminal.ts";

export const check = (file: string): number => {
  const { policy, mistakes } = readPolicy(file);
  if (policy) {
    process.stderr.write(`${printable(file)} has no mistakes: ${summary(policy)}\n`);
    return 0;
  }
  if (isTestFile(file)) {
    printError(
      "irm check",
      `${printable(file)} is a file of tests: \`irm test ${printable(file)}\` finds its mistakes and runs it`,
    );
    return 1;
  }
  print(mistakes.map((mistake) => `${mistakeText(mistake)}\n`).join(""));
  printError("irm check", counted(mistakes.length, "mistake"));
  return 1;
};

const summary = ({ groups, identities, roles, bindings, people }: Policy): string =>
  [
    counted(groups.size, "group"),
    counted(identities.size, "identity", "identities"),
    counted(roles.size, "role"),
    counted(bindings.length, "role binding"),
    ...(people.size === 0 ? [] : [`people of ${counted(people.size, "identity provider")}`]),
  ].join(", ");

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
