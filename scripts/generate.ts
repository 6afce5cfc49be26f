// Generates files from schema/: the .proto files, the plain types of messages, the package schema of the plugin, and the classes of
// provider/program. Also generates the JSON schemas of policy files, files of tests, the report of `irm review` and changes. In docs/, it
// writes the pages of all capabilities and commands, the table of resources, and all but the hand-written parts of their pages.
// With --check, writes nothing and fails when a file is out of date. It also fails for old packages for other languages, which need Go
// (scripts/sdks.ts).
//
//   node scripts/generate.ts [--check] [ROOT]
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { changeSchema } from "../access/change/change.ts";
import { policySchema, testFileSchema } from "../access/policy/shape.ts";
import { reportSchema } from "../access/review/report.ts";
import { packageSchema } from "../plugin/schema.ts";
import { protobufFiles } from "../schema/index.ts";
import { root } from "./base/project.mjs";
import { commandsPage } from "./generate/commands-text.ts";
import { capabilitiesPage, withResourceTable } from "./generate/docs-text.ts";
import { withExamples } from "./generate/example.ts";
import { messageTypes } from "./generate/message-types.ts";
import { nativeFiles } from "./generate/native-text.ts";
import { programFiles } from "./generate/program-text.ts";
import { protoText } from "./generate/proto-text.ts";
import { registryPages, resourcePages } from "./generate/resource-page.ts";
import { SCHEMA_HASH, schemaHash } from "./generate/sdk-schema.ts";

const { values, positionals } = parseArgs({ options: { check: { type: "boolean" } }, allowPositionals: true });
const isCheck = values.check === true;
const [target = root] = positionals;
const folders = [
  join("schema", "generated"),
  join("plugin", "generated"),
  join("provider", "program", "generated"),
] as const;
const [fromSchema, fromPlugin, fromKinds] = folders;
const page = join("docs", "reference", "capabilities.md");
const commands = join("docs", "reference", "commands.md");
const table = join("docs", "resources.md");

const below = (folder: string, files: Iterable<[string, string]>) =>
  [...files].map(([name, text]): [string, string] => [join(folder, name), text]);

const info = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const schema = packageSchema(info);
const schemaText = jsonText(withExamples(schema));
/** In the folder that is written to, if it is there: its hand-written part stays. */
const readPage = (name: string) => readFileSync(join(existsSync(join(target, name)) ? target : root, name), "utf8");
const pages = [...resourcePages(schema, readPage), ...registryPages(schema, readPage)];
const wanted = new Map([
  // Those of v2 differ from v2beta1 in the name of the package alone.
  ...protobufFiles()
    .filter(({ name }) => !name.includes("/v2/"))
    .map((file): [string, string] => [join(fromSchema, file.name), protoText(file)]),
  [join(fromSchema, "message.ts"), messageTypes()],
  [join(fromSchema, "access.schema.json"), shortText(policySchema())],
  [join(fromSchema, "access.tests.schema.json"), shortText(testFileSchema())],
  [join(fromSchema, "review.schema.json"), shortText(reportSchema())],
  [join(fromSchema, "change.schema.json"), shortText(changeSchema())],
  [join(fromPlugin, "schema.json"), schemaText],
  ...below(fromKinds, programFiles()),
  ...below(join(fromKinds, "native"), nativeFiles()),
  [page, capabilitiesPage()],
  [commands, await commandsPage()],
  [table, withResourceTable(readPage(table))],
  ...pages,
]);

const present = folders
  .map((folder) => join(target, folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => relative(target, join(entry.parentPath, entry.name)))
  .concat([page, commands, table, ...pages.map(([name]) => name)].filter((name) => existsSync(join(target, name))));

const changed = [...wanted].filter(([name, text]) => !present.includes(name) || read(name) !== text);
const left = present.filter((name) => !wanted.has(name));

const isStale = !existsSync(join(target, SCHEMA_HASH)) || read(SCHEMA_HASH).trim() !== schemaHash(schemaText);
if (isStale) console.error("sdk is out of date: run npm run generate:sdks, which needs Go");

if (isCheck) {
  for (const [name] of changed) console.error(`${name} is out of date: run npm run generate`);
  for (const name of left) console.error(`${name} is left over: run npm run generate`);
  if (changed.length + left.length > 0 || isStale) process.exitCode = 1;
} else {
  for (const [name, text] of changed) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    writeFileSync(join(target, name), text);
  }
  for (const name of left) rmSync(join(target, name));
}
console.log(`${wanted.size} generated files, ${changed.length + left.length} ${isCheck ? "wrong" : "changed"}`);

function read(name: string): string {
  return readFileSync(join(target, name), "utf8");
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** With a list of texts on one line. */
function shortText(value: unknown): string {
  return jsonText(value).replaceAll(
    /\[\n\s+("[^"\n]*"(?:,\n\s+"[^"\n]*")*)\n\s+\]/g,
    (_, list: string) => `[${list.replaceAll(/\n\s+/g, " ")}]`,
  );
}
