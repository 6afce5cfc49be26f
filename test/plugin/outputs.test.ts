import { describe, expect, it } from "vitest";
import { type Marked, plainFrom, Secret } from "../../plugin/value.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import type { Json } from "../../schema/index.ts";
import { digest, cases as kindCases, type Place } from "../provider/kind/case.ts";
import { pluginSchema, type Spec, specOf } from "../support/plugin-schema.ts";
import { setUp } from "./fixture.ts";

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
  return differences(pluginSchema.resources[`irm:index:${type}`] as Spec, Object.fromEntries(described));
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
    const own = Object.keys(pluginSchema.resources).filter((token) => token !== "irm:index:AccessPolicy");
    expect([...new Set(all.map(([name]) => `irm:index:${typeOf(name)}`))].toSorted()).toEqual(own);
  });

  const functions = () => Object.keys(pluginSchema.functions).map((token) => token.replace("irm:index:", ""));
  it.each(functions().filter((name) => name.startsWith("list")))("%s", async (name) => {
    const result = await plugin.invoke(`irm:index:${name}`, {});
    const [records] = Object.values(plainFrom(result)) as unknown[][];
    expect(records?.length).toBeGreaterThan(0);
    expect(differences(pluginSchema.functions[`irm:index:${name}`]?.outputs as Spec, plainFrom(result))).toEqual([]);
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
    expect(differences(pluginSchema.functions[`irm:index:${name}`]?.outputs as Spec, plainFrom(result))).toEqual([]);
  });
});

it("functions are secret where an argument is, and an unknown one names those that there are", async () => {
  expect((await plugin.invoke("irm:index:getRole", { name: new Secret("viewer") })).uid).toBeInstanceOf(Secret);
  await expect(plugin.invoke("irm:index:getGrup", {})).rejects.toThrow(
    /^2 UNKNOWN: unknown function irm:index:getGrup; available: /,
  );
});
