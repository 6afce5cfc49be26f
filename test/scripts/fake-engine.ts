// Folders with a `pulumi` that only prints its version, for the tests of discovery.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Shell scripts named like the engine's programs; returns the folder. */
export function fakeEngine(folder: string, version: string, pieces = ["pulumi", "pulumi-language-nodejs"]): string {
  mkdirSync(folder, { recursive: true });
  for (const piece of pieces) writeFileSync(join(folder, piece), `#!/bin/sh\necho v${version}\n`, { mode: 0o755 });
  return folder;
}
