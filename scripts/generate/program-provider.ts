// The arguments of an explicit provider, which native resources alone take: the texts that the plugin's schema has too.
import { PROVIDER_SETTINGS } from "../../client/config.ts";
import { settingTexts } from "../../client/setting-text.ts";
import { docLines, HEAD } from "./program-type.ts";

export const providerArgsFile = (): string => {
  const members = PROVIDER_SETTINGS.flatMap((name) => [
    ...docLines("  ", [settingTexts[name] ?? ""]),
    `  ${name}?: pulumi.Input<${name === "requestTimeout" ? "number" : "string"}>;`,
  ]);
  const head = docLines("", ["Settings of an explicit provider; the environment gives what is left out."]);
  const body = ["export interface ProviderArgs {", ...members, "}"];
  return `${[HEAD, 'import type * as pulumi from "@pulumi/pulumi";', "", ...head, ...body].join("\n")}\n`;
};
