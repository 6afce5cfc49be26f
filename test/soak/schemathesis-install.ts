// Schemathesis in a virtual environment below the user's cache folder: one for each pinned version, created once.
import { access, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../scripts/cache-folder.mjs";
import { capture } from "../../scripts/child.mjs";
import { withLock } from "../../scripts/lock.mjs";

const VERSION = "4.32.5";
// What that version needs.
const PYTHON = [3, 10];

export type Installation = { command: string; reason?: undefined } | { command?: undefined; reason: string };

/** The path of the command, or the reason why it is missing. */
export const installSchemathesis = async (env = process.env): Promise<Installation> => {
  const folder = join(cacheFolder(env), `schemathesis-${VERSION}`);
  const command = join(folder, "bin", "schemathesis");
  const exists = () =>
    access(command).then(
      () => true,
      () => false,
    );
  if (await exists()) return { command };

  const program = "import sys, venv; print(*sys.version_info[:2])";
  const python = await capture("python3", ["-c", program], { env }).catch(() => undefined);
  const [major = 0, minor = 0] = (python?.output ?? "").trim().split(" ").map(Number);
  if (python?.code !== 0 || major !== PYTHON[0] || minor < (PYTHON[1] as number))
    return { reason: `there is no Python ${PYTHON.join(".")} or later with venv` };

  return withLock(
    `${folder}.lock`,
    async () => {
      if (await exists()) return { command };
      await mkdir(cacheFolder(env), { recursive: true });
      await rm(folder, { recursive: true, force: true });
      const made = await capture("python3", ["-m", "venv", folder], { env });
      const pip = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15", `schemathesis==${VERSION}`];
      const installed = made.code === 0 ? await capture(join(folder, "bin", "python"), pip, { env }) : made;
      if (installed.code === 0 && (await exists())) return { command };
      await rm(folder, { recursive: true, force: true });
      const [line = ""] = installed.output.trim().split("\n").slice(-1);
      return { reason: `Schemathesis ${VERSION} could not be installed: ${line}` };
    },
    () => {},
  );
};
