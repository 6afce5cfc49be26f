// The tests of forms, languages and kinds that `npm test` leaves out (test/support/form.ts), with the others of their files.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";
import type { PartOptions, PartResult } from "./part.ts";
import { runTests } from "./vitest.ts";

export const forms = async ({ log = () => {} }: Pick<PartOptions, "log">): Promise<PartResult> => {
  const files = globSync("test/{faults,lifecycle,package}/**/*.test.ts", { cwd: root }).filter((file) =>
    readFileSync(join(root, file), "utf8").includes("support/form.ts"),
  );
  const { passed, failures } = await runTests(files, { IRM_ALL_FORMS: "1", IRM_REQUIRE_PYTHON: "1" }, log);
  return { figures: { "files of tests": files.length, "tests passed": passed }, failures };
};
