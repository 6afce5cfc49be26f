// The published types with the checks of `pulumi new typescript`, and the types of Node 18, 20 and 26.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type DocumentProgram, documents, programsOf } from "../support/document.ts";
import { examplesOf } from "../support/example.ts";
import {
  compile,
  type Installed,
  installPackage,
  linkPackages,
  NODE_TYPES,
  templateOptions,
  writeProject,
} from "../support/package.ts";

let project: Installed;
let programs: DocumentProgram[];
beforeAll(async () => {
  project = await installPackage();
  programs = documents(project.path).flatMap((document) => programsOf(project.path, document));
});

/** Further imports of programs, and code that must not compile. */
const FURTHER = `
import { Group, type GroupArgs, type ListGroupsArgs, getGroup, listGroups } from "pulumi-irm";
import { kinds } from "pulumi-irm/dynamic";
import * as native from "pulumi-irm/plugin";
import { ApiError, type Group as GroupMessage, operations } from "pulumi-irm/schema";
import { createServer, parseSeed, type RunningServer, type ServerOptions } from "pulumi-irm/server";

const organization = "0123456789abcdef0123456789abcdef01234567";
const args: GroupArgs = { parent: organization, name: "a" };
const group: Group = new Group("a", args);
export const description: Promise<string | undefined> = getGroup({ name: "acme" }).then((found: GroupMessage) => found.description);
export const path: string = operations.CreateGroup.path;
export const filter: ListGroupsArgs = { uidp: { childrenOf: organization } };
export const listed = listGroups(filter);
export const isKnown = (error: unknown) => error instanceof ApiError && error.code === "NOT_FOUND";
const options: ServerOptions = { dev: true, seed: parseSeed("organization: { name: acme }", "seed.yaml") };
export const server: Promise<RunningServer> = createServer(options);
export const methods = [kinds.group.create, kinds.roleBinding.delete];
export const uid = group.uid;

const provider = new native.Provider("other", { baseUrl: "https://api.example.com", tokenEnv: "OTHER_TOKEN" });
const other: native.Group = new native.Group("other", args, { provider });
export const mixed = new Group("mixed", { parent: other, name: "mixed" });
export const otherRole: Promise<string> = native.getRole({ name: "viewer" }, { provider }).then(({ uid }) => uid);
export const otherGroups = native.listGroups(filter, { provider });
// @ts-expect-error a provider has no such argument
new native.Provider("wrong", { baseURL: "https://api.example.com" });

// @ts-expect-error a group has no such argument: without types this line would be accepted
new Group("b", { parent: organization, name: "b", colour: "red" });
// @ts-expect-error a group is in another, unless a root organization is asked for
new Group("c", { name: "c" });
// @ts-expect-error there is no such method
export const none = operations.PaintGroup;
`;

/** Every member of a server that docs/server.md names. */
const SERVER = `
import { createServer, type DevServer, type Faults, type RunningServer } from "pulumi-irm/server";

export const startFailingApi = async (): Promise<DevServer & { faults: Faults }> =>
  createServer({ dev: true, faults: { rules: [{ operation: "CreateGroup", steps: [{ status: 503 }] }] } });

export const use = async (server: DevServer & { faults: Faults }): Promise<readonly string[]> => {
  server.faults.set({ rules: [{ operation: "*", steps: [{ delay: "1s" }] }] });
  server.faults.attempts();
  server.faults.release();
  server.faults.clear();
  await server.rotateKeys();
  const narrowed = await server.token({ capabilities: ["groups.list"], scopes: [server.organization], lifetimeSeconds: 60 });
  const tokens = [narrowed, await server.token(), await server.tokenOf(server.identity)];
  tokens.push(await server.identityToken({ subject: "ci", claims: { environment: "production" } }));
  await server.reset();
  await server.close();
  return [...tokens, server.baseUrl, server.authUrl, server.localUrl, server.localAuthUrl, server.anyone, server.issuer];
};

/** One without \`dev\` has an organization only where its seed has one. */
export const organizationOf = (server: RunningServer): string | undefined => server.organization;
// @ts-expect-error and failures only where it was asked for them
export const clear = (server: RunningServer) => server.faults.clear();
export const both = async () => (await createServer({ faults: {} })).faults.clear();
`;

