// The package schema of the plugin against the TypeScript classes: both follow from the descriptors, in two ways, and
// say the same.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { functions } from "../../plugin/functions.ts";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { packageSchema } from "../../plugin/schema.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { capabilities } from "../../schema/index.ts";
import { withExamples } from "../../scripts/generate/example.ts";
import { root } from "../harness/api-process.ts";
import { cases } from "../provider/kind/case.ts";
import { examplesOf } from "../support/example.ts";
import { type Property, pluginSchema, type ResourceSpec, type Spec, specOf } from "../support/plugin-schema.ts";
import { readTypes, type Shape, type TypeReader } from "../support/type-shape.ts";

const { resources: declared, ...schema } = pluginSchema;
const isComponent = ([, { isComponent: is }]: [string, ResourceSpec]): boolean => is === true;
const resources = Object.fromEntries(Object.entries(declared).filter((one) => !isComponent(one)));
const components = Object.entries(declared).filter(isComponent);
const types = [...Object.values(kindRecords).map(({ type }) => type), "RoleBindingSet"].toSorted();
const program: TypeReader = readTypes("provider/program/native/index.ts");
const messages: TypeReader = readTypes("schema/generated/message.ts");

const typeAt = ($ref: string): Spec => specOf({ $ref });

const shapeOf = (spec: Spec, prefix = ""): Shape => {
  if (spec.$ref !== undefined) return shapeOf(typeAt(spec.$ref), prefix);
  if (spec.items) return shapeOf(spec.items, `${prefix}[]`);
  if (spec.additionalProperties) return shapeOf(spec.additionalProperties, `${prefix}{}`);
  const { properties, required = [] } = spec;
  if (properties === undefined) return { [prefix]: spec.type === "integer" ? "number" : String(spec.type) };
  const members = Object.entries(properties).map(([name, property]) => {
    const path = `${prefix === "" ? "" : `${prefix}.`}${name}${required.includes(name) ? "" : "?"}`;
    return shapeOf(property, path);
  });
  return Object.assign({}, ...members);
};

/** Members that the class adds to what the state holds: uids of other outputs, and of a set that of its group. */
const isRepeated = (type: string, name: string): boolean =>
  (["RoleBinding", "GroupInvite"].includes(type) && ["identityUid", "roleUid"].includes(name)) ||
  (type === "RoleBindingSet" && name === "uid");

const without = (shape: Shape, isLeftOut: (name: string) => boolean): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([path]) => !isLeftOut(path.replace(/[?.[{].*$/s, ""))));

test("a resource is that of its class: and each class has a resource", () => {
  expect(Object.keys(resources)).toEqual(types.map((type) => `irm:index:${type}`));
});

test.each(types)("a resource is that of its class: %s", (type) => {
  const spec = resources[`irm:index:${type}`] as ResourceSpec;
  const inputs = shapeOf({ properties: spec.inputProperties, required: spec.requiredInputs });
  expect(inputs).toEqual(program.shape(program.declared(`${type}Args`)));
  const outputs = program.outputs(program.declared(type));
  expect(shapeOf(spec)).toEqual(without(outputs, (name) => isRepeated(type, name)));
});

const [[token, spec] = []] = components;
const source = readFileSync(`${root}/provider/program/access-policy.ts`, "utf8");
/** The members of the class and of its arguments, with their comments as one line. */
const commentOf = new Map(
  [...source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(?:declare readonly )?(\w+)\??:/g)].map(
    ([, comment = "", name = ""]) => [name, comment.replace(/\s*\n\s*\*\s*/g, " ").trim()],
  ),
);

test("the component AccessPolicy has the arguments and outputs of its class, in the same words", () => {
  expect([token, components.length]).toEqual(["irm:index:AccessPolicy", 1]);
  const words = (properties: Record<string, Property> = {}) =>
    Object.entries(properties).map(([name, { description }]) => [name, description?.toLowerCase()]);
  const fromClass = (names: string[]) => names.map((name) => [name, commentOf.get(name)?.toLowerCase()]);
  const { inputProperties = {}, properties = {} } = spec ?? {};
  const { identityProviders: _providers, ...others } = inputProperties;
  expect(words(others)).toEqual(fromClass(Object.keys(others)));
  expect(words(properties)).toEqual(fromClass(["organization", "groups", "identities", "roles"]));
  // The class refuses any other argument.
  const [, list = ""] = /const ARGUMENTS = \[(.*?)\]/s.exec(source) ?? [];
  const names = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  expect(Object.keys(inputProperties)).toEqual(names);
});

test("the component AccessPolicy takes values that are not known yet for its identity providers alone", () => {
  const { inputProperties = {} } = spec ?? {};
  const open = Object.entries(inputProperties).flatMap(([name, { plain }]) => (plain ? [] : [name]));
  expect(open).toEqual(["identityProviders"]);
});

