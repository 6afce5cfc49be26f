// The package schema of the plugin against the TypeScript classes: both follow from the descriptors, in two ways, and
// say the same. And what the plugin answers against what its schema says of it: each output of a resource that has
// everything, and of one with as little as it can have.
import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { functions } from "../../plugin/functions.ts";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { type Marked, plainFrom, Secret } from "../../plugin/value.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { capabilities, type Json } from "../../schema/index.ts";
import { withExamples } from "../../scripts/generate/example.ts";
import { root } from "../harness/api-process.ts";
import { cases, digest, cases as kindCases, type Place } from "../provider/kind/case.ts";
import { examplesOf } from "../support/example.ts";
import { type Property, pluginSchema, type ResourceSpec, type Spec, specOf } from "../support/plugin-schema.ts";
import { readTypes, type Shape, type TypeReader } from "../support/type-shape.ts";
import { setUp } from "./fixture.ts";

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

  test("has the version of the package, and the settings of docs/configuration.md", () => {
    expect(schema.version).toBe(JSON.parse(readFileSync(`${root}/package.json`, "utf8")).version);
    const rows = readFileSync(`${root}/docs/configuration.md`, "utf8").match(/^\|.*`irm:.*$/gm) ?? [];
    const documented = rows.join("\n").matchAll(/`irm:(\w+)`/g);
    expect(new Set(Object.keys(schema.config.variables))).toEqual(new Set([...documented].map(([, name]) => name)));
    expect(Object.keys(schema.provider.inputProperties)).toEqual([...Object.keys(schema.config.variables), "token"]);
  });

  test("names the package for people, with the repository and the keywords of package.json, as the other packages do", () => {
    const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
    const { keywords, repository } = JSON.parse(read("package.json"));
    expect(repository).toEqual({ type: "git", url: `git+${schema.repository}.git` });
    expect(schema).toMatchObject({
      displayName: "Identity and Registry Management (IRM)",
      publisher: "pulumi-irm",
      repository: "https://github.com/pulumi-irm/pulumi-irm",
      keywords,
    });
    // What the registry sorts packages by.
    expect(keywords).toEqual(expect.arrayContaining(["pulumi", "category/infrastructure", "kind/native"]));
    // There is no page of the package, and no server that the engine may ask for the plugin.
    for (const absent of ["homepage", "pluginDownloadURL"]) expect(schema).not.toHaveProperty(absent);

    expect(read("sdk/python/pyproject.toml")).toContain(`Repository = "${schema.repository}"\n`);
    expect(GO_MODULE).toBe(`${schema.repository.replace("https://", "")}/sdk/go/irm`);
    expect(read("sdk/go/irm/go.mod")).toContain(`module ${GO_MODULE}\n`);
    const page = read("docs/plugin.md");
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

// The example of each resource, in its three languages. test/package compiles those in TypeScript, and runs them as the programs of docs/; the
// schema has each of their properties, or it is not generated. test/access/export has what the other languages write otherwise.
const examples = examplesOf(pluginSchema);

test("each resource has one, of itself, in each language, and the .d.ts shows the part about it", () => {
  expect(Object.keys(declared).length).toBeGreaterThan(11);
  expect([...examples.keys()]).toEqual(Object.keys(declared).map((token) => token.replace("irm:index:", "")));
  for (const [type, { typescript, python, yaml }] of examples) {
    expect(typescript).toContain(`new ${type}(`);
    expect(python).toContain(`irm.${type}(`);
    const { resources } = parse(yaml, { version: "1.1" }) as { resources: Record<string, { type: string }> };
    expect(Object.values(resources).map((one) => one.type)).toContain(`irm:${type}`);
    expect(pluginSchema.resources[`irm:index:${type}`]?.description).toMatch(/^[A-Z][^{}]*\n\n\{\{% examples %\}\}\n/);
  }
  const generated = readFileSync(`${root}/provider/program/generated/role-binding.ts`, "utf8");
  expect(generated).toContain(
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

/** Members of the state that are the plugin's own (provider/record/state.ts). */
const OWN = /^(__|adopted$|allowReplace$|deleteAdopted$|forceDestroy)/;

/** Where a value is not as described. */
const differences = (spec: Spec, value: unknown, path = ""): string[] => {
  if (spec.$ref !== undefined) return differences(specOf(spec), value, path);
  if (spec.enum) return spec.enum.some((one) => one.value === value) ? [] : [`${path}: no such value: ${value}`];
  if (spec.items)
    return Array.isArray(value)
      ? value.flatMap((item, i) => differences(spec.items as Spec, item, `${path}[${i}]`))
      : [`${path}: no list`];
  const { properties, required = [], additionalProperties } = spec;
  if (additionalProperties || properties) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path}: no object`];
    const missing = required.filter((name) => !(name in value)).map((name) => `${path}.${name}: is missing`);
    const found = Object.entries(value).flatMap(([name, member]) => {
      const own = properties?.[name] ?? additionalProperties;
      return own ? differences(own, member, `${path}.${name}`) : [`${path}.${name}: is not described`];
    });
    return [...missing, ...found];
  }
  const type = spec.type === "integer" ? "number" : spec.type;
  return typeof value === type ? [] : [`${path}: ${typeof value} in place of ${type}`];
};

const { org, plugin, created } = await setUp();

const problemsOf = (type: string, outs: Marked): string[] => {
  const described = Object.entries(plainFrom(outs)).filter(([name]) => !OWN.test(name));
  return differences(declared[`irm:index:${type}`] as Spec, Object.fromEntries(described));
};

/** Uids of records that are there already, by the type. */
const uids: Record<string, string> = { organization: org };
const placeOf = ({ organization = "", Group = "", Repo = "", IdentityProvider = "", Identity = "" } = uids): Place => ({
  ...{ organization, group: Group, repo: Repo, provider: IdentityProvider, identity: Identity },
});
const claimMatch = { issuer: "https://issuer.example.com", subject: "s", claims: { a: "b" } };
const awsIdentity = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/x", userId: "AROA:x" };
const servicePrincipal = "SERVICE_PRINCIPAL_COSIGNED";
const clouds = (uid: string) => ({
  ...{ name: "accounts", amazon: { account: "123456789012" }, google: { projectId: "p", projectNumber: "1" } },
  azure: { tenantId: "t", clientIds: { scanner: "c" } },
  chainguard: { serviceBindings: { INGESTER: uid } },
});
const both = (identity: string) => ["owner", uids.Role].map((role) => ({ identity, role }));

/** Arguments by the type and what they show. Others stand in the first one. */
const all: [name: string, args: (place: Place) => Json][] = [
  ["Group in another", ({ organization: parent }) => ({ parent, name: "eng", description: "Builds" })],
  ...kindCases.map(({ kind, inputs }): (typeof all)[number] => [`${kindRecords[kind].type} of its case`, inputs]),
  ["Group at the root", () => ({ root: true, name: "acme" })],
  ["Identity with claims", ({ group: parent }) => ({ parent, name: "claims", company: "Acme", claimMatch })],
  ["Identity of AWS", ({ group: parent }) => ({ parent, name: "aws", awsIdentity })],
  ["Identity of a service", ({ group: parent }) => ({ parent, name: "service", servicePrincipal })],
  ["RoleBindingSet of two roles", ({ group: parent, identity }) => ({ parent, bindings: both(identity) })],
  ["RoleBindingSet of none", ({ organization: parent }) => ({ parent, bindings: [] })],
  ["GroupInvite for anyone", ({ group: parent }) => ({ parent, role: "viewer", ttl: "600s" })],
  ["AccountAssociation of each cloud", ({ organization, identity }) => ({ parent: organization, ...clouds(identity) })],
  ["Tag that lists show", ({ repo: parent }) => ({ parent, name: "latest", digest: digest("0") })],
  ["Repo that syncs", ({ group: parent, repo: source }) => ({ parent, name: "copy", syncConfig: { source } })],
];

const typeOf = (name: string): string => name.split(" ", 1)[0] as string;

describe("the outputs are those of the schema", () => {
  it.each(all)("%s", async (name, args) => {
    const type = typeOf(name);
    const { id, outs } = await created(type, args(placeOf()));
    if (!type.endsWith("Set")) uids[type] ??= id;
    expect(problemsOf(type, outs)).toEqual([]);
  });

  it("and there is a case for each resource", () => {
    // A component has no outputs but those of its resources.
    const own = Object.keys(declared).filter((token) => token !== "irm:index:AccessPolicy");
    expect([...new Set(all.map(([name]) => `irm:index:${typeOf(name)}`))].toSorted()).toEqual(own);
  });

  const functions = () => Object.keys(schema.functions).map((token) => token.replace("irm:index:", ""));
  it.each(functions().filter((name) => name.startsWith("list")))("%s", async (name) => {
    const result = await plugin.invoke(`irm:index:${name}`, {});
    const [records] = Object.values(plainFrom(result)) as unknown[][];
    expect(records?.length).toBeGreaterThan(0);
    expect(differences(schema.functions[`irm:index:${name}`]?.outputs as Spec, plainFrom(result))).toEqual([]);
  });

  it.each(functions().filter((name) => name.startsWith("get")))("%s", async (name) => {
    const uid = uids[name.slice("get".length)] as string;
    const args: Record<string, Json> = {
      getGroup: { name: "eng", parent: org },
      getIdentity: { name: "ci", parent: uids.Group },
      getRole: { name: "viewer" },
      getAccountAssociation: { group: uid },
    };
    const result = await plugin.invoke(`irm:index:${name}`, args[name] ?? { uid });
    expect(differences(schema.functions[`irm:index:${name}`]?.outputs as Spec, plainFrom(result))).toEqual([]);
  });
});

it("functions are secret where an argument is, and an unknown one names those that there are", async () => {
  expect((await plugin.invoke("irm:index:getRole", { name: new Secret("viewer") })).uid).toBeInstanceOf(Secret);
  await expect(plugin.invoke("irm:index:getGrup", {})).rejects.toThrow(
    /^2 UNKNOWN: unknown function irm:index:getGrup; available: /,
  );
});
