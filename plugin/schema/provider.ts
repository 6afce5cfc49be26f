// The settings of an explicit provider and of a stack's configuration (docs/configuration.md).
import { PROVIDER_SETTINGS } from "../../client/config.ts";
import { PROVIDER_TEXT, settingTexts } from "../../client/setting-text.ts";
import type { Properties, PropertySpec } from "./spec.ts";

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

/** Without the token: the engine keeps the stack's configuration in clear text. */
export const configSpec = () => ({ variables: settingSpecs(PROVIDER_SETTINGS.filter((name) => name !== "token")) });

export const providerSpec = () => {
  const properties = settingSpecs(PROVIDER_SETTINGS);
  return { description: PROVIDER_TEXT, inputProperties: properties, properties };
};
