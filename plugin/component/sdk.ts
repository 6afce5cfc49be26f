// What the SDK's runtime does for a program, here for one component that the engine asks this plugin for. The SDK keeps these functions out
// of its types, so this file follows the copy that the build bundles (@pulumi/pulumi/provider/server.ts).
import * as pulumi from "@pulumi/pulumi";
import * as configuration from "@pulumi/pulumi/runtime/config.js";
import * as rpc from "@pulumi/pulumi/runtime/rpc.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { awaitValue } from "../../provider/program/output.ts";
import type { Json } from "../../schema/index.ts";
import type { Request } from "../request-type.ts";

type Run = Pick<
  Request<"construct">,
  "project" | "stack" | "organization" | "parallel" | "dryrun" | "monitorendpoint" | "config" | "configsecretkeys"
>;

const { withLocalStorage } = state as unknown as {
  withLocalStorage<T>(run: () => Promise<T>): Promise<T>;
};
const { awaitFeatureSupport } = settings as unknown as { awaitFeatureSupport(): Promise<void> };

/** Runs a part of a program, with a runtime of its own. `engine` is the address of the engine. */
export const withRuntime = <T>(run: Run, engine: string, construct: () => Promise<T>): Promise<T> =>
  withLocalStorage(async () => {
    const { project, stack, parallel, monitorendpoint, dryrun, organization } = run;
    settings.resetOptions(project, stack, parallel, engine, monitorendpoint, dryrun !== 0, organization);
    configuration.setAllConfig(Object.fromEntries(run.config), [...run.configsecretkeys]);
    try {
      await awaitFeatureSupport();
      return await construct();
    } finally {
      for (const client of [settings.getMonitor(), settings.getEngine()])
        (client as { close?(): void } | undefined)?.close?.();
    }
  });

/** Waits until the engine has answered all calls, and fails with the first that fails. */
export const untilRegistered = (): Promise<void> => pulumi.runtime.disconnect();

/** Outputs as the engine reads them, and the URNs of the resources that each comes from. */
export const serializedOutputs = async (
  name: string,
  outputs: pulumi.Inputs,
): Promise<{ values: Json; dependencies: [name: string, urns: string[]][] }> => {
  const [values, resources] = await rpc.serializeResourceProperties(name, outputs);
  const dependencies = [...resources].map(async ([output, from]): Promise<[string, string[]]> => {
    const urns = await Promise.all([...from].map(({ urn }) => awaitValue(urn)));
    return [output, urns.filter((urn) => urn !== undefined)];
  });
  return { values, dependencies: await Promise.all(dependencies) };
};
