// The package schema (https://www.pulumi.com/docs/iac/extending-pulumi/schema/): the description of the plugin for the engine, YAML
// programs and SDK generators. It is derived from the descriptors in schema/.
import { PROVIDER_SETTINGS } from "../client/config.ts";
import { PROVIDER_TEXT, settingTexts } from "../client/credential-settings.ts";
import { kindRecords } from "../provider/kind/index.ts";
import type { Kind } from "../provider/record/kind.ts";
import { fieldText, lookUpArguments, type Operation, roleBindingSet } from "../schema/index.ts";
import { languages, REPOSITORY } from "./schema/language.ts";
import { resourceSpec, roleBindingSetSpec } from "./schema/resource.ts";
import {
  createTypes,
  type FunctionSpec,
  type ObjectSpec,
  type Properties,
  type PropertySpec,
  propertySpec,
  type ResourceSpec,
  type TypeSpec,
  type Types,
  token,
} from "./schema/types.ts";

/** The members of package.json that the schema uses. */
interface PackageInfo {
  version: string;
  description: string;
  license: string;
  keywords: string[];
  /** where the engine downloads the plugin from: `github://api.github.com/OWNER/REPOSITORY`; empty: users install it themselves */
  pluginDownloadURL: string;
}

export const packageSchema = ({ version, description, license, keywords, pluginDownloadURL }: PackageInfo) => {
  const types = createTypes();
  const settings = settingSpecs(PROVIDER_SETTINGS);
  const kinds = Object.values<Kind>(kindRecords);
  const resources: [string, ResourceSpec][] = kinds.map((kind) => [token(kind.type), resourceSpec(kind, types)]);
  const set = roleBindingSetSpec(types);
  const functions: [string, FunctionSpec][] = kinds.flatMap((kind) => Object.entries(functionSpecs(kind, types)));
  return {
    name: "irm",
    displayName: "Identity and Registry Management (IRM)",
    version,
    description,
    keywords,
    license,
    repository: REPOSITORY,
    publisher: "pulumi-irm",
    ...(pluginDownloadURL !== "" && { pluginDownloadURL }),
    meta: { moduleFormat: "(.*)" },
    language: languages,
    // Without the token: the engine keeps the stack's configuration in clear text.
    config: { variables: settingSpecs(PROVIDER_SETTINGS.filter((name) => name !== "token")) },
    types: sortByName(Object.entries({ ...types.specs, ...accessPolicyTypes })),
    provider: { description: PROVIDER_TEXT, inputProperties: settings, properties: settings },
    resources: sortByName([...resources, [token(roleBindingSet.type), set], [token(ACCESS_POLICY), accessPolicySpec]]),
    functions: sortByName(functions),
  };
};

// The settings of an explicit provider and of a stack's configuration (docs/reference/provider.md).

const settingSpecs = (names: readonly string[]): Properties =>
  Object.fromEntries(
    names.map((name): [string, PropertySpec] => [
      name,
      {
        type: name === "requestTimeout" ? "number" : "string",
        description: settingTexts[name] ?? "",
        ...(name === "token" && { secret: true as const }),
      },
    ]),
  );

