// What the plugin answers against what its schema says of it: each output of a resource that has everything, and of one with as
// little as it can have.
import { describe, expect, it } from "vitest";
import { type Marked, plainFrom } from "../../plugin/value.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import type { Json } from "../../schema/index.ts";
import { digest, ISSUER_KEYS, cases as kindCases } from "../provider/kind/case.ts";
import { type Spec, pluginSchema as schema, specOf } from "../support/plugin-schema.ts";
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
  return differences(schema.resources[`irm:index:${type}`] as Spec, Object.fromEntries(described));
};

const ISSUER = "https://issuer.example.com";

/** Arguments by the type, and what they show. `uid` finds a record that is there already. */
const cases: Readonly<Record<string, (uid: Record<string, string>) => Json>> = {
  "Group at the root": () => ({ root: true, name: "acme" }),
  "Group in another": ({ org: parent }) => ({ parent, name: "eng", description: "Builds" }),
  "Identity with a claim match": ({ Group: parent }) => ({
    ...{ parent, name: "ci", company: "Acme" },
    claimMatch: { issuer: ISSUER, subject: "s", claims: { a: "b" } },
  }),
  "Identity with keys": ({ Group: parent }) => ({
    ...{ parent, name: "keys" },
    staticKeys: { issuer: ISSUER, subject: "k", issuerKeys: ISSUER_KEYS, audiences: ["a"] },
  }),
  "Identity of AWS": ({ Group: parent }) => ({
    ...{ parent, name: "aws" },
    awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/x", userId: "AROA:x" },
  }),
  "Identity of a service": ({ Group: parent }) => ({
    ...{ parent, name: "service", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
  }),
  "Role of a group": ({ Group: parent }) => ({ parent, name: "reader", capabilities: ["groups.list"] }),
  "RoleBinding of a built-in role": ({ org: parent, Identity: identity }) => ({ parent, identity, role: "viewer" }),
  "RoleBindingSet of two roles": ({ Group: parent, Identity: identity, Role: role }) => ({
    parent,
    bindings: ["viewer", role].map((one) => ({ identity, role: one })),
  }),
  "RoleBindingSet of none": ({ org: parent }) => ({ parent, bindings: [] }),
  "GroupInvite for anyone": ({ Group: parent }) => ({ parent, role: "viewer", ttl: "600s" }),
  "GroupInvite for one": ({ Group: parent, Role: role }) => ({
    ...{ parent, role, ttl: "600s", email: "a@example.com", singleUse: true },
  }),
  "IdentityProvider with a secret": ({ Group: parent }) => ({
    ...{ parent, name: "login", description: "d", defaultRole: "viewer" },
    oidc: { issuer: ISSUER, clientId: "c", clientSecret: "s", additionalScopes: ["email"], groupsClaim: "groups" },
  }),
  "AccountAssociation of each cloud": ({ Group: parent, Identity: identity }) => ({
    ...{ parent, name: "accounts", description: "d" },
    amazon: { account: "123456789012" },
    google: { projectId: "p", projectNumber: "1" },
    azure: { tenantId: "t", clientIds: { scanner: "c" } },
    chainguard: { serviceBindings: { INGESTER: identity } },
    github: { appInstallations: { 1: { installations: [{ installationId: "2", name: "n" }] } } },
  }),
  "Repo of its own": ({ Group: parent }) => ({
    ...{ parent, name: "source", catalogTier: "CATALOG_TIER_BASE" },
    ...{ bundles: ["base"], activeTags: ["latest"], aliases: ["a:b"] },
    customOverlay: {
      contents: { packages: ["curl"] },
      environment: { A: "b" },
      accounts: { users: [{ username: "u", uid: 1 }] },
    },
  }),
  "Repo that syncs": ({ Group: parent, Repo: source }) => ({ parent, name: "copy", syncConfig: { source } }),
  "Tag of an image": ({ Repo: parent }) => ({ parent, name: "latest", digest: digest("0"), bundles: ["base"] }),
};

const typeOf = (name: string): string => name.split(" ", 1)[0] as string;

/** Of each kind that needs no arguments of its own here. */
const others = kindCases
  .map(({ kind, inputs }): (typeof all)[number] => {
    const args = ({ org = "", Group = "", Repo = "", IdentityProvider = "", Identity = "" }: Record<string, string>) =>
      inputs({ organization: org, group: Group, repo: Repo, provider: IdentityProvider, identity: Identity });
    return [`${kindRecords[kind].type} of its case`, args];
  })
  .filter(([name]) => !Object.keys(cases).some((one) => typeOf(one) === typeOf(name)));
const all: [name: string, args: (uid: Record<string, string>) => Json][] = [...Object.entries(cases), ...others];

describe("the outputs are those of the schema", () => {
  const uids: Record<string, string> = {};
  it.each(all)("%s", async (name, args) => {
    const type = typeOf(name);
    const { id, outs } = await created(type, args({ org, ...uids }));
    if (!type.endsWith("Set") && (type !== "Group" || outs.parent !== undefined)) uids[type] ??= id;
    expect(problemsOf(type, outs)).toEqual([]);
  });

  it("and there is a case for each resource", () => {
    // A component has no outputs but those of its resources.
    const own = Object.keys(schema.resources).filter((token) => token !== "irm:index:AccessPolicy");
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
