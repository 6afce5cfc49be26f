// The flags of `irm access`.
import type { Command } from "commander";
import type { AccessFlags } from "./access.ts";
import { formatOption } from "./format.ts";
import type { Exit } from "./terminal.ts";

export const addAccessCommand = (program: Command, exit: Exit): void => {
  program
    .command("access")
    .usage("[FLAGS]")
    .summary("print who can do what, and where")
    .description(
      "Reads groups, identities, roles and bindings from the API and prints what they grant. The flags combine: what one identity can do at one group, for example. Without any, prints all access. Uses the address and credentials of the environment: IRM_BASE_URL, and IRM_TOKEN or another credential.",
    )
    .option("--identity <UID|NAME>", "where can this identity act")
    .option("--group <UID|PATH>", "who can act here: also through bindings above; / is the organization")
    .option("--capability <NAME>", "who can do this, such as groups.list")
    .addOption(formatOption())
    .action(async (flags: AccessFlags) => exit(await (await import("./access.ts")).access(flags)));
};
