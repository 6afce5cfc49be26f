// Before the tests of programs in YAML and Python: an engine with the hosts of these languages, and the SDK of Python.
import type { TestProject } from "vitest/node";
import { ensureEngine } from "../../scripts/engine.mjs";
import { languagesEdition } from "../../scripts/engine-version.mjs";
import { installPythonPackages, type PythonEnvironment } from "./python-environment.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** the folder of the engine; undefined when the `pulumi` on the PATH has all hosts */
    languagesEngine: string | undefined;
    pythonSdk: PythonEnvironment;
  }
}

/** That of `@pulumi/pulumi` in package.json. */
const SDK = "3.270.0";

export default async ({ provide }: TestProject): Promise<void> => {
  provide("languagesEngine", await ensureEngine(languagesEdition));
  const sdk = { name: `pulumi-python-${SDK}`, title: `pulumi ${SDK} for Python`, packages: [`pulumi==${SDK}`] };
  provide("pythonSdk", await installPythonPackages(sdk));
};
