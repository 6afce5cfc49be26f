// Packages of the Python package index in a virtual environment below the user's cache folder: one for each name, created once.
import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../scripts/base/cache-folder.mjs";
import { capture } from "../../scripts/base/child.mjs";
import { withLock } from "../../scripts/base/lock.mjs";
import { log } from "../../scripts/base/project.mjs";

/** What the packages need. */
const PYTHON = [3, 10] as const;

/** The folder of the environment, or the reason why it is missing. */
export type PythonEnvironment = { folder: string; reason?: undefined } | { folder?: undefined; reason: string };

/** `title` is what a person calls it; `packages` pin their versions, which `name` contains. */
export const installPythonPackages = async (
  { name, title, packages }: { name: string; title: string; packages: readonly string[] },
  env = process.env,
): Promise<PythonEnvironment> => {
  const folder = join(cacheFolder(env), name);
  // Written last: an installation that was killed begins again.
  const complete = join(folder, "complete");
  const exists = () =>
    access(complete).then(
      () => true,
      () => false,
    );
  if (await exists()) return { folder };

  const program = "import sys, venv; print(*sys.version_info[:2])";
  const python = await capture("python3", ["-c", program], { env }).catch(() => undefined);
  const [major = 0, minor = 0] = (python?.output ?? "").trim().split(" ").map(Number);
  if (python?.code !== 0 || major !== PYTHON[0] || minor < PYTHON[1])
    return { reason: `there is no Python ${PYTHON.join(".")} or later with venv` };

  return withLock(
    join(cacheFolder(env), "lock", name),
    async () => {
      if (await exists()) return { folder };
      log(`installing ${title} from the Python package index, once per version: about half a minute`);
      await rm(folder, { recursive: true, force: true });
      await mkdir(cacheFolder(env), { recursive: true });
      const made = await capture("python3", ["-m", "venv", folder], { env });
      const pip = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15", ...packages];
      const installed = made.code === 0 ? await capture(join(folder, "bin", "python"), pip, { env }) : made;
      if (installed.code === 0) {
        await writeFile(complete, "");
        return { folder };
      }
      await rm(folder, { recursive: true, force: true });
      const [line = ""] = installed.output.trim().split("\n").slice(-1);
      return { reason: `${title} could not be installed: ${line}` };
    },
    (holder) => log(`waiting for another process that is installing ${title} (${holder})`),
  );
};
