// Makes this clone's own package a package of its node_modules. The state of a dynamic resource requires `pulumi-irm/dynamic`, which
// Node looks for there: the program of the root Pulumi.yaml is part of the package itself.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../base/project.mjs";

try {
  const target = process.platform === "win32" ? root : "..";
  symlinkSync(target, join(root, "node_modules", "pulumi-irm"), "junction");
} catch (error) {
  // EEXIST: it is there. ENOENT: npm has installed nothing yet, and calls this again once it has.
  const { code = "" } = /** @type {NodeJS.ErrnoException} */ (error);
  if (!["EEXIST", "ENOENT"].includes(code)) throw error;
}