const projects = [
  ["the project of `pulumi new typescript`", "commonjs", "typescript", {}, templateOptions],
  [
    "an ES module with nodenext and TypeScript 7",
    "nodenext",
    "typescript-7",
    { type: "module" },
    { ...templateOptions, module: "nodenext", moduleResolution: "nodenext" },
  ],
] as const;

test.each(projects)(
  "the published types compile with every program of README, docs and the plugin's schema in %s",
  (_, name, compiler, manifest, options) => {
    expect(programs.map(({ place }) => place.split(":")[0])).toEqual(
      expect.arrayContaining([
        "README.md",
        "docs/ci.md",
        "docs/resources.md",
        "docs/resources/identity.md",
        "docs/server.md",
      ]),
    );
    const files = Object.fromEntries(programs.map(({ place, text }) => [`${place.replace(/\W/g, "-")}.ts`, text]));
    const schema = JSON.parse(readFileSync(join(project.path, "plugin", "generated", "schema.json"), "utf8"));
    for (const [type, { typescript }] of examplesOf(schema)) files[`example-${type}.ts`] = typescript;
    const sources = { ...files, "further.ts": FURTHER };
    const folder = writeProject(join(project.folder, `types-${name}`), {
      ...sources,
      "package.json": manifest,
      "tsconfig.json": { compilerOptions: { ...options, noEmit: true }, files: Object.keys(sources) },
    });
    expect(compile(folder, compiler)).toBe("");
  },
);

const later = NODE_TYPES.map((major) => ({ major, compiler: major === 26 ? "typescript" : "typescript-7" }) as const);
test.each([...later, { major: 26, compiler: "typescript-7" } as const])(
  "the published types compile with the types of Node $major and $compiler",
  ({ major, compiler }) => {
    const folder = writeProject(join(project.folder, `node-${major}-${compiler}`), {
      "further.ts": FURTHER,
      "package.json": { type: "module" },
      "tsconfig.json": {
        compilerOptions: {
          ...{ ...templateOptions, module: "nodenext", moduleResolution: "nodenext" },
          ...{ preserveSymlinks: true, types: ["node"], noEmit: true },
        },
        files: ["further.ts"],
      },
    });
    linkPackages(project, folder, major);
    expect(compile(folder, compiler)).toBe("");
  },
);

test.each([
  ["typescript", ["es2022"]],
  ["typescript-7", ["es2022"]],
  ["typescript-7", undefined],
] as const)(
  "the published types of the server compile with %s and the library %j, without types of Node",
  (compiler, lib) => {
    // Elsewhere, so that no folder above has types of Node.
    const folder = writeProject(mkdtempSync(join(tmpdir(), "irm-types-")), {
      "server.ts": SERVER,
      "package.json": { type: "module" },
      "tsconfig.json": {
        compilerOptions: {
          ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
          ...{ target: "es2022", module: "nodenext", moduleResolution: "nodenext", ...(lib && { lib }) },
        },
        files: ["server.ts"],
      },
    });
    try {
      cpSync(project.path, join(folder, "node_modules", "pulumi-irm"), { recursive: true });
      expect(compile(folder, compiler)).toBe("");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

// The SDK's own TypeScript compiles a program whose project has none: it skips a .d.ts that it cannot parse.
test("the published types are syntax of TypeScript 3.8", () => {
  const sdkTypeScript = createRequire(import.meta.url)("@pulumi/pulumi/vendor/typescript@3.8.3/typescript.js");
  const errors = ["index.d.ts", "dynamic.d.ts", "plugin.d.ts"].flatMap((name) => {
    const file = join(project.path, name);
    const text = readFileSync(file, "utf8");
    return sdkTypeScript.createSourceFile(file, text, sdkTypeScript.ScriptTarget.ES2019).parseDiagnostics;
  });
  expect(errors.map(({ messageText }) => messageText)).toEqual([]);
});
