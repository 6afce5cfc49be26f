// Node, the engine and the plugin of this machine. Nothing is installed: a check that changes the machine would hide what was missing.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "../../schema/index.ts";
import { type AskEngine, engineCommand } from "../engine-command.ts";
import { packageVersion } from "../package-version.ts";
import { bad, type Check, good } from "./check.ts";
import type { Project } from "./project.ts";

export const checkNode = (version = process.versions.node): Check => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19)
    ? good("node", version)
    : bad("node", `${version} is too old`, "install Node 22.19 or later");
};

export const checkEngine = async (run: AskEngine): Promise<Check> => {
  const answer = await run("version");
  if ("stdout" in answer) return good("engine", `pulumi ${answer.stdout.trim()}`);
  // A clone gets its own engine with the first command that needs one.
  if (answer.isMissing && engineCommand()[0] !== "pulumi")
    return good(
      "engine",
      "this clone has none installed yet; the first command that needs one, or `npm run -s pulumi`, installs it",
    );
  return answer.isMissing
    ? bad(
        "engine",
        "there is no pulumi on the PATH",
        "install it: https://www.pulumi.com/docs/iac/download-install/; npx pulumi-irm needs it only to read a preview or a stack",
      )
    : bad("engine", `pulumi version failed: ${answer.problem}`, "install the engine again");
};

const EXECUTABLE = "pulumi-resource-irm";

export const checkPlugin = async (run: AskEngine, project: Project | undefined): Promise<Check> => {
  if (project?.pluginPath !== undefined) {
    const folder = resolve(project.folder, project.pluginPath);
    return existsSync(join(folder, EXECUTABLE))
      ? good("plugin", `${folder}, as Pulumi.yaml names it`)
      : bad(
          "plugin",
          `Pulumi.yaml names ${folder}, which has no ${EXECUTABLE}`,
          "run npm ci in the folder of the program",
        );
  }
  const version = packageVersion();
  const install = `pulumi plugin install resource irm v${version} --file pulumi-resource-irm-v${version}.tar.gz (docs/plugin.md)`;
  const installed = pluginVersions(await run("plugin", "ls", "--json"));
  if (installed.includes(version)) return good("plugin", `version ${version} is installed`);
  const found =
    installed.length === 0 ? "not installed" : `version ${installed.join(", ")} is installed, not ${version}`;
  return ["python", "yaml"].includes(project?.runtime ?? "")
    ? bad("plugin", `${found}, and a program in ${project?.runtime} needs it`, install)
    : good("plugin", `${found}; programs with dynamic resources need none`);
};

const pluginVersions = (answer: Awaited<ReturnType<AskEngine>>): string[] => {
  if (!("stdout" in answer)) return [];
  try {
    const listed: unknown = JSON.parse(answer.stdout);
    return (Array.isArray(listed) ? listed : []).flatMap((one) =>
      isObject(one) && one.name === "irm" && one.kind === "resource" ? [String(one.version).replace(/^v/, "")] : [],
    );
  } catch {
    // Another version of the engine prints something else.
    return [];
  }
};
