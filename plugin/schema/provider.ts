// The settings of an explicit provider, and those of a stack's configuration (docs/configuration.md).
import { PROVIDER_SETTINGS } from "../../client/config.ts";
import type { Descriptions, Properties, PropertySpec } from "./spec.ts";

const settingSpecs = (names: readonly string[], { member }: Descriptions): Properties =>
  Object.fromEntries(
    names.map((name): [string, PropertySpec] => [
      name,
      {
        type: name === "requestTimeout" ? "number" : "string",
        description: member("ProviderArgs", name) ?? "",
        ...(name === "token" && { secret: true as const }),
      },
    ]),
  );

/** Without the token: the engine keeps the stack's configuration in clear text. */
export const configSpec = (descriptions: Descriptions) => ({
  variables: settingSpecs(
    PROVIDER_SETTINGS.filter((name) => name !== "token"),
    descriptions,
  ),
});

export const providerSpec = (descriptions: Descriptions) => {
  const properties = settingSpecs(PROVIDER_SETTINGS, descriptions);
  return { description: descriptions.member("Provider") ?? "", inputProperties: properties, properties };
};
