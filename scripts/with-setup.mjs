// Runs a command of this project on a machine that may have nothing installed. Installs packages and Node 24 by `npm ci`, and
// with --engine a Pulumi engine. Without --engine, the command finds one that is in the cache after those on the PATH. Its own output goes
// to stderr.
//
//   node scripts/with-setup.mjs [--engine] [--in-callers-folder] COMMAND [ARGS...]
//
// COMMAND is a program on the PATH, or a .ts or .mjs file of this clone.
import { delimiter, resolve } from "node:path";
import { exitLike, run } from "./base/child.mjs";
import { binFolder, findOnPath, log, root } from "./base/project.mjs";
import { findCachedEngine } from "./engine/cache.mjs";
import { editionIn, ensureEngine } from "./engine/engine.mjs";
import { ensureDependencies, projectNode } from "./setup/dependencies.mjs";

async function main() {
  const { options, command, args } = parse(process.argv.slice(2));
  if (Number(process.versions.node.split(".")[0]) < 20) {
    throw new Error(`Node ${process.versions.node} is too old to set this project up. Install Node 20 or later.`);
  }

  await ensureDependencies();
  await import("./setup/own-package.mjs");
  const edition = await editionFor(args);
  const env = environment(
    options.has("--engine")
      ? [binFolder, await ensureEngine(edition), process.env.PATH]
      : [binFolder, process.env.PATH, (await findCachedEngine(process.env, edition)).folder],
  );
  const [program, ...rest] = await resolveCommand(command, args, env.PATH);
  const cwd = options.has("--in-callers-folder") ? callersFolder() : process.cwd();
  exitLike(await run(program, rest, { cwd, env, stdio: "inherit" }));
}

function parse(/** @type {string[]} */ words) {
  const known = ["--engine", "--in-callers-folder"];
  const first = words.findIndex((word) => !known.includes(word));
  const command = words[first];
  if (command === undefined || command.startsWith("-")) {
    throw new Error("usage: node scripts/with-setup.mjs [--engine] [--in-callers-folder] COMMAND [ARGS...]");
  }
  return { options: new Set(words.slice(0, first)), command, args: words.slice(first + 1) };
}

function environment(/** @type {(string | undefined)[]} */ folders) {
  return {
    // The engine is pinned: a notice about a newer version is noise.
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...process.env,
    PATH: folders.filter((one) => one !== undefined).join(delimiter),
  };
}

/**
 * Programs are started by their full path: a shell that found `node` before `npm ci` remembers the old one.
 * @param {string} command
 * @param {string[]} args
 * @param {string} path
 * @returns {Promise<[string, ...string[]]>}
 */
async function resolveCommand(command, args, path) {
  if (/\.(ts|mjs)$/.test(command)) return [await projectNode(), resolve(root, command), ...args];
  if (command === "node") return [await projectNode(), ...args];
  const program = await findOnPath(command, path);
  if (program === undefined) throw new Error(`${command} is neither in ${binFolder} nor on the PATH`);
  return [program, ...args];
}

/** The engine that has the language of the program: in the folder of `pulumi --cwd`, or the caller's, or one above. */
function editionFor(/** @type {string[]} */ args) {
  const at = args.findIndex((word) => /^(-C|--cwd)$/.test(word));
  const named = at < 0 ? args.find((word) => word.startsWith("--cwd="))?.slice("--cwd=".length) : args[at + 1];
  return editionIn(resolve(callersFolder(), named ?? "."));
}

/** `npm run` changes to the clone; relative paths are meant from where the user is, which npm keeps in INIT_CWD. */
function callersFolder() {
  const folder = process.env.INIT_CWD;
  return folder !== undefined && resolve(process.cwd()) === resolve(root) ? folder : process.cwd();
}

try {
  await main();
} catch (error) {
  log(/** @type {Error} */ (error).message);
  process.exit(1);
}
