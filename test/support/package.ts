// The published package as a user gets it: built, packed, and installed with npm beside the packages of
// `pulumi new typescript`. The first test that needs it builds it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { withLock } from "../../scripts/base/lock.mjs";
import { root } from "../../scripts/base/project.mjs";

export interface Installed {
  /** the package as a file */
  tarball: string;
  /** the project: folders below it find what is in its node_modules */
  folder: string;
  /** the package in its node_modules */
  path: string;
}

/** `@types/node` and `typescript` as the template has them. */
const TEMPLATE = ["@types/node@^18", "typescript@^5.0.0"];

/** The oldest and the newest of the later majors of `@types/node`. A project has one of them, so they are installed beside it under other names. */
export const NODE_TYPES = [20, 26] as const;
const typesName = (major: number): string => `types-node-${major}`;
const laterTypes = NODE_TYPES.map((major) => `${typesName(major)}@npm:@types/node@^${major}`);

export interface Release {
  artifacts: { name: string; bytes: number; sha256: string }[];
}

/** All that a release publishes, and its list as JSON. */
export const buildRelease = (): Promise<string> =>
  once("release", () => runIn(root, process.execPath, join(root, "scripts", "release.ts"), "--dry-run", "--json"));

/** The template with the package; or a project of plain JavaScript with it and with this version of the SDK. */
export const installPackage = async (sdk?: string): Promise<Installed> => {
  const { artifacts } = JSON.parse(await buildRelease()) as Release;
  const tarball = join(root, "release", artifacts.find(({ name }) => name.endsWith(".tgz"))?.name as string);
  const folder = await once(`project-${sdk ?? "newest"}`, (own) => {
    writeFileSync(join(own, "package.json"), JSON.stringify({ name: "project", private: true }));
    const packages = [tarball, ...(sdk === undefined ? [...TEMPLATE, ...laterTypes] : [`@pulumi/pulumi@${sdk}`])];
    runIn(own, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages);
    return own;
  });
  return { tarball, folder, path: join(folder, "node_modules", "pulumi-irm") };
};

/** Creates something in a separate folder, once in the run of the tests, in whichever process is first. */
export const once = async (name: string, make: (folder: string) => string): Promise<string> => {
  const folder = join(inject("packageFolder"), name);
  const done = `${folder}.done`;
  await withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(done)) return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(done, make(folder));
    },
    () => {},
  );
  return readFileSync(done, "utf8");
};

/** Without what the npm that runs these tests has put into the environment. */
export const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/.test(name)));

export const runIn = (cwd: string, command: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: environment(), encoding: "utf8" });
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: exit code ${status}\n${stdout}${stderr}`);
  return stdout;
};

/** `compiler` is the package of one of the clone's own. */
export const compile = (folder: string, compiler: "typescript" | "typescript-7"): string =>
  runIn(folder, process.execPath, join(root, "node_modules", compiler, "bin", "tsc"), "--project", folder);

/** tsconfig.json of `pulumi new typescript`. */
export const templateOptions = {
  strict: true,
  outDir: "bin",
  target: "es2020",
  module: "commonjs",
  moduleResolution: "node",
  sourceMap: true,
  experimentalDecorators: true,
  pretty: true,
  noFallthroughCasesInSwitch: true,
  noImplicitReturns: true,
  forceConsistentCasingInFileNames: true,
};

/** `node_modules` with the packages of a project as links, and another major of `@types/node`. Compile with `preserveSymlinks`. */
export const linkPackages = ({ folder }: Installed, own: string, major: number): void => {
  const from = join(folder, "node_modules");
  const to = join(own, "node_modules");
  mkdirSync(join(to, "@types"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@types" && !name.startsWith(".")) symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, "@types")))
    symlinkSync(join(from, ...(name === "node" ? [typesName(major)] : ["@types", name])), join(to, "@types", name));
};

/** A project below another, which it takes its packages from. */
export const writeProject = (folder: string, files: Readonly<Record<string, string | object>>): string => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  }
  return folder;
};
