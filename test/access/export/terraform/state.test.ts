// What is read of a state of Terraform, and which texts are none.
import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { handoverText } from "../../../../access/export/terraform/handover.ts";
import {
  type Address,
  addressFrom,
  addressText,
  parseState,
  resourceText,
  StateError,
  shellQuoted,
} from "../../../../access/export/terraform/state.ts";
import { temporaryFolder } from "../../../support/command.ts";

const pulled = (resources: unknown[]) => JSON.stringify({ version: 4, serial: 7, resources });
const resource = (provider: unknown) => ({
  ...{ mode: "managed", type: "chainguard_group", name: "team", provider, instances: [{ attributes: { id: "u" } }] },
});

test.each<[unknown, number, string]>([
  ['provider["registry.terraform.io/chainguard-dev/chainguard"]', 1, "the registry of Terraform"],
  ['provider["registry.opentofu.org/chainguard-dev/chainguard"]', 1, "the registry of OpenTofu"],
  ['provider["mirror.acme.example:8443/chainguard-dev/chainguard"].eu', 1, "a mirror, with an alias"],
  ['module.a["x"].provider["registry.terraform.io/chainguard-dev/chainguard"]', 1, "a provider of a module"],
  ["provider.chainguard", 1, "Terraform 0.12"],
  ['provider["registry.terraform.io/hashicorp/google"]', 0, "another provider"],
  ['provider["registry.terraform.io/acme/not-chainguard"]', 0, "another provider"],
  ['provider["registry.terraform.io/chainguard/google"]', 0, "another provider of that namespace"],
  [7, 0, "no text"],
])("a resource of %s counts %d: %s", (provider, count) => {
  const { instances, others, serial } = parseState(pulled([resource(provider)]));
  expect({ own: instances.length, others, serial }).toEqual({ own: count, others: 1 - count, serial: 7 });
});

test("show -json has the same resources in modules, and no serial; an empty state has nothing", () => {
  const provider_name = "registry.opentofu.org/chainguard-dev/chainguard";
  const own = { mode: "managed", type: "chainguard_group", name: "team", provider_name, values: { id: "u" } };
  const google = { ...own, provider_name: "registry.terraform.io/hashicorp/google" };
  const tainted = { ...own, index: 0, tainted: true, depends_on: ["a.b"] };
  const below = [
    { address: 'module.a.module.b["x"]', resources: [tainted] },
    { address: "module.a.module.c", resources: [{ ...own, deposed_key: "0123abcd" }] },
  ];
  const child_modules = [{ address: "module.a", child_modules: below }];
  const root_module = { resources: [{ ...own, mode: "data" }, google], child_modules };
  const { instances, dependents, serial, ...counts } = parseState(
    JSON.stringify({ format_version: "1.0", values: { root_module } }),
  );
  expect([counts, serial, dependents.length]).toEqual([{ others: 1, dataSources: 1 }, undefined, 1]);
  expect(instances).toMatchObject([
    { address: { module: 'module.a.module.b["x"]', key: 0 }, id: "u", isTainted: true, isDeposed: false },
    { address: { module: "module.a.module.c" }, isTainted: false, isDeposed: true },
  ]);
  const nothing = { instances: [], others: 0, dataSources: 0, dependents: [] };
  expect(parseState('\ufeff{"format_version":"1.0"}')).toEqual(nothing);
  expect(parseState('{"version":4}')).toEqual(nothing);
});

const HOW_TO = "Give it what `terraform state pull` or `terraform show -json` prints";
const depth = 100_000;

const nested = `{"format_version":"1.0","values":{"root_module":${'{"child_modules":['.repeat(depth)}${"]}".repeat(depth)}}`;
const onlyVersion4 = `and only version 4 can be read. ${HOW_TO}, by Terraform 0.12 or later`;
const instances = (type: string, one: string) =>
  `{"version":4,"resources":[{"type":"${type}","name":"n","instances":[${one}]}]}`;

