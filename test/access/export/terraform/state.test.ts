// What is read of a state of Terraform, and which texts are none.
import { expect, test } from "vitest";
import { parseState, StateError } from "../../../../access/export/terraform/state.ts";

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

test("show -json has the same resources in modules, and no serial", () => {
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
});

test("an empty state has nothing", () => {
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

test("modules may be nested as deeply as JSON can", () => {
  expect(parseState(`${nested}}`).instances).toEqual([]);
});
