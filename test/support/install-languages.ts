// Before the tests of programs in YAML and Python: an engine with the hosts of these languages, the SDK of Python, and
// our package for Python. For programs in Go another engine, if they are to be tested (test/soak/vitest.ts).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { writeWheel } from "../../scripts/build/release-files.ts";
import { ensureEngine } from "../../scripts/engine/engine.mjs";
import { goEdition, languagesEdition } from "../../scripts/engine/version.mjs";
import { COMPILED } from "./compiled.ts";
import { installPythonPackages, type PythonEnvironment } from "./python-environment.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** the folder of the engine; undefined when the `pulumi` on the PATH has all hosts */
    languagesEngine: string | undefined;
    /** the same for Go; null where it is left out */
    goEngine: string | undefined | null;
    pythonSdk: PythonEnvironment;
    /** our package for Python, as a file */
    pythonWheel: string;
  }
}

/** The SDK, in the version of `@pulumi/pulumi` in package.json, and what our package for Python needs besides. */
const PACKAGES = { pulumi: "3.270.0", parver: "1.0.1.post0" };

export default async ({ provide }: TestProject): Promise<void> => {
  provide("languagesEngine", await ensureEngine(languagesEdition));
  provide("goEngine", process.env.IRM_REQUIRE_GO === "1" ? await ensureEngine(goEdition) : null);
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}==${version}`);
  const name = ["python", ...packages].join("-").replaceAll("==", "-");
  provide("pythonSdk", await installPythonPackages({ name, title: packages.join(" and "), packages }));
  const folder = join(COMPILED, "python");
  mkdirSync(folder, { recursive: true });
  provide("pythonWheel", join(folder, await writeWheel(folder)));
};
