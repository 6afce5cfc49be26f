// Addresses of Terraform, as it prints them and reads them.
import { expect, test } from "vitest";
import { addressFrom, addressText, resourceText, shellQuoted } from "../../../../access/export/terraform/state.ts";

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
