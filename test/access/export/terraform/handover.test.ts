// The commands of handover.md, carried out by the real Terraform where it is on the PATH.
import { spawnSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { handoverText } from "../../../../access/export/terraform/handover.ts";
import { type Address, addressFrom } from "../../../../access/export/terraform/state.ts";
import { temporaryFolder } from "../../../support/command.ts";

const terraform = (folder: string, ...args: string[]): string => {
  // The own provider of Terraform needs no registry.
  const env = { ...process.env, TF_CLI_CONFIG_FILE: "/dev/null", TF_IN_AUTOMATION: "1" };
  const { status, stdout, stderr } = spawnSync("terraform", args, { cwd: folder, env, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
};
const isThere = spawnSync("terraform", ["version"]).status === 0;

const KEYS = String.raw`["a b", "it's \"q\" \\ $${"$"}{x} %%{y} \n é 😀"]`;
const DECLARED = `
resource "terraform_data" "plain" {}
resource "terraform_data" "many" { count = 2 }
module "team" {
  source   = "./team"
  for_each = toset(${KEYS})
}
`;

interface Resource {
  module?: string;
  type: string;
  name: string;
  instances: { index_key?: unknown }[];
}

/** Of everything in the state, as if it had been taken over. */
const handoverOf = (state: string): string => {
  const { resources } = JSON.parse(state) as { resources: Resource[] };
  const taken = resources.flatMap(({ module, type, name, instances }) =>
    instances.map(({ index_key }) => addressFrom(module, type, name, index_key) as Address),
  );
  const nothing = { gone: [], kept: [], findings: [], secrets: [], dependents: [], others: 0, dataSources: 0 };
  return handoverText({ ...nothing, taken }, []);
};

describe.skipIf(!isThere)(`handover.md${isThere ? "" : ": terraform is not on the PATH"}`, () => {
  test("Terraform forgets all of it by removed blocks, and by state rm, and destroys nothing", () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const { write } = folder;
    write("main.tf", DECLARED);
    write("team/main.tf", `resource "terraform_data" "inner" { for_each = toset(${KEYS}) }\n`);
    terraform(folder.path("."), "init", "-no-color");
    terraform(folder.path("."), "apply", "-auto-approve", "-no-color");
    const state = terraform(folder.path("."), "state", "pull");
    const handover = handoverOf(state);
    const [, blocks = ""] = /```hcl\n([\s\S]*?)```/.exec(handover) ?? [];
    const [, commands = ""] = /```sh\n(terraform state rm[\s\S]*?)```/.exec(handover) ?? [];

    write("main.tf", blocks);
    const plan = terraform(folder.path("."), "plan", "-no-color");
    expect(plan).toContain("Plan: 0 to add, 0 to change, 0 to destroy.");
    expect(plan.match(/will no longer be managed by Terraform, but will not be destroyed/g)).toHaveLength(7);

    write("rm.sh", commands);
    const env = { ...process.env, TF_CLI_CONFIG_FILE: "/dev/null" };
    const { status, stdout } = spawnSync("sh", ["-e", "rm.sh"], { cwd: folder.path("."), env, encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout).toContain("Successfully removed 7 resource instance(s).");
    expect(terraform(folder.path("."), "state", "list")).toBe("");
  }, 60_000);
});