const names = Object.keys(schema.functions).map((token) => token.replace("irm:index:", ""));

test("a function is that of TypeScript: and the plugin serves it, and each TypeScript function has one", () => {
  expect(names).toEqual(Object.keys(functions).toSorted());
  const exported = [...program.exports.keys()].filter(
    (name) => /^(get|list)[A-Z]/.test(name) && !/Args$|Output$/.test(name),
  );
  expect(names).toEqual(exported.toSorted());
});

// The types of TypeScript are those of messages: with fields that no answer has, and without what an answer always has.
const NEVER_ANSWERED = ["ttl", "code", "identityUid", "roleUid"];
const paths = (shape: Shape) =>
  Object.entries(shape)
    .map(([path, kind]) => `${path.replaceAll("?", "")} ${kind}`)
    .filter((path) => !NEVER_ANSWERED.includes(path.replace(/\W.*/, "")) && !path.includes("clientSecret"))
    .toSorted();

test.each(names)("a function is that of TypeScript: %s", (name) => {
  const { inputs, outputs } = schema.functions[`irm:index:${name}`] as (typeof schema.functions)[string];
  expect(shapeOf(inputs)).toEqual(program.shape(program.parameter(name)));
  const [list] = Object.values(outputs.properties ?? {});
  const record = name.startsWith("list") && list?.items ? list.items : outputs;
  const kind = Object.values(kindRecords).find(({ type, list: { operation } }) =>
    [`get${type}`, `l${operation.slice(1)}`].includes(name),
  );
  expect(paths(shapeOf(record))).toEqual(paths(messages.shape(messages.declared(kind?.type ?? ""))));
});

