// Addresses of Terraform, as it prints them and reads them.
import { expect, test } from "vitest";
import { addressFrom, addressText, resourceText, shellQuoted } from "../../../../access/export/terraform/state.ts";

// A key that Terraform 1.11.4 printed so in `terraform state list`, and took so in `terraform state rm`.
const KEY = `it's "q" \\ \${x} %{y} \n é 😀`;
const QUOTED = String.raw`"it's \"q\" \\ $${"$"}{x} %%{y} \n é 😀"`;

test.each([
  [undefined, undefined, "chainguard_group.team", "chainguard_group.team"],
  [undefined, 0, "chainguard_group.team[0]", "chainguard_group.team"],
  [undefined, KEY, `chainguard_group.team[${QUOTED}]`, "chainguard_group.team"],
  ["module.a", undefined, "module.a.chainguard_group.team", "module.a.chainguard_group.team"],
  [
    `module.a[${QUOTED}].module.b-1[12]`,
    "\u202e\u{e0001}",
    `module.a[${QUOTED}].module.b-1[12].chainguard_group.team["\\u202e\\U000e0001"]`,
    "module.a.module.b-1.chainguard_group.team",
  ],
  [
    String.raw`module.a["\u00e9\U0001f600"]`,
    undefined,
    String.raw`module.a["\u00e9\U0001f600"].chainguard_group.team`,
    "module.a.chainguard_group.team",
  ],
  [
    'module.a["x].module.b"]',
    undefined,
    'module.a["x].module.b"].chainguard_group.team',
    "module.a.chainguard_group.team",
  ],
])("of module %j and key %j is printed as Terraform does", (modules, key, instance, resource) => {
  const address = addressFrom(modules, "chainguard_group", "team", key);
  expect(address && [addressText(address), resourceText(address)]).toEqual([instance, resource]);
});

test.each<[unknown, unknown, unknown, unknown, string]>([
  ["module.a; rm -rf /", "t", "n", undefined, "a module is a name"],
  ["module.a.", "t", "n", undefined, "a path ends with a module"],
  ["a.b", "t", "n", undefined, "a path has modules only"],
  ['module.a["\\x41"]', "t", "n", undefined, "Terraform has no such escape"],
  ['module.a["\\Uffffffff"]', "t", "n", undefined, "there is no such character"],
  [7, "t", "n", undefined, "a path is a text"],
  [undefined, "t\n```", "n", undefined, "a type is a name"],
  [undefined, "t", "n x", undefined, "a resource has a name"],
  [undefined, "t", undefined, undefined, "a resource has a name"],
  [undefined, "t", "n", 1.5, "a count is whole"],
  [undefined, "t", "n", {}, "a key is a text or a number"],
])("module %j, type %j, name %j and key %j are no address: %s", (...parts) => {
  const [modules, type, name, key] = parts;
  expect(addressFrom(modules, type, name, key)).toBeUndefined();
});

test("an address is one word of a shell", () => {
  expect(shellQuoted(`a["it's $(x)"]`)).toBe(String.raw`'a["it'\''s $(x)"]'`);
});
