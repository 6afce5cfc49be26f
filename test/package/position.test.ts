// Where the state says that a program declares each resource: the program's own file and line.
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { createStack, type StateResource } from "../harness/engine-stack.ts";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { installPackage, templateOptions, writeProject } from "../support/package.ts";

const [project, place] = await Promise.all([installPackage(), createWorkplace()]);
afterAll(() => place.close());

// The types above a line are not in the compiled program, so its lines differ.
const index = (module: string) => `import { AccessPolicy, Group } from "${module}";
import { Team } from "./team/team";

interface Names {
  first: string;
}

const { ORG: parent = "" } = process.env;
const names: Names = { first: "first" };
const first = new Group(names.first, { parent, name: "first" });
new Team("second", first);
Group.get("got", parent);
new AccessPolicy("policy", { policy: { organization: { uid: parent }, groups: { platform: null } } });
`;

const team = (module: string) => `import { ComponentResource } from "@pulumi/pulumi";
import { Group, Identity, RoleBinding, RoleBindingSet } from "${module}";

export interface Members {
  identity: Identity;
}

export class Team extends ComponentResource {
  readonly members: Members;

  constructor(name: string, above: Group) {
    super("acme:index:Team", name);
    const parent = new Group(name, { parent: above, name }, { parent: this });
    const claimMatch = { issuer: "https://issuer.example.com", subject: name };
    const identity = new Identity("ci", { parent, name: "ci", claimMatch }, { parent: this });
    this.members = { identity };
    new RoleBinding("views", { parent: above, identity, role: "viewer" }, { parent: this });
    new RoleBindingSet("set", { parent, bindings: [{ identity, role: "editor" }] }, { parent: this });
  }
}
`;

const lineOf = (text: string, part: string): number => text.split("\n").findIndex((line) => line.includes(part)) + 1;

const asModule = (text: string): string =>
  ts.transpileModule(text.replace(`"./team/team"`, `"./team/team.js"`), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText;

const TEMPLATE = {
  name: "compiled as it is loaded",
  files: {
    "package.json": { name: "position", main: "index.ts" },
    "tsconfig.json": { compilerOptions: templateOptions, files: ["index.ts"] },
  },
  ending: "ts",
  compile: (text: string) => text,
};
const MODULES = {
  name: "as ES modules",
  files: { "package.json": { name: "position", type: "module", main: "index.js" } },
  ending: "js",
  compile: asModule,
};

interface Positioned extends StateResource {
  sourcePosition?: string;
  stackTrace?: unknown;
}

// Each layout and each form once: a layout decides which lines the SDK sees, and a form how they reach the state.
test.each([
  [TEMPLATE, "pulumi-irm"],
  [MODULES, "pulumi-irm/plugin"],
] as const)(
  "a program $name has its own lines in the state, and no path",
  async ({ files, ending, compile }, module) => {
    const texts = {
      [`index.${ending}`]: compile(index(module)),
      [`team/team.${ending}`]: compile(team(module)),
    };
    const name = `position-${ending}-${module.replace("/", "-")}`;
    const plugin = `plugins:\n  providers:\n    - name: irm\n      path: ${join(project.path, "plugin")}\n`;
    const program = writeProject(join(project.folder, name), {
      "Pulumi.yaml": `name: ${name}\nruntime: nodejs\n${plugin}`,
      ...files,
      ...texts,
    });
    const env = { ...place.env, ORG: place.server.organization };
    const stack = await createStack({ folder: join(project.folder, `${name}-stack`), program, env });
    await stack.must("up", "--yes", "--skip-preview");

    const ours = (stack.state().resources as Positioned[]).filter(({ type }) => /\birm:(index:)?[A-Z]/.test(type));
    const at = (file: string, part: string) => {
      const own = `${file}.${ending}`;
      return expect.stringMatching(`^project:///${own}#${lineOf(texts[own] as string, part)},\\d+$`);
    };
    expect(
      Object.fromEntries(ours.map(({ urn, sourcePosition }) => [urn.replace(/^.*::/, ""), sourcePosition])),
    ).toEqual({
      first: at("index", "= new Group("),
      got: at("index", "Group.get("),
      policy: at("index", "new AccessPolicy("),
      "policy/platform": at("index", "new AccessPolicy("),
      second: at("team/team", "new Group("),
      ci: at("team/team", "new Identity("),
      views: at("team/team", "new RoleBinding("),
      set: at("team/team", "new RoleBindingSet("),
    });
    for (const { urn, stackTrace } of ours) expect(stackTrace, urn).toBeUndefined();
    // The SDK sends whole stacks of what others declare.
    for (const path of ["node_modules", project.folder]) expect(JSON.stringify(ours)).not.toContain(path);
    for (const path of ["node_modules/pulumi-irm", project.path]) expect(stack.state().text).not.toContain(path);
    // The other program declares the same names.
    await stack.must("destroy", "--yes", "--skip-preview");
  },
);
