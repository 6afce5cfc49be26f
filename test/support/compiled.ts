// Compiled modules that the processes of the tests share: loading what one of them has compiled takes half of the time.
// The folder goes with the packages, so that it never holds those of a clone that is gone.
import { join } from "node:path";
import { root } from "../../scripts/project.mjs";

export const COMPILED = join(root, "node_modules", ".cache", "pulumi-irm-compiled");
