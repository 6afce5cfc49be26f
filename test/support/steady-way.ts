// Which functions of provider/, client/, schema/ and pulumi/ a step of one group passes, by V8's precise coverage.
// Each runs in its own process and prints the functions by file:
//
//   node steady-way.ts ORGANIZATION first-check        with all that a process does before its first step
//   node steady-way.ts ORGANIZATION check              one more check
//   node steady-way.ts ORGANIZATION create             one more create; also prints what it stored
//   node steady-way.ts ORGANIZATION delete ID STATE    deletes a record that another process has created
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { methodsWith } from "../../provider/engine/methods.ts";
import { systemEnvironment } from "../../provider/run/session.ts";

const [organization = "", step, id = "", state = "{}"] = process.argv.slice(2);
const here = pathToFileURL(fileURLToPath(new URL("../..", import.meta.url))).href;
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** The functions that were called since it was asked last, by file. */
const countCalls = async (): Promise<Record<string, string[]>> => {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const files = result.flatMap(({ url, functions }) => {
    const path = url.startsWith(here) ? url.slice(here.length) : "";
    if (!/^(provider|client|schema|pulumi)\//.test(path)) return [];
    const names = functions.flatMap(({ functionName, ranges: [range] }) =>
      (range?.count ?? 0) > 0 ? [functionName || "anonymous"] : [],
    );
    return names.length > 0 ? [[path, names] as const] : [];
  });
  return Object.fromEntries(files);
};

const { group } = methodsWith(systemEnvironment());
await group.configure({ config: { get: () => undefined, projectName: "way" } });
const inputsOf = (name: string) => ({ __key: `organization/way/dev/irm:Group::${name}`, parent: organization, name });
const checkInputs = async (name: string) => (await group.check({}, inputsOf(name))).inputs;

let stored: unknown;
if (step === "check" || step === "first-check") {
  if (step === "check") await checkInputs("a");
  await countCalls();
  stored = await checkInputs("b");
} else {
  const [first, second, last] = step === "create" ? (["a", "b", "c"] as const) : (["x", "y", "z"] as const);
  for (const name of [first, second]) await group.create(await checkInputs(name));
  const inputs = await checkInputs(last);
  await countCalls();
  stored = step === "create" ? await group.create(inputs) : await group.delete(id, JSON.parse(state));
}
console.log(JSON.stringify({ stored, way: await countCalls() }));
process.exit();
