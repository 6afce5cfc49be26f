// The flags of `irm test`.
import type { Command } from "commander";
import { formatOption, TEST_FORMATS } from "./format.ts";
import type { Exit } from "./terminal.ts";
import type { TestFlags } from "./test.ts";

export const addTestCommand = (program: Command, exit: Exit): void => {
  program
    .command("test")
    .usage("[FILE] [FLAGS]")
    .summary("test who may do what, in a policy or live")
    .description(
      "Runs tests of access: who may do what, and who must not. FILE is a policy with a section tests, or a file of tests; without it, access.tests.yaml and the policy access.yaml of this folder. Tests the policy alone, without a network; with --live, what the API says now. Exits with 3 if a test fails, and with 1 if one names what does not exist.",
    )
    .argument("[FILE]", "a policy, or a file of tests")
    .option(
      "--live",
      "test what the API says, with the address and credentials of the environment: IRM_BASE_URL, and IRM_TOKEN or another credential",
    )
    .addOption(formatOption(TEST_FORMATS))
    .action(async (file: string | undefined, flags: TestFlags) =>
      exit(await (await import("./test.ts")).test(file, flags)),
    );
};
