// `npm ci`, only when the installed packages differ from package-lock.json.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { cacheFolder } from "../base/cache-folder.mjs";
import { run } from "../base/child.mjs";
import { withLock } from "../base/lock.mjs";
import { binFolder, isExecutable, log, root } from "../base/project.mjs";

/** Makes node_modules agree with package-lock.json. */
export async function ensureDependencies() {
  if (await areDependenciesCurrent(root)) return;

  // Not in node_modules: npm ci removes that folder first.
  const clone = createHash("sha256").update(root).digest("hex").slice(0, 16);
  await withLock(
    join(cacheFolder(), "lock", `npm-ci-${clone}`),
    async () => {
      if (!(await areDependenciesCurrent(root))) await install();
    },
    (holder) => log(`waiting for another npm ci in this clone to end (${holder})`),
  );
}

/** True when npm's own record of the installed packages, which it writes last, agrees with the lockfile. */
export async function areDependenciesCurrent(/** @type {string} */ folder) {
  const [wanted, installed] = await Promise.all([
    packagesIn(join(folder, "package-lock.json")),
    packagesIn(join(folder, "node_modules", ".package-lock.json")),
  ]);
  return Object.entries(wanted).every(([path, locked]) => {
    if (path === "") return true;
    const found = installed[path];
    // Optional packages for other platforms are in the lockfile and never installed.
    if (found === undefined) return locked.optional === true;
    return found.version === locked.version && found.integrity === locked.integrity;
  });
}

/**
 * The packages of a lockfile by their folders; none where there is no file.
 * @param {string} file
 * @returns {Promise<Record<string, { version?: string, integrity?: string, optional?: boolean }>>}
 */
async function packagesIn(file) {
  try {
    return JSON.parse(await readFile(file, "utf8")).packages;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return {};
    throw error;
  }
}

async function install() {
  log("installing the dependencies with npm ci (half a minute to two minutes, once per clone and lockfile)");
  const started = Date.now();
  // Uses the same npm as `npm run`, without its log level: with -s, npm ci would fail silently.
  const npm = process.env.npm_execpath;
  const isNpm = npm !== undefined && /^npm-cli\.c?js$/.test(basename(npm));
  const [command, ...first] = isNpm ? [process.execPath, npm] : ["npm"];
  const args = [...first, "ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];

  const { code, signal } = await run(command ?? "npm", args, { cwd: root, stdio: ["ignore", 2, 2] }).catch((error) => {
    throw new Error(`npm could not be started in ${root}: ${error.message}. Install Node 20 or later with npm.`);
  });
  if (code !== 0) {
    throw new Error(
      `npm ci in ${root} failed (${signal ?? `exit code ${code}`}); its reason is above. ` +
        "It needs the npm registry: check the network, the proxy and `npm config get registry`, and run this command again.",
    );
  }
  log(`dependencies installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** The Node that runs the project: the npm package `node`, or this Node if it is new enough. */
export async function projectNode() {
  const installed = join(binFolder, "node");
  if (await isExecutable(installed)) return installed;

  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  throw new Error(
    `${installed} is missing and Node ${process.versions.node} is too old to run TypeScript. The npm package "node" puts ` +
      "it there with an install script: allow it with `npm ci --ignore-scripts=false`, or use Node 22.18 or later.",
  );
}
