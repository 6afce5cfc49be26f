// Which functions of provider/ and client/ one more create, or a first delete, passes, by V8's precise coverage. A process of its own:
// `node steady-way.ts ORGANIZATION [ID STATE]` prints the functions by file, and what the create stored. With ID and STATE it deletes that
// record, which another process has created.
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { methodsWith } from "../../provider/engine/methods.ts";
import { systemEnvironment } from "../../provider/run/session.ts";

const [organization = "", id, state = "{}"] = process.argv.slice(2);
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
    if (!/^(provider|client)\//.test(path)) return [];
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

const [first, second, last] = id === undefined ? ["a", "b", "c"] : ["x", "y", "z"];
for (const name of [first, second] as const) await group.create(await checkInputs(name as string));
const inputs = await checkInputs(last as string);
await countCalls();
const stored = id === undefined ? await group.create(inputs) : await group.delete(id, JSON.parse(state));
console.log(JSON.stringify({ stored, way: await countCalls() }));
process.exit();
