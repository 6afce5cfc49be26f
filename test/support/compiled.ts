// Compiled modules that the processes of the tests share: loading what one of them has compiled takes half of the time. A
// process leaves what it has compiled when it exits; one that is killed leaves nothing, so what a test kills again and again
// is compiled before the tests begin. The folder goes with the packages, so that it never holds those of a clone that is gone.
import { join } from "node:path";
import { root } from "../../scripts/base/project.mjs";

export const COMPILED = join(root, "node_modules", ".cache", "pulumi-irm-compiled");

/** The environment in which the Node processes of an engine share them. */
export const ENGINE_NODE = { NODE_OPTIONS: `--require "${join(root, "test", "support", "engine-node.cjs")}"` };
