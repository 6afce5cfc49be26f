// A folder that the package tests share, so that the package is built and installed once. Set up for the whole run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    packageFolder: string;
  }
}

export default ({ provide }: TestProject): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-irm-package-"));
  provide("packageFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
};
