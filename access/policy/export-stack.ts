// The state of the stack in a folder, by the engine's own command. It runs no program.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { projectFolder } from "../../client/folder.ts";
import { UserError } from "../../schema/index.ts";

const hasProject = (folder: string): boolean => projectFolder(folder, existsSync) === folder;

/**
 * Runs `pulumi stack export` in the first of these folders that has a Pulumi project, for the named or the selected stack.
 * Undefined without a project; has no text when no stack is selected. `command` is the engine and its first arguments.
 */
export const exportStack = async (
  command: readonly [string, ...string[]],
  folders: readonly string[],
  name?: string,
): Promise<{ text?: string; name?: string } | undefined> => {
  const folder = folders.find(hasProject);
  if (folder === undefined) {
    if (name === undefined) return undefined;
    throw new UserError(`--stack ${name}: there is no Pulumi.yaml beside the policy, and none in this folder`);
  }
  const run = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const [program, ...first] = command;
      const options = { cwd: folder, maxBuffer: BYTES_MAX, encoding: "utf8" as const };
      execFile(program, [...first, ...args, "--non-interactive"], options, (error, stdout, stderr) =>
        error
          ? reject(new UserError(`pulumi ${args.join(" ")} failed: ${stderr.trim() || error.message}`))
          : resolve(stdout),
      );
    });
  if (name !== undefined) return { text: await run("stack", "export", "--stack", name), name };
  // No stack is selected, the user is not signed in, or there is no engine: the policy is compared by names.
  const selected = await run("stack", "--show-name").catch(() => "");
  if (selected.trim() === "") return {};
  return { text: await run("stack", "export"), name: selected.trim() };
};

const BYTES_MAX = 1024 ** 3;
