// `irm check`: the mistakes of a policy file on stdout, one line each; their count and warnings on stderr.

import { countText } from "../../access/format/words.ts";
import { mistakeText, readPolicy } from "../../access/policy/parse.ts";
import { ROOT } from "../../access/policy/policy.ts";
import type { Mistake } from "../../access/policy/source.ts";
import { TextFileError } from "../../access/policy/text-file.ts";
import { uidsBeside } from "../../access/policy/uids.ts";
import { offlineRoles } from "../../access/roles/lock.ts";
import { isTestFile } from "../../access/test/file.ts";
import { printable } from "../../schema/index.ts";
import type { IrmCommand } from "../irm-command.ts";
import { print, printError } from "../terminal.ts";
import { lockBeside, printOfflineRoles } from "./roles.ts";
import { printResults, testPolicy } from "./test.ts";

interface CheckFlags {
  organizationExists?: boolean;
}

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Prints every mistake of a policy file, with its place and what to write instead. Then runs the tests of the policy. Needs no network.",
    )
    .argument("[FILE]", "policy file", "access.yaml")
    .option(
      "--organization-exists",
      "assume that the policy's organization exists, so that the policy may have people; not needed if the policy, or adopt.json beside it, contains its uid",
    )
    .example("check access.yaml")
    .runs(check);
};

const check = (file: string, { organizationExists }: CheckFlags): number => {
  const lock = lockBeside(file);
  const createsOrganization = organizationExists !== true && !isOrganizationKnown(file);
  const options = { builtIn: offlineRoles(lock), createsOrganization };
  const { policy, mistakes, warnings } = readPolicy(file, undefined, options);
  const warningText = warnings.map((warning) => `warning: ${printable(mistakeText(warning))}\n`).join("");
  if (policy) {
    const tested = testPolicy(file, options);
    if ("mistakes" in tested) return refuse(tested.mistakes, warningText);
    const { groups, identities, roles, bindings, people } = policy;
    const counts = [
      countText(groups.size, "group"),
      countText(identities.size, "identity"),
      countText(roles.size, "role"),
      countText(bindings.length, "role binding"),
      ...(people.size === 0 ? [] : [`people of ${countText(people.size, "identity provider")}`]),
    ];
    process.stderr.write(`${printable(file)} has no mistakes: ${counts.join(", ")}\n${warningText}`);
    printOfflineRoles(lock);
    return tested.results.length === 0 ? 0 : printResults(tested.results, "terminal");
  }
  if (isTestFile(file)) {
    printError(
      "irm check",
      `${printable(file)} is a file of tests: \`npx pulumi-irm test ${printable(file)}\` finds its mistakes and runs it`,
    );
    return 1;
  }
  return refuse(mistakes, warningText);
};

const refuse = (mistakes: readonly Mistake[], warningText: string) => {
  process.stderr.write(warningText);
  print(mistakes.map((mistake) => `${mistakeText(mistake)}\n`).join(""));
  printError("irm check", countText(mistakes.length, "mistake"));
  return 1;
};

/** Whether the uids beside the policy include it. Mistakes of that file do not count here. */
const isOrganizationKnown = (file: string) => {
  try {
    return uidsBeside(file)?.uids.groups.has(ROOT) ?? false;
  } catch (error) {
    if (!(error instanceof TextFileError)) throw error;
    return false;
  }
};
