// A virtual environment for one Python program, made without network: it has the packages of the shared one, and its own.
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";

// The shared packages are on its path, so that pip is there too and installs into this one.
const CREATE = `
import os, sys, sysconfig, venv
target = sys.argv[1]
venv.create(target, symlinks=True, with_pip=False)
packages = sysconfig.get_path("purelib")
own = os.path.join(target, os.path.relpath(packages, sys.prefix))
with open(os.path.join(own, "shared.pth"), "w") as file:
    file.write(packages)
`;

/**
 * The environment in which `python` is that one. `shared` is the folder of an environment; `wheels` are files.
 */
export const createPythonEnvironment = (
  folder: string,
  shared: string,
  wheels: readonly string[] = [],
): Record<string, string> => {
  execFileSync(join(shared, "bin", "python"), ["-c", CREATE, folder]);
  const bin = join(folder, "bin");
  const pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", ...wheels];
  if (wheels.length > 0) execFileSync(join(bin, "python"), pip, { stdio: ["ignore", "ignore", "inherit"] });
  return { VIRTUAL_ENV: folder, PATH: [bin, process.env.PATH].join(delimiter) };
};
