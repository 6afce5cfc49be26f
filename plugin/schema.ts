// The package schema (https://www.pulumi.com/docs/iac/extending-pulumi/schema/): what the engine, YAML programs and generators of
// SDKs know of the plugin. It follows from the descriptors in schema/.
import { PROVIDER_SETTINGS } from "../client/config.ts";
import { PROVIDER_TEXT, settingTexts } from "../client/setting-text.ts";
import { kindRecords } from "../provider/kind/index.ts";
import type { Kind } from "../provider/record/kind.ts";
import { roleBindingSet } from "../schema/index.ts";
import { ACCESS_POLICY, accessPolicySpec, accessPolicyTypes } from "./schema/component.ts";
import { functionSpecs } from "./schema/function.ts";
import { languages, REPOSITORY } from "./schema/language.ts";
import { resourceSpec, roleBindingSetSpec } from "./schema/resource.ts";
import type { FunctionSpec, Properties, PropertySpec, ResourceSpec } from "./schema/spec.ts";
import { createTypes, descriptionFrom, token } from "./schema/types.ts";

/** What package.json says of the package. */
export interface PackageInfo {
  version: string;
  description: string;
  license: string;
  keywords: string[];
}

export const packageSchema = ({ version, description, license, keywords }: PackageInfo) => {
  const types = createTypes();
  const kinds = Object.values<Kind>(kindRecords);
  const resources: [string, ResourceSpec][] = kinds.map((kind) => [
    token(kind.type),
    { description: descriptionFrom(kind.texts.about), ...resourceSpec(kind, types) },
  ]);
  const set = { description: descriptionFrom(roleBindingSet.about), ...roleBindingSetSpec(types) };
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
    meta: { moduleFormat: "(.*)" },
    language: languages,
    // Without the token: the engine keeps the stack's configuration in clear text.
    config: { variables: settingSpecs(PROVIDER_SETTINGS.filter((name) => name !== "token")) },
    types: sortByName(Object.entries({ ...types.specs, ...accessPolicyTypes })),
    provider: providerSpec(),
    resources: sortByName([
      ...resources,
      [token(roleBindingSet.type), set],
      [token(ACCESS_POLICY), accessPolicySpec()],
    ]),
    functions: sortByName(functions),
  };
};

// The settings of an explicit provider and of a stack's configuration (docs/configuration.md).

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

const providerSpec = () => {
  const properties = settingSpecs(PROVIDER_SETTINGS);
  return { description: PROVIDER_TEXT, inputProperties: properties, properties };
};

const sortByName = <T>(entries: [string, T][]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