test.each([
  ["", `is empty. ${HOW_TO}`],
  ["s3cret", `is not JSON. ${HOW_TO}`],
  ["[4]", `is not a Terraform state file. ${HOW_TO}`],
  ['{"resources":[]}', `is not a Terraform state file. ${HOW_TO}`],
  ['{"version":3}', `is a state of version 3, ${onlyVersion4}`],
  ['{"version":"s3cret!"}', `is a state of version unknown, ${onlyVersion4}`],
  ['{"serial":1,"encrypted_data":"s3cret"}', "is encrypted. Give it what `tofu state pull` prints"],
  ['{"format_version":"1.2","resource_changes":[]}', `is a plan, not a state. ${HOW_TO} without the name of a plan`],
  [
    '{"format_version":"2.0"}',
    "has the format version 2.0, and only 1.x can be read. Give it what `terraform state pull` prints",
  ],
  ['{"version":4,"resources":{"s3cret":1}}', "is damaged: resources is not a list of objects"],
  [instances("t", '"s3cret"'), "is damaged: instances of a resource is not a list of objects"],
  [instances("s3cret t", "{}"), "is damaged: it has a resource whose address is none"],
  ['{"format_version":"1.0","values":{"root_module":[]}}', "is damaged: root_module is not an object"],
  [`${nested},"x":`, `is not JSON. ${HOW_TO}`],
])("%.40j is refused without a word of it", (text, message) => {
  expect(() => parseState(text)).toThrow(new StateError(message));
});

test("modules may be nested as deeply as JSON can", () => expect(parseState(`${nested}}`).instances).toEqual([]));

// A key that Terraform 1.11.4 printed so in `terraform state list`, and took so in `terraform state rm`.
const KEY = `it's "q" \\ \${x} %{y} \n é 😀`;
const QUOTED = String.raw`"it's \"q\" \\ $${"$"}{x} %%{y} \n é 😀"`;

const TEAM = "chainguard_group.team";
const escaped = String.raw`module.a["\u00e9\U0001f600"]`;
const odd = `module.a[${QUOTED}].module.b-1[12]`;

test.each([
  [undefined, undefined, TEAM, TEAM],
  [undefined, 0, `${TEAM}[0]`, TEAM],
  [undefined, KEY, `${TEAM}[${QUOTED}]`, TEAM],
  ["module.a", undefined, `module.a.${TEAM}`, `module.a.${TEAM}`],
  [odd, "\u202e\u{e0001}", `${odd}.${TEAM}["\\u202e\\U000e0001"]`, `module.a.module.b-1.${TEAM}`],
  [escaped, undefined, `${escaped}.${TEAM}`, `module.a.${TEAM}`],
  ['module.a["x].module.b"]', undefined, `module.a["x].module.b"].${TEAM}`, `module.a.${TEAM}`],
])("of module %j and key %j is printed as Terraform does", (modules, key, instance, resource) => {
  const address = addressFrom(modules, "chainguard_group", "team", key);
  expect(address && [addressText(address), resourceText(address)]).toEqual([instance, resource]);
});

test.each<[string, Partial<Record<"module" | "type" | "name" | "key", unknown>>]>([
  ["a module is a name", { module: "module.a; rm -rf /" }],
  ["a path ends with a module", { module: "module.a." }],
  ["a path has modules only", { module: "a.b" }],
  ["Terraform has no such escape", { module: 'module.a["\\x41"]' }],
  ["there is no such character", { module: 'module.a["\\Uffffffff"]' }],
  ["a path is a text", { module: 7 }],
  ["a type is a name", { type: "t\n```" }],
  ["a resource has a name without spaces", { name: "n x" }],
  ["a resource has a name", { name: undefined }],
  ["a count is whole", { key: 1.5 }],
  ["a key is a text or a number", { key: {} }],
])("a wrong address is none: %s", (_, wrong) => {
  const { module, type, name, key } = { module: undefined, type: "t", name: "n", key: undefined, ...wrong };
  expect(addressFrom(module, type, name, key)).toBeUndefined();
});

test("an address is one word of a shell", () => {
  expect(shellQuoted(`a["it's $(x)"]`)).toBe(String.raw`'a["it'\''s $(x)"]'`);
});

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

test.skipIf(!isThere)(
  `by handover.md, Terraform forgets all, and destroys nothing${isThere ? "" : ": it is not on the PATH"}`,
  () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const { write } = folder;
    write("main.tf", DECLARED);
    write("team/main.tf", `resource "terraform_data" "inner" { for_each = toset(${KEYS}) }\n`);
    terraform(folder.path("."), "init", "-no-color");
    terraform(folder.path("."), "apply", "-auto-approve", "-no-color");
    const { resources } = JSON.parse(terraform(folder.path("."), "state", "pull")) as { resources: Resource[] };
    const taken = resources.flatMap(({ module, type, name, instances }) =>
      instances.map(({ index_key }) => addressFrom(module, type, name, index_key) as Address),
    );
    const nothing = { gone: [], kept: [], findings: [], secrets: [], dependents: [], others: 0, dataSources: 0 };
    const handover = handoverText({ ...nothing, taken }, []);
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
  },
  60_000,
);
