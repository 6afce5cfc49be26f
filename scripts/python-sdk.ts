// Writes sdk/python: the Python package of the plugin, which the engine's own code generator makes of the plugin's schema. Needs Go, and
// minutes with an empty Go cache, so `npm run generate` only compares the schema that it was made of.
//
//   node scripts/python-sdk.ts
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "./base/child.mjs";
import { root } from "./base/project.mjs";
import { engineVersion } from "./engine/version.mjs";
import { PYTHON_SDK, SCHEMA_HASH, schemaHash } from "./generate/schema-hash.ts";
import { buildGoProgram } from "./setup/go-build.mjs";

const target = join(root, PYTHON_SDK);
const schema = join(root, "plugin", "generated", "schema.json");
const folder = mkdtempSync(join(tmpdir(), "pulumi-irm-python-"));
try {
  await generate(folder);
  const module = join(folder, "pulumi_irm");
  for (const name of readdirSync(module).filter((one) => one.endsWith(".py")))
    edit(join(module, name), withOrganization);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  // pyproject.toml looks for it beside itself.
  cpSync(join(module, "README.md"), join(target, "README.md"));
  rmSync(join(module, "README.md"));
  cpSync(module, join(target, "pulumi_irm"), { recursive: true });
  cpSync(join(folder, "pyproject.toml"), join(target, "pyproject.toml"));
  writeFileSync(join(root, SCHEMA_HASH), `${schemaHash(readFileSync(schema, "utf8"))}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function generate(to: string): Promise<void> {
  const program = join(to, "generator");
  await buildGoProgram(program, {
    module: "github.com/pulumi/pulumi/pkg/v3",
    version: `v${engineVersion}`,
    source: join(root, "scripts", "generate", "python-sdk.go"),
  });
  const { code, output } = await capture(program, [schema, to], {});
  if (code !== 0) throw new Error(`the code generator refuses ${schema}:\n${output}`);
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

/** The plugin's journal names the stack's organization, which no request of the engine has but that for a component (plugin/key.ts). */
function withOrganization(text: string): string {
  return text.replace(
    /^( +__props__)( = (?!Provider|AccessPolicy)(\w+)Args\.__new__\(\3Args\)\n)/gm,
    '$1$2$1.__dict__["__organization"] = pulumi.get_organization()\n',
  );
}
