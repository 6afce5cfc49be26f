// The types of each export, bundled into one file. A program compiles them under any module resolution, and needs no types
// but the Pulumi SDK's: a project may have none of Node.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import type { Entry } from "./package.ts";

/** Packages that the published types may name. */
const NAMED = /^@pulumi\/pulumi$/;

/** Reads the files of tsc in `declarations`, and writes one file per entry to `dist`. */
export async function bundleTypes(entries: readonly Entry[], declarations: string, dist: string): Promise<void> {
  const comments = new Map<string, string>();
  for (const { name, source } of entries) {
    const file = join(dist, `${name}.d.ts`);
    const bundle = await rollup({
      input: join(declarations, source.replace(/\.ts$/, ".d.ts")),
      external: (id) => !/^[./]/.test(id),
      plugins: [dts()],
    });
    const { output } = await bundle.write({ file, format: "es" });
    await bundle.close();
    const others = output[0].imports.filter((imported) => !NAMED.test(imported));
    if (others.length > 0)
      throw new TypeError(
        `the types of ${source} reach ${others.join(", ")}, whose types a program would have to compile: declare them plainly`,
      );
    await writeFile(file, withComments(await readFile(file, "utf8"), comments));
  }
}

const FUNCTION = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(declare (?:const|function) (\w+)\b)/g;

/** A function without a doc comment takes it from its namesake in an earlier export: pulumi-irm/plugin repeats none. */
function withComments(text: string, comments: Map<string, string>): string {
  return text.replace(FUNCTION, (all: string, comment: string | undefined, declared: string, name: string) => {
    if (comment === undefined) return (comments.get(name) ?? "") + declared;
    if (!comments.has(name)) comments.set(name, comment);
    return all;
  });
}
