// The example of each resource in the package schema, in its three languages. test/package compiles those in TypeScript, and runs them as
// the programs of docs/; the schema has each of their properties, or it is not generated. test/access/export has what the other languages
// write otherwise.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { withExamples } from "../../scripts/generate/example.ts";
import { root } from "../harness/api-process.ts";
import { examplesOf } from "../support/example.ts";
import { pluginSchema as schema } from "../support/plugin-schema.ts";

const types = Object.keys(schema.resources).map((token) => token.replace("irm:index:", ""));
const examples = examplesOf(schema);

test("each resource has one, of itself, in each language, and the .d.ts shows the part about it", () => {
  expect(types.length).toBeGreaterThan(11);
  expect([...examples.keys()]).toEqual(types);
  for (const [type, { typescript, python, yaml }] of examples) {
    expect(typescript).toContain(`new ${type}(`);
    expect(python).toContain(`irm.${type}(`);
    const { resources } = parse(yaml, { version: "1.1" }) as { resources: Record<string, { type: string }> };
    expect(Object.values(resources).map((one) => one.type)).toContain(`irm:${type}`);
    expect(schema.resources[`irm:index:${type}`]?.description).toMatch(/^[A-Z][^{}]*\n\n\{\{% examples %\}\}\n/);
  }
  const generated = readFileSync(`${root}/provider/program/generated/role-binding.ts`, "utf8");
  expect(generated).toContain(
    ' * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });\n',
  );
});

test("a program in docs/ with an argument that the schema does not have is refused", () => {
  const changed = structuredClone(schema);
  delete changed.resources["irm:index:Tag"]?.inputProperties.digest;
  expect(() => withExamples(changed as never)).toThrow(
    "docs/resources/tag.md: its first program cannot be the example: Tag has no property digest",
  );
});

test("fields have the names of the language, and keys of maps stay as they are", () => {
  const { python, yaml } = examples.get("AccountAssociation") ?? {};
  expect(python).toContain(`
irm.AccountAssociation(
    "cluster-accounts",
    parent=clusters_group.uid,
    name="cluster accounts",
    amazon={"account": "123456789012"},
    google={"project_id": "acme-production", "project_number": "123456789012"},
    azure={
        "tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47",
        "client_ids": {"SYNCER": "00000000-0000-0000-0000-000000000001"},
    },
    chainguard={"service_bindings": {"SYNCER": syncer_identity.uid}},
    github={"app_installations": {"12345": {"installations": [{"installation_id": "67890", "name": "acme"}]}}},
)
`);
  expect(parse(yaml ?? "", { version: "1.1" }).resources.clusterAccountsAccountAssociation.properties).toMatchObject({
    azure: { clientIds: { SYNCER: "00000000-0000-0000-0000-000000000001" } },
    chainguard: { serviceBindings: { SYNCER: expect.stringMatching(/^\$\{syncerIdentity\.uid\}$/) } },
  });
});

test("what the program exports is an output of its last resource", () => {
  expect(examples.get("RoleBindingSet")?.python).toContain(
    'pulumi.export("others", tooling_role_binding_set.unmanaged)\n',
  );
  const { outputs } = parse(examples.get("RoleBindingSet")?.yaml ?? "");
  expect(outputs).toEqual({ others: expect.stringMatching(/^\$\{toolingRoleBindingSet\.unmanaged\}$/) });
});
