// The program or policy of this folder that would create again what a revocation removes.
import { existsSync } from "node:fs";
import { declarationsIn } from "../access/revoke/declared.ts";
import type { HeldBinding } from "../access/revoke/holder.ts";
import { type Holder, kindOf } from "../access/revoke/holder.ts";
import { engineWith, stackFlag } from "../pulumi/command.ts";
import { projectFolder } from "../pulumi/project.ts";
import { engineCommand } from "./engine-command.ts";

/** One sentence, which says what to do. Never fails: without a state it names what may declare them. */
export const declarersOf = async (holder: Holder, bindings: readonly HeldBinding[]): Promise<string> => {
  const { word, words } = kindOf(holder);
  const which = bindings.length === 1 ? `this ${word}` : `these ${words}`;
  const folder = projectFolder(process.cwd(), existsSync);
  if (folder === undefined)
    return `if a program or another policy declares ${which}, change it, or an update that refreshes grants the access again`;
  const { name, found } = await declarationsOf(folder, holder, bindings);
  if (found === undefined)
    return `if the program in ${folder} declares ${which}, change it, or an update that refreshes grants the access again`;
  if (found.length === 0) return `stack ${name} of ${folder} does not declare ${which}; another program may`;
  return `an update of stack ${name} that refreshes grants the access again: take ${found.join(", ")} out of the program in ${folder}`;
};

const declarationsOf = async (
  folder: string,
  holder: Holder,
  bindings: readonly HeldBinding[],
): Promise<{ name?: string; found?: string[] }> => {
  const engine = engineWith(engineCommand());
  const options = { cwd: folder, env: process.env };
  try {
    const name = (await engine.must(["stack", "--show-name"], options)).trim();
    const text = await engine.must(["stack", "export", ...stackFlag(name)], options);
    return { name, found: declarationsIn(text, holder, bindings) };
  } catch {
    // No engine, no selected stack, or a backend that needs a sign-in: the access is gone all the same.
    return {};
  }
};
