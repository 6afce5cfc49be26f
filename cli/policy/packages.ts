// The packages of the base's program: those of the work tree, if the edits of the change cannot have decided them. Otherwise they are those of
// the base's lock file, installed without their scripts.
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { BaseError } from "../../access/base/git.ts";
import { type BaseRevision, filesAt } from "../../access/base/revision.ts";
import { isWithin, projectMember } from "../../pulumi/project.ts";
import { isObject, type Json } from "../../schema/index.ts";

interface Parts {
  /** top level of the project that runs */
  root: string;
  /** folder of Pulumi.yaml, from there */
  program: string;
  /** paths that the change edits */
  others: readonly string[];
  at: BaseRevision;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Errors: BaseError, and the reason of `signal`. */
export const addPackages = async (parts: Parts): Promise<void> => {
  const { root, program, at } = parts;
  const runtime = projectMember(join(root, program), "runtime");
  const { name, options } = isObject(runtime) ? runtime : { name: runtime, options: undefined };
  if (name === "python") refuseVirtualEnvironment(join(root, program), options, at);
  if (name !== "nodejs" && name !== "bun") return;
  const folders = foldersFrom(program).filter((folder) => filesAt(at).exists(posix.join(folder, "package.json")));
  const missing = folders.filter((folder) => !existsSync(join(root, folder, MODULES)));
  if (missing.length === 0) return;
  if (canLink(folders, parts)) {
    for (const folder of missing)
      if (isFolder(join(at.repository.root, folder, MODULES)))
        symlinkSync(join(at.repository.root, folder, MODULES), join(root, folder, MODULES));
    return;
  }
  const locked = folders.find((folder) => LOCKS.some((lock) => existsSync(join(root, folder, lock))));
  if (locked === undefined)
    throw new BaseError(
      `the packages of the program at ${at.ref} cannot be installed: it has no package-lock.json. The packages of the work tree do not count, since the change may decide them`,
    );
  await install(join(root, locked), parts);
};

const MODULES = "node_modules";
/** Of npm, which installs by them. */
const LOCKS = ["npm-shrinkwrap.json", "package-lock.json"];

/** The folder, and those above it up to the top level. */
const foldersFrom = (folder: string): string[] =>
  folder === "" || folder === "." ? [""] : [folder, ...foldersFrom(posix.dirname(folder))];

/** Whether a file of this path decides the packages that a package manager installs. */
export const decidesPackages = (path: string): boolean => DECIDES.test(path);

const DECIDES =
  /(?:^|\/)(?:package\.json|npm-shrinkwrap\.json|package-lock\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|bun\.lockb?|bunfig\.toml|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.[cm]?js|\.pnp\.[cm]?js)$|(?:^|\/)(?:node_modules|\.yarn)(?:\/|$)|\.(?:tgz|tar\.gz|patch|diff)$/i;

/** Scripts of a package in the work tree run while it is installed, and may run any file of the change. */
const SCRIPTS = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

const canLink = (folders: readonly string[], { root, others, at }: Parts): boolean => {
  const own = at.repository.root;
  if (others.some(decidesPackages) || !folders.some((folder) => isFolder(join(own, folder, MODULES)))) return false;
  return folders.every((folder) => {
    const { scripts, workspaces } = manifestAt(join(root, folder));
    const modules = join(own, folder, MODULES);
    if ((isObject(scripts) && SCRIPTS.some((name) => name in scripts)) || workspaces !== undefined) return false;
    return !packagesIn(modules).some((one) => leadsInto(own, modules, one));
  });
};

const manifestAt = (folder: string): Json => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(manifest) ? manifest : {};
  } catch (error) {
    throw new BaseError(`package.json of the base cannot be read: ${(error as Error).message}`);
  }
};

/** With those that have a scope. */
const packagesIn = (modules: string) =>
  !isFolder(modules)
    ? []
    : readdirSync(modules).flatMap((name) =>
        name.startsWith("@") && isFolder(join(modules, name))
          ? readdirSync(join(modules, name)).map((one) => join(modules, name, one))
          : [join(modules, name)],
      );

/** A package may be a link to a folder of the work tree, which has the code of the change. */
const leadsInto = (own: string, modules: string, file: string): boolean => {
  if (!lstatSync(file).isSymbolicLink()) return false;
  try {
    const real = realpathSync(file);
    return isWithin(own, real) && !isWithin(modules, real);
  } catch {
    // it leads nowhere
    return false;
  }
};

/** A link is none: the change may have added it. */
const isFolder = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;

const install = async (cwd: string, { env, signal, at }: Parts): Promise<void> => {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const npm = spawn("npm", args, {
    ...{ cwd, env, signal },
    // Its messages are for the user; the output of the command is the review.
    stdio: ["ignore", process.stderr, "inherit"],
  });
  // Where it cannot begin, or is aborted, its end comes after the error.
  let problem: string | undefined;
  npm.on("error", ({ message }) => {
    problem = message;
  });
  const [code, by] = await new Promise<unknown[]>((done) => npm.on("close", (...end) => done(end)));
  signal.throwIfAborted();
  const end = problem ?? code ?? by;
  if (end !== 0)
    throw new BaseError(`npm ci with the lock file of ${at.ref} ended with ${end}; its messages are above`);
};

const refuseVirtualEnvironment = (folder: string, options: unknown, { ref }: BaseRevision) => {
  const named = isObject(options) ? options.virtualenv : undefined;
  if (typeof named !== "string" || existsSync(join(folder, named))) return;
  throw new BaseError(
    `the program at ${ref} takes its packages from ${named}, which is not in that commit, and the change may decide those of the work tree. Leave virtualenv out of Pulumi.yaml, and install the packages for the Python on the PATH`,
  );
};
