// Compiled modules that the processes of the tests share, which load in half of the time. A process leaves what it has compiled when it
// exits; what a test kills is compiled before. The folder goes with the packages.
import { basename, join } from "node:path";
import { root } from "../../scripts/base/project.mjs";

export const COMPILED = join(root, "node_modules", ".cache", "pulumi-irm-compiled");

/** A file of `irm`: where tests start many processes of it, the one that compile-command.ts has made. */
export const irmModule = (source: string): string => {
  const folder = process.env.IRM_TEST_COMMANDS;
  return folder === undefined ? join(root, source) : join(folder, `${basename(source, ".ts")}.mjs`);
};

/** The environment in which the Node processes of an engine share them. */
export const ENGINE_NODE = { NODE_OPTIONS: `--require "${join(root, "test", "support", "engine-node.cjs")}"` };
