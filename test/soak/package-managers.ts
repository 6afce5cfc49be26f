// A user's project in TypeScript with the built package, installed by other package managers than npm, with a real engine and in both forms.
import { chmodSync, existsSync, rmSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { cacheFolder, fillFolder } from "../../scripts/base/cache-folder.mjs";
import { withLock } from "../../scripts/base/lock.mjs";
import { root } from "../../scripts/base/project.mjs";
import { ensureEngine } from "../../scripts/engine/engine.mjs";
import { createStack } from "../harness/engine-stack.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { runIn, templateOptions, writeProject } from "../support/package.ts";
import type { PartOptions, PartResult } from "./part.ts";

/** Of npm. A change here is a new cache folder. */
const TOOLS = { pnpm: "12.21.0", bun: "1.4.5", yarn: "1.22.22", "@yarnpkg/cli-dist": "4.18.1" };

const YARN_4 = ["node", "@yarnpkg/cli-dist/bin/yarn.js", "install"];
const yarnSettings = (linker: string): Record<string, string> => ({
  ".yarnrc.yml": `nodeLinker: ${linker}\nenableImmutableInstalls: false\nenableTelemetry: false\n`,
  "yarn.lock": "",
});

const FORMS = ["pulumi-irm", "pulumi-irm/plugin"] as const;
type Form = (typeof FORMS)[number];

interface Way {
  title: string;
  /** as Pulumi.yaml names it */
  manager: "pnpm" | "bun" | "yarn";
  /** words that name a file of a tool begin with its package */
  install: string[];
  files?: Record<string, string>;
  /** Bun runs all that Node runs otherwise, as below `bun --bun`. */
  runtime?: "Bun";
  /** What the first `pulumi up` ends with; without it, everything passes. */
  fails?: Readonly<Record<Form, RegExp>>;
}

const WAYS: Way[] = [
  {
    title: "pnpm",
    manager: "pnpm",
    install: ["pnpm/pnpm", "install"],
    // Otherwise `pnpm install` ends with 1: a dependency of the SDK has a script.
    files: { "pnpm-workspace.yaml": "allowBuilds:\n  protobufjs: false\n" },
  },
  { title: "Bun as package manager", manager: "bun", install: ["bun/bin/bun.exe", "install"] },
  {
    title: "Bun as package manager and runtime",
    manager: "bun",
    install: ["bun/bin/bun.exe", "install"],
    runtime: "Bun",
  },
  { title: "Yarn 1", manager: "yarn", install: ["node", "yarn/bin/yarn.js", "install", "--no-lockfile"] },
  { title: "Yarn 4 with node-modules", manager: "yarn", install: YARN_4, files: yarnSettings("node-modules") },
  {
    title: "Yarn 4 with Plug'n'Play",
    manager: "yarn",
    install: YARN_4,
    files: yarnSettings("pnp"),
    fails: {
      "pulumi-irm": /It looks like the Pulumi SDK has not been installed/,
      "pulumi-irm/plugin": /no folder at path '.*\/node_modules\/pulumi-irm\/plugin'/,
    },
  },
];

export const packageManagers = async ({ log }: Pick<PartOptions, "log">): Promise<PartResult> => {
  const [tools, engine] = [await installTools(), (await ensureEngine()) ?? ""];
  runIn(root, process.execPath, join(root, "scripts", "build.ts"));
  const place = await createWorkplace();
  const figures = { "passed as they should": 0, "failed as they should": 0 };
  const failures: string[] = [];
  try {
    const [{ filename }] = JSON.parse(
      runIn(root, "npm", "pack", "./dist", "--json", "--pack-destination", place.folder),
    );
    for (const [at, way] of WAYS.entries()) {
      const program = join(place.folder, `way-${at}`);
      install({ ...way, program, tools, tarball: join(place.folder, filename) });
      const PATH = pathOf(way, program, tools, engine);
      for (const form of FORMS) {
        const problem = await proveOne({ way, form, place, program, PATH }).catch(String);
        if (problem !== undefined) failures.push(`${way.title}, ${form}: ${problem}`);
        else figures[way.fails ? "failed as they should" : "passed as they should"] += 1;
        log?.(`${way.title}, ${form}: ${problem ?? (way.fails ? "fails" : "passes")}`);
      }
    }
  } finally {
    await place.close();
  }
  return { figures, failures };
};

/** The folder with their packages. */
const installTools = async (): Promise<string> => {
  const packages = Object.entries(TOOLS).map(([name, version]) => `${name}@${version}`);
  const name = `package-managers-${Object.values(TOOLS).join("-")}`;
  const folder = join(cacheFolder(), name);
  await withLock(
    join(cacheFolder(), "lock", name),
    async () => {
      if (existsSync(folder)) return;
      await fillFolder(folder, async (staging) => {
        writeProject(staging, { "package.json": { private: true } });
        runIn(staging, "npm", "install", "--no-audit", "--no-fund", ...packages);
      });
    },
    () => {},
  );
  return join(folder, "node_modules");
};

const install = ({
  install: words,
  files,
  program,
  tools,
  tarball,
}: Way & { program: string; tools: string; tarball: string }) => {
  writeProject(program, {
    "package.json": {
      ...{ name: "access", main: "index.ts", private: true },
      dependencies: { "@pulumi/pulumi": "^3.142.0", "pulumi-irm": `file:${tarball}` },
      devDependencies: { "@types/node": "^18", typescript: "^5.0.0" },
    },
    "tsconfig.json": { compilerOptions: templateOptions, files: ["index.ts"] },
    ...files,
  });
  const [command = "", ...args] = words.map((word) => (word.includes("/") ? join(tools, word) : word));
  runIn(program, command, ...args);
};

/** With a `pulumi` that is `bun --bun run pulumi`: all its processes find Bun as `node`. */
const pathOf = ({ runtime }: Way, program: string, tools: string, engine: string): string => {
  const PATH = [engine, process.env.PATH, join(tools, ".bin")].join(delimiter);
  if (runtime === undefined) return PATH;
  const first = writeProject(join(program, "first"), {
    pulumi: `#!/bin/sh\nPATH="${PATH}" exec "${join(tools, "bun", "bin", "bun.exe")}" --bun run pulumi "$@"\n`,
  });
  chmodSync(join(first, "pulumi"), 0o755);
  return [first, PATH].join(delimiter);
};

const settingsOf = ({ manager }: Way, form: Form): string => `name: access
runtime: { name: nodejs, options: { packagemanager: ${manager} } }
${form === "pulumi-irm" ? "" : "plugins: { providers: [{ name: irm, path: node_modules/pulumi-irm/plugin }] }"}
`;

const sourceOf = (form: Form, organization: string, word: string): string => `
import { Group, Identity, RoleBinding } from "${form}";
const team = new Group("team", { parent: "${organization}", name: "team", description: "${word}" });
const claimMatch = { issuer: "https://issuer.example.com", subject: "the ${word} job" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
new RoleBinding("ci-reads", { parent: team, identity: ci, role: "viewer" });
export const runtime = process.versions.bun ? "Bun" : "Node";
`;

interface Case {
  way: Way;
  form: Form;
  place: Workplace;
  program: string;
  PATH: string;
}

/** Returns the problem. */
const proveOne = async ({ way, form, place, program, PATH }: Case): Promise<string | undefined> => {
  const write = (word: string) =>
    writeProject(program, {
      "Pulumi.yaml": settingsOf(way, form),
      "index.ts": sourceOf(form, place.server.organization, word),
    });
  write("first");
  rmSync(join(program, "Pulumi.dev.yaml"), { force: true });
  // Not the module that other stacks of the tests load first: a user has none.
  const env = { ...place.env, PATH, NODE_OPTIONS: "" };
  const stack = await createStack({ folder: join(program, basename(form)), program, env });
  const quietly = ["--yes", "--skip-preview"];
  const created = await stack.run("up", ...quietly);
  if (way.fails) return created.code !== 0 && way.fails[form].test(created.output) ? undefined : created.output;
  const runtime = `runtime: "${way.runtime ?? "Node"}"`;
  if (created.code !== 0 || !created.output.includes(runtime)) return created.output;
  await stack.must("preview", "--expect-no-changes");
  await stack.must("refresh", ...quietly, "--expect-no-changes");
  write("second");
  await stack.must("up", ...quietly);
  const found = JSON.stringify([place.rows("groups", "name = 'team'"), place.rows("identities", "name = 'ci'")]);
  if (!/"second".*the second job/.test(found)) return `not updated: ${found}`;
  await stack.must("destroy", ...quietly);
  const left = place.rows("groups", "name = 'team'");
  return left.length > 0 ? `not destroyed: ${JSON.stringify(left)}` : undefined;
};
