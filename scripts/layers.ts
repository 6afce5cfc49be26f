// The imports between rooms. A room imports its own files, the files of the rooms inside it, and the places in its row.
// docs/internals/architecture.md has the reasons. A new room needs a row.
//
//   node scripts/layers.ts
import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import ts from "typescript";
import { filesOfClone, root } from "./base/project.mjs";

const WORLD = "schema client pulumi access";
const STORED = "schema server/base server/store server/sts/index.ts";
const SERVED = "schema server/base server/pipeline server/connection";

/** The room of a file is the longest of these that it is in. An entry is a folder with all below it, `folder/*` without, or a file. */
const LAYERS: Readonly<Record<string, string>> = {
  schema: "",
  client: "schema",
  // The files and the output of the engine, and the start of its processes.
  pulumi: "schema client",
  access: "schema client pulumi",
  "access/*": "schema",
  // A change is requests of the API: nothing that predicts or judges one.
  "access/change": "schema access/*",
  ...floors("access", "schema client pulumi access/* access/change", [
    ...["pattern", "preset", "workload"],
    ...["graph", "policy", "base"],
    ...["query", "paths", "roles", "review", "test", "run"],
    "format",
    ...["export", "copy", "drift", "revoke"],
  ]),
  // The gate passes requests: it knows the change, the server's front, and the provider's rule for lost answers.
  gate: `${WORLD} server/front.ts provider/record provider/log provider/run provider/kind provider/recovery`,
  ci: WORLD,
  plugin: `${WORLD} provider`,
  cli: `${WORLD} gate ci provider server plugin`,

  // The server knows nothing of its clients.
  server: "schema",
  "server/base": "schema",
  "server/store": "schema server/base",
  "server/sts": "schema server/base",
  "server/sts/key": "schema server/base",
  "server/sts/token": "schema server/base server/sts/key",
  "server/sts/issuer": "schema server/base server/sts/key server/sts/token",
  "server/sts/rule": "schema server/base server/sts/key server/sts/token server/sts/issuer",
  "server/caller": STORED,
  "server/services": `${STORED} server/caller`,
  "server/seed": `${STORED} server/caller server/services`,
  "server/pipeline": `${STORED} server/caller server/services`,
  "server/connection": "schema server/base server/pipeline",
  "server/rest": SERVED,
  "server/grpc": SERVED,
  "server/faults": `${SERVED} server/rest`,
  "server/pages": `${SERVED} server/rest server/store server/sts/index.ts`,
  "server/port": `${SERVED} server/rest server/grpc`,

  // The provider knows the service by the API alone.
  provider: WORLD,
  ...floors("provider", WORLD, [
    "record",
    "log",
    "run",
    "kind",
    "recovery",
    "reconcile",
    "set",
    "attribution",
    "engine",
  ]),
};

/** Each folder imports only the folders before it, and the places for all of them. */
function floors(room: string, all: string, folders: readonly string[]): Record<string, string> {
  const rooms = folders.map((name) => `${room}/${name}`);
  return Object.fromEntries(rooms.map((name, i) => [name, [all, ...rooms.slice(0, i)].join(" ")]));
}

/** Folders that may import anything. The product imports none of them. */
const FREE: ReadonlySet<string> = new Set(["docs", "examples", "scripts", "sdk", "templates", "test"]);

const isIn = (file: string, place: string) =>
  place.endsWith("/*") ? dirname(file) === place.slice(0, -2) : file === place || file.startsWith(`${place}/`);

const ROOMS = Object.keys(LAYERS).toSorted((a, b) => b.length - a.length);

/** The problems of the imports of a file. `imported`: paths from the top of the clone. */
export const layerProblems = (file: string, imported: readonly string[]): string[] => {
  const [top = "", ...rest] = file.split("/");
  if (rest.length === 0 || FREE.has(top)) return [];
  const room = ROOMS.find((one) => isIn(file, one));
  if (room === undefined) return [`${file}: ${top}/ has no row in scripts/layers.ts`];
  const allowed = [room, ...(LAYERS[room] ?? "").split(" ").filter((one) => one !== "")];
  return imported
    .filter((target) => target.includes("/") && !allowed.some((place) => isIn(target, place)))
    .map(
      (target) => `${file}: imports ${target}, and ${room}/ imports only ${allowed.slice(1).join(", ") || "itself"}`,
    );
};

const importsOf = (file: string) =>
  ts
    .preProcessFile(readFileSync(posix.join(root, file), "utf8"), true, true)
    .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(dirname(file), fileName));

if (import.meta.main) {
  const files = filesOfClone("*.ts", "*.mjs");
  const problems = files.flatMap((file) => layerProblems(file, importsOf(file)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${Object.keys(LAYERS).length} rooms, ${files.length} files`);
}
