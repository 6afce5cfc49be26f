// What is read of a state of Terraform, and which texts are none.
import { expect, test } from "vitest";
import { parseState, StateError } from "../../../../access/export/terraform/state.ts";

const pulled = (resources: unknown[], more = {}) => JSON.stringify({ version: 4, serial: 7, resources, ...more });
const resource = (provider: unknown, more = {}) => ({
  mode: "managed",
  type: "chainguard_group",
  name: "team",
  provider,
  instances: [{ attributes: { id: "u" } }],
  ...more,
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
  const text = JSON.stringify({
    format_version: "1.0",
    values: {
      root_module: {
        resources: [
          { ...own, mode: "data" },
          { ...own, provider_name: "registry.terraform.io/hashicorp/google" },
        ],
        child_modules: [
          {
            address: "module.a",
            child_modules: [
              {
                address: 'module.a.module.b["x"]',
                resources: [{ ...own, index: 0, tainted: true, depends_on: ["a.b"] }],
              },
              { address: "module.a.module.c", resources: [{ ...own, deposed_key: "0123abcd" }] },
            ],
          },
        ],
      },
    },
  });
  const { instances, others, dataSources, dependents, serial } = parseState(text);
  expect({ others, dataSources, serial, dependents: dependents.length }).toEqual({
    others: 1,
    dataSources: 1,
    serial: undefined,
    dependents: 1,
  });
  expect(instances).toMatchObject([
    {
      address: { module: 'module.a.module.b["x"]', key: 0 },
      id: "u",
      isTainted: true,
      isDeposed: false,
    },
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

test.each([
  ["", `is empty. ${HOW_TO}`],
  ["s3cret", `is not JSON. ${HOW_TO}`],
  ["[4]", `is not a Terraform state file. ${HOW_TO}`],
  ['{"resources":[]}', `is not a Terraform state file. ${HOW_TO}`],
  ['{"version":3}', `is a state of version 3, and only version 4 can be read. ${HOW_TO}, by Terraform 0.12 or later`],
  [
    '{"version":"s3cret!"}',
    `is a state of version unknown, and only version 4 can be read. ${HOW_TO}, by Terraform 0.12 or later`,
  ],
  ['{"serial":1,"encrypted_data":"s3cret"}', "is encrypted. Give it what `tofu state pull` prints"],
  ['{"format_version":"1.2","resource_changes":[]}', `is a plan, not a state. ${HOW_TO} without the name of a plan`],
  [
    '{"format_version":"2.0"}',
    "has the format version 2.0, and only 1.x can be read. Give it what `terraform state pull` prints",
  ],
  ['{"version":4,"resources":{"s3cret":1}}', "is damaged: resources is not a list of objects"],
  [
    '{"version":4,"resources":[{"type":"t","name":"n","instances":["s3cret"]}]}',
    "is damaged: instances of a resource is not a list of objects",
  ],
  [
    '{"version":4,"resources":[{"type":"s3cret t","name":"n","instances":[{}]}]}',
    "is damaged: it has a resource whose address is none",
  ],
  ['{"format_version":"1.0","values":{"root_module":[]}}', "is damaged: root_module is not an object"],
  [
    `{"format_version":"1.0","values":{"root_module":${'{"child_modules":['.repeat(depth)}${"]}".repeat(depth)}},"x":`,
    `is not JSON. ${HOW_TO}`,
  ],
])("%.40j is refused without a word of it", (text, message) => {
  expect(() => parseState(text)).toThrow(new StateError(message));
});

test("modules may be nested as deeply as JSON can", () => {
  const text = `{"format_version":"1.0","values":{"root_module":${'{"child_modules":['.repeat(depth)}${"]}".repeat(depth)}}}`;
  expect(parseState(text).instances).toEqual([]);
});
