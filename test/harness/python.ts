// A virtual environment for one Python program, made without network: it has the packages of a shared one, and its own.
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";

// The shared packages are on its path, so that pip is there too, and installs into this one.
const CREATE = `
import os, sys, sysconfig, venv
target = sys.argv[1]
venv.create(target, symlinks=True, with_pip=False)
packages = sysconfig.get_path("purelib")
own = os.path.join(target, os.path.relpath(packages, sys.prefix))
with open(os.path.join(own, "shared.pth"), "w") as file:
    file.write(packages)
`;

/** Makes `venv` in the folder of a program, and returns what activates it. `packages` are arguments of `pip install`. */
export const createPythonEnvironment = (program: string, shared: string, packages: readonly string[]) => {
  const environment = join(program, "venv");
  execFileSync(join(shared, "bin", "python"), ["-c", CREATE, environment]);
  const bin = join(environment, "bin");
  const pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", ...packages];
  execFileSync(join(bin, "python"), pip, { cwd: program, stdio: ["ignore", "ignore", "inherit"] });
  return { VIRTUAL_ENV: environment, PATH: [bin, process.env.PATH].join(delimiter) };
};
