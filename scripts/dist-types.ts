// The types of each export, bundled into one file. A program compiles them under any module resolution, and needs no types
// but those of Node and of the Pulumi SDK.
import { join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import type { Entry } from "./dist-package.ts";

/** Packages that the published types may name. */
const NAMED = /^(@pulumi\/pulumi$|node:(crypto|dns)$)/;

/** Reads the files of tsc in `declarations`, and writes one file per entry to `dist`. */
export async function bundleTypes(entries: readonly Entry[], declarations: string, dist: string): Promise<void> {
  for (const { name, source } of entries) {
    const bundle = await rollup({
      input: join(declarations, source.replace(/\.ts$/, ".d.ts")),
      external: (id) => !/^[./]/.test(id),
      plugins: [dts()],
    });
    const { output } = await bundle.write({ file: join(dist, `${name}.d.ts`), format: "es" });
    await bundle.close();
    const others = output[0].imports.filter((imported) => !NAMED.test(imported));
    if (others.length > 0)
      throw new TypeError(
        `the types of ${source} reach ${others.join(", ")}, whose types a program would have to compile: declare them plainly`,
      );
  }
}
