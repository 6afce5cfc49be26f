// Generates files from schema/: the .proto files, the OpenAPI document and the plain types of messages; and the JSON schemas of
// policy files and of what `irm review` prints. With --check, writes nothing and fails when a file is out of date.
//
//   node scripts/generate.ts [--check] [FOLDER]
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { policySchema } from "../access/policy/shape.ts";
import { reportSchema } from "../access/review/report.ts";
import { openapiDocument, protobufFiles } from "../schema/index.ts";
import { messageText } from "./message-text.ts";
import { root } from "./project.mjs";
import { protoText } from "./proto-text.ts";

const { values, positionals } = parseArgs({ options: { check: { type: "boolean" } }, allowPositionals: true });
const isCheck = values.check === true;
const [folder = join(root, "schema", "generated")] = positionals;

const wanted = new Map([
  ...protobufFiles().map((file): [string, string] => [file.name, protoText(file)]),
  ["openapi.json", `${JSON.stringify(openapiDocument(), undefined, 2)}\n`],
  ["message.ts", messageText()],
  ["access.schema.json", `${JSON.stringify(policySchema(), undefined, 2)}\n`],
  ["review.schema.json", `${JSON.stringify(reportSchema(), undefined, 2)}\n`],
]);

const present = existsSync(folder)
  ? readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  : [];

const changed = [...wanted].filter(([name, text]) => !present.includes(name) || read(name) !== text);
const left = present.filter((name) => !wanted.has(name));

if (isCheck) {
  for (const [name] of changed) console.error(`${name} is out of date: run npm run generate`);
  for (const name of left) console.error(`${name} is left over: run npm run generate`);
  if (changed.length + left.length > 0) process.exitCode = 1;
} else {
  for (const [name, text] of changed) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of left) rmSync(join(folder, name));
}
console.log(`${wanted.size} generated files, ${changed.length + left.length} ${isCheck ? "wrong" : "changed"}`);

function read(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}
