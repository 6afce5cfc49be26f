// Writes sdk/: the packages of the plugin for other languages, which the engine's own code generators make of the plugin's schema. Needs
// Go, and minutes with an empty Go cache, so `npm run generate` only compares the schema that they were made of.
//
//   node scripts/sdks.ts
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GO_MODULE, type Language, readmes } from "../plugin/schema/language.ts";
import { capture } from "./base/child.mjs";
import { root } from "./base/project.mjs";
import { engineVersion } from "./engine/version.mjs";
import { GO_SDK, PYTHON_SDK, SCHEMA_HASH, schemaFor, schemaHash } from "./generate/sdk-schema.ts";
import { buildGoProgram, runGo } from "./setup/go-build.mjs";

interface Sdk {
  language: Language;
  /** its folder in the clone */
  target: string;
  /** the generator: a file of scripts/generate/sdk */
  source: string;
  /** changes the files of the generator to the ones for the clone */
  finish(folder: string): void | Promise<void>;
}

/** The oldest SDK of Go that a program may have: of the same time as that of Python (plugin/schema/language.ts). */
const GO_SDK_VERSION = "v3.231.0";

const sdks: readonly Sdk[] = [
  { language: "python", target: PYTHON_SDK, source: "python.go", finish: finishPython },
  { language: "go", target: GO_SDK, source: "golang.go", finish: finishGo },
];

const text = readFileSync(join(root, "plugin", "generated", "schema.json"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "pulumi-irm-sdk-"));
try {
  // All or none.
  for (const sdk of sdks) await generate(sdk, join(folder, sdk.language));
  rmSync(join(root, "sdk"), { recursive: true, force: true });
  for (const { language, target } of sdks) cpSync(join(folder, language), join(root, target), { recursive: true });
  writeFileSync(join(root, SCHEMA_HASH), `${schemaHash(text)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function generate({ language, source, finish }: Sdk, to: string) {
  const [schema, program] = [`${to}.json`, `${to}-generator`];
  writeFileSync(schema, JSON.stringify(schemaFor(language, JSON.parse(text))));
  const sources = ["main.go", source].map((name) => join(root, "scripts", "generate", "sdk", name));
  await buildGoProgram(program, { module: "github.com/pulumi/pulumi/pkg/v3", version: `v${engineVersion}`, sources });
  mkdirSync(to);
  const { code, output } = await capture(program, [schema, to], {});
  if (code !== 0) throw new Error(`the code generator of ${language} refuses the schema:\n${output}`);
  await finish(to);
}

function finishPython(to: string) {
  const module = join(to, "pulumi_irm");
  for (const name of readdirSync(module).filter((one) => one.endsWith(".py"))) {
    const file = join(module, name);
    writeFileSync(file, withOrganization(readFileSync(file, "utf8")));
  }
  // pyproject.toml looks for it beside itself.
  cpSync(join(module, "README.md"), join(to, "README.md"));
  rmSync(join(module, "README.md"));
}

async function finishGo(to: string) {
  rmSync(join(to, ".gitattributes"));
  writeFileSync(join(to, "README.md"), readmes.go);
  const requirement = `require github.com/pulumi/pulumi/sdk/v3 ${GO_SDK_VERSION}`;
  writeFileSync(join(to, "go.mod"), `module ${GO_MODULE}\n\ngo 1.21\n\n${requirement}\n`);
  await runGo(to, ["mod", "tidy"]);
}

/** The plugin's journal names the stack's organization, which no request of the engine has but that for a component (plugin/names.ts). */
function withOrganization(text: string) {
  return text.replace(
    /^( +__props__)( = (?!Provider|AccessPolicy)(\w+)Args\.__new__\(\3Args\)\n)/gm,
    '$1$2$1.__dict__["__organization"] = pulumi.get_organization()\n',
  );
}