const sortByName = <T>(entries: [string, T][]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

// Functions: the look-ups and lists of the TypeScript programs. They return the API's messages.

/** Fields of a list request that page through it: the plugin reads all pages. */
const PAGING = ["pageToken", "skip"];

const functionSpecs = (kind: Kind, types: Types): Record<string, FunctionSpec> => ({
  ...(kind.texts.lookUp && { [token(`get${kind.type}`)]: lookUpSpec(kind, kind.texts.lookUp.text, types) }),
  [token(`list${kind.list.operation.slice("List".length)}`)]: listSpec(kind, types),
});

const lookUpSpec = (kind: Kind, description: string, types: Types): FunctionSpec => {
  const taken = lookUpArguments(kind);
  const properties: Properties = Object.fromEntries(
    taken.map(({ name, text }) => [name, propertySpec({ type: "string" }, text)]),
  );
  const required = taken.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  return {
    description,
    inputs: { type: "object", properties, ...(required.length > 0 && { required }) },
    outputs: types.object(kind.schema, "output", fieldText),
  };
};

const listSpec = (kind: Kind, types: Types): FunctionSpec => {
  const { operation, plural } = kind.list;
  const { request, response } = kind.methods[operation] as Operation;
  const inputs = types.object(request, "input");
  for (const name of PAGING) delete inputs.properties[name];
  inputs.properties.pageSize = propertySpec({ type: "integer" }, "Records of one request; default and most: 200");
  const field = response.shape[plural];
  if (field === undefined) throw new TypeError(`${operation} has no ${plural}`);
  const items: TypeSpec = types.of(field, "output");
  return {
    description: kind.texts.list,
    inputs,
    outputs: {
      type: "object",
      properties: { [plural]: propertySpec(items, `The ${kind.words} that were found`) },
      required: [plural],
    },
  };
};

// AccessPolicy, a component: the arguments and outputs of the TypeScript class of that name (provider/program/access-policy.ts), which
// constructs it in the plugin too.

export const ACCESS_POLICY = "AccessPolicy";

/** The other type of `adopt`, beside "match". */
const ADOPT_FILE = token("PolicyAdoptFile");

const accessPolicyTypes: Readonly<Record<string, ObjectSpec>> = {
  [ADOPT_FILE]: {
    description: "A file of uids, as irm export writes it",
    type: "object",
    properties: {
      file: {
        type: "string",
        plain: true,
        description: "Path of the file, relative to the folder of the Pulumi project",
      },
    },
    required: ["file"],
  },
};

const plain = (type: TypeSpec, description: string): PropertySpec => ({ ...type, plain: true, description });

const uids = (description: string): PropertySpec => ({
  type: "object",
  additionalProperties: { type: "string" },
  description,
});

const accessPolicySpec: ResourceSpec = {
  description:
    "The resources of a policy: its groups, roles, identities, and who has which role where. Their logical names come from the keys of the policy, never from its order.",
  isComponent: true,
  inputProperties: {
    file: plain(
      { type: "string" },
      "The policy file, relative to the folder of the Pulumi project; give this or `policy`",
    ),
    policy: plain({ $ref: "pulumi.json#/Any" }, "The policy as an object, in the shape of the file"),
    adopt: plain(
      { oneOf: [{ type: "string" }, { $ref: `#/types/${ADOPT_FILE}`, plain: true }] },
      '"match" adopts the records with these names in these groups, and creates the others. `{ file }` adopts the records whose uids are in this file, which irm export writes; its path is relative to the folder of the Pulumi project; default: all are created',
    ),
    deleteAdopted: plain({ type: "boolean" }, "Deletes adopted records with their resources; default: they remain"),
    exclusive: plain(
      { type: "boolean" },
      "Removes role bindings that the policy does not declare, in each of its groups, as RoleBindingSet does; default: they remain",
    ),
    maxRemovals: plain({ type: "integer" }, "The most role bindings that a run may remove in one group; default: 20"),
    allowReplace: plain(
      { type: "boolean" },
      "Allows a changed `in` to create a new identity, role or group, with a new uid; default: refused in the preview",
    ),
    allowDuplicate: plain(
      { type: "boolean" },
      "Creates groups, identities and roles even if equal ones exist that this stack did not create; default: the update refuses them",
    ),
    identityProviders: uids(
      "The uids of identity providers that `people` names, by name; default: each is looked up by its name in the organization",
    ),
  },
  requiredInputs: [],
  properties: {
    organization: { type: "string", description: "uid of the organization" },
    groups: uids("uids of the groups, by path: `platform/registry`"),
    identities: uids("uids of the identities, by key"),
    roles: uids("uids of the custom roles, by key"),
  },
  required: ["organization", "groups", "identities", "roles"],
};