describe("the schema", () => {
  const everywhere = <T>(collect: (spec: Spec, at: string) => T[]): T[] => {
    const visit = (value: unknown, at: string): T[] => {
      if (typeof value !== "object" || value === null) return [];
      const below = Object.entries(value).flatMap(([name, member]) => visit(member, `${at}/${name}`));
      return [...collect(value as Spec, at), ...below];
    };
    return visit({ ...schema, resources: declared }, "");
  };

  test("declares each type that it refers to, and uses each type that it declares", () => {
    const used = everywhere(({ $ref }) => (typeof $ref === "string" ? [$ref.replace("#/types/", "")] : []));
    const own = used.filter((name) => !name.startsWith("pulumi.json#"));
    expect([...new Set(own)].toSorted()).toEqual(Object.keys(schema.types));
  });

  test("requires properties that exist", () => {
    const missing = everywhere(({ properties, required: names }, at) =>
      properties && Array.isArray(names)
        ? names.filter((name) => !(name in properties)).map((name) => `${at} ${name}`)
        : [],
    );
    const inputs = Object.entries(declared).flatMap(([token, { inputProperties, requiredInputs }]) =>
      requiredInputs.filter((name) => !(name in inputProperties)).map((name) => `${token} ${name}`),
    );
    expect([...missing, ...inputs]).toEqual([]);
  });

  test("describes each property, resource and function in words that hold for every language", () => {
    const properties = everywhere(({ properties: own }, at) =>
      Object.entries(own ?? {}).map(([name, { description }]): [string, unknown] => [`${at} ${name}`, description]),
    );
    const inputs = Object.entries(declared).flatMap(([token, { inputProperties, description }]) => [
      [token, description],
      ...Object.entries(inputProperties).map(([name, one]) => [`${token} ${name}`, one.description]),
    ]);
    const functions = Object.entries(schema.functions).map(([token, { description }]) => [token, description]);
    const all = [...properties, ...inputs, ...functions];
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter(([, text]) => typeof text !== "string" || text === "")).toEqual([]);
    expect(
      all.filter(([, text]) => /a Group or|a Role,|an Identity or|a Repo or|undefined|^As given$/.test(String(text))),
    ).toEqual([]);
  });

  test("marks what is secret", () => {
    const secrets = everywhere((spec, at) =>
      (spec as Property).secret === true ? [at.replaceAll("irm:index:", "")] : [],
    );
    expect(secrets.toSorted()).toEqual([
      "/provider/inputProperties/token",
      "/provider/properties/token",
      "/resources/GroupInvite/properties/code",
      "/types/IdentityProviderOIDC/properties/clientSecret",
    ]);
  });

  test("marks the arguments whose change creates a new record", () => {
    const replacing = Object.entries(resources).map(([token, { inputProperties }]) => {
      const names = Object.entries(inputProperties).flatMap(([name, one]) => (one.willReplaceOnChanges ? [name] : []));
      return [token.replace("irm:index:", ""), names.toSorted()];
    });
    expect(Object.fromEntries(replacing)).toEqual({
      RoleBindingSet: ["parent"],
      ...Object.fromEntries(cases.map((one) => [kindRecords[one.kind].type, one.replacing])),
    });
    const { properties } = typeAt("#/types/irm:index:IdentityProviderOIDC");
    expect(properties?.correlationRule?.willReplaceOnChanges).toBe(true);
  });

  test("adopts the stacks that were written with dynamic resources", () => {
    const aliases = Object.values(resources).flatMap((one) => one.aliases.map(({ type }) => type));
    expect(aliases).toEqual(types.map((type) => `pulumi-nodejs:dynamic/irm:${type}`));
  });

  test("has the arguments of the TypeScript class Provider", () => {
    const { inputProperties: properties } = schema.provider;
    expect(shapeOf({ properties })).toEqual(program.shape(program.declared("ProviderArgs")));
  });

  test("has the version of the package, and the settings of docs/reference/provider.md", () => {
    expect(schema.version).toBe(JSON.parse(readFileSync(`${root}/package.json`, "utf8")).version);
    const rows = readFileSync(`${root}/docs/reference/provider.md`, "utf8").match(/^\|.*`irm:.*$/gm) ?? [];
    const documented = rows.join("\n").matchAll(/`irm:(\w+)`/g);
    expect(new Set(Object.keys(schema.config.variables))).toEqual(new Set([...documented].map(([, name]) => name)));
    expect(Object.keys(schema.provider.inputProperties)).toEqual([...Object.keys(schema.config.variables), "token"]);
  });

  test("names the package for people, with the repository and the keywords of package.json, as the other packages do", () => {
    const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
    const manifest = JSON.parse(read("package.json"));
    const { keywords, repository } = manifest;
    expect(repository).toEqual({ type: "git", url: `git+${schema.repository}.git` });
    expect(schema).toMatchObject({
      displayName: "Identity and Registry Management (IRM)",
      publisher: "pulumi-irm",
      repository: "https://github.com/pulumi-irm/pulumi-irm",
      keywords,
    });
    // What the registry sorts packages by.
    expect(keywords).toEqual(expect.arrayContaining(["pulumi", "category/infrastructure", "kind/native"]));
    // There is no page of the package, and no server that the engine may ask for the plugin before package.json names it.
    for (const absent of ["homepage", "pluginDownloadURL"]) expect(schema).not.toHaveProperty(absent);
    const pluginDownloadURL = "github://api.github.com/owner/name";
    expect(packageSchema({ ...manifest, pluginDownloadURL })).toMatchObject({ pluginDownloadURL });

    expect(read("sdk/python/pyproject.toml")).toContain(`Repository = "${schema.repository}"\n`);
    expect(GO_MODULE).toBe(`${schema.repository.replace("https://", "")}/sdk/go/irm`);
    expect(read("sdk/go/irm/go.mod")).toContain(`module ${GO_MODULE}\n`);
    const page = read("docs/resources.md");
    expect([...page.matchAll(/[\w./-]+\/sdk\/go\/irm/g)].map(([path]) => path)).toEqual(Array(3).fill(GO_MODULE));
  });

  test("has the values of an enum with names that need no prefix", () => {
    expect(typeAt("#/types/irm:index:RelationshipType").enum?.[1]).toEqual({
      name: "CLAIM_MATCH",
      value: "RELATIONSHIP_TYPE_CLAIM_MATCH",
    });
    // Capabilities have two spellings, and a service may have more than these.
    expect(JSON.stringify(schema)).not.toContain(`"value":"${capabilities[0]?.enum}"`);
  });
});

// The example of each resource, in its four languages. test/package compiles those in TypeScript, and runs them as the programs of docs/; the
// schema has each of their properties, or it is not generated. test/access/export has what the other languages write otherwise.
const examples = examplesOf(pluginSchema);

test("each resource has one, of itself, in each language, and the .d.ts shows the part about it", () => {
  expect(Object.keys(declared).length).toBeGreaterThan(11);
  expect([...examples.keys()]).toEqual(Object.keys(declared).map((token) => token.replace("irm:index:", "")));
  for (const [type, { typescript, python, yaml, go }] of examples) {
    expect(typescript).toContain(`new ${type}(`);
    expect(go).toContain(`irm.New${type}(ctx, `);
    expect(python).toContain(`irm.${type}(`);
    const { resources } = parse(yaml, { version: "1.1" }) as { resources: Record<string, { type: string }> };
    expect(Object.values(resources).map((one) => one.type)).toContain(`irm:${type}`);
    expect(pluginSchema.resources[`irm:index:${type}`]?.description).toMatch(/^[A-Z][^{}]*\n\n\{\{% examples %\}\}\n/);
  }
  expect(readFileSync(`${root}/provider/program/generated/role-binding.ts`, "utf8")).toContain(
    ' * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });\n',
  );
});

test("a program in docs/ with an argument that the schema does not have is refused", () => {
  const changed = structuredClone(pluginSchema);
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
