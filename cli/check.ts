// `irm check`: the mistakes of a policy file on stdout, one line each; how many, and warnings, on stderr.
import { countText } from "../access/format/words.ts";
import { mistakeText, readPolicy } from "../access/policy/parse.ts";
import { type Policy, ROOT } from "../access/policy/policy.ts";
import { TextFileError } from "../access/policy/text-file.ts";
import { uidsBeside } from "../access/policy/uids.ts";
import { offlineRoles } from "../access/roles/lock.ts";
import { isTestFile } from "../access/test/file.ts";
import { printable } from "../schema/index.ts";
import { lockBeside, printOfflineRoles } from "./roles.ts";
import { print, printError } from "./terminal.ts";

export interface CheckFlags {
  organizationExists?: boolean;
}

export const check = (file: string, { organizationExists }: CheckFlags): number => {
  const lock = lockBeside(file);
  const createsOrganization = organizationExists !== true && !isOrganizationKnown(file);
  const { policy, mistakes, warnings } = readPolicy(file, undefined, {
    builtIn: offlineRoles(lock),
    createsOrganization,
  });
  const warningText = warnings.map((warning) => `warning: ${printable(mistakeText(warning))}\n`).join("");
  if (policy) {
    process.stderr.write(`${printable(file)} has no mistakes: ${summary(policy)}\n${warningText}`);
    printOfflineRoles(lock);
    return 0;
  }
  if (isTestFile(file)) {
    printError(
      "irm check",
      `${printable(file)} is a file of tests: \`npx pulumi-irm test ${printable(file)}\` finds its mistakes and runs it`,
    );
    return 1;
  }
  process.stderr.write(warningText);
  print(mistakes.map((mistake) => `${mistakeText(mistake)}\n`).join(""));
  printError("irm check", countText(mistakes.length, "mistake"));
  return 1;
};

/** The uids beside the policy have it. What is wrong with that file is not the policy's mistake. */
const isOrganizationKnown = (file: string): boolean => {
  try {
    return uidsBeside(file)?.uids.groups.has(ROOT) ?? false;
  } catch (error) {
    if (!(error instanceof TextFileError)) throw error;
    return false;
  }
};

const summary = ({ groups, identities, roles, bindings, people }: Policy): string =>
  [
    countText(groups.size, "group"),
    countText(identities.size, "identity", "identities"),
    countText(roles.size, "role"),
    countText(bindings.length, "role binding"),
    ...(people.size === 0 ? [] : [`people of ${countText(people.size, "identity provider")}`]),
  ].join(", ");
