// Processor time from the start of a provider's process until it has answered its first check, of the package that `npm run build` made.
// Beside it, bare Node, and what the SDK takes without us. Linux only.
//
//   npm run -s bench:startup -- [RUNS]
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials } from "@grpc/grpc-js";
import { root } from "../scripts/base/project.mjs";
import { countsFrom } from "./counts.ts";
import { median } from "./process-cpu.ts";

const require = createRequire(import.meta.url);
const messages = require("@pulumi/pulumi/proto/provider_pb.js");
const services = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb.js");

const [runs] = countsFrom("bench:startup -- [RUNS]", [7]);
const dist = join(root, "dist");
const folder = mkdtempSync(join(tmpdir(), "irm-startup-"));
// The cache of compiled code is here too: the first run of each fills it, and does not count.
const env = { ...process.env, IRM_JOURNAL: join(folder, "journal"), XDG_CACHE_HOME: folder };
const BASE_URL = "http://127.0.0.1:1";

const spent = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit(0);";

const cpuOfText = async (text: string): Promise<number> => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], { env, cwd: root });
  const [shown] = await once(child.stdout, "data");
  return Number(shown);
};

const cpuOfPlugin = async (): Promise<number> => {
  const child = spawn(process.execPath, [join(dist, "plugin", "start.js")], { env });
  const [port] = await once(child.stdout, "data");
  const client = new services.ResourceProviderClient(`127.0.0.1:${String(port).trim()}`, credentials.createInsecure());
  const call = (method: string, request: object) =>
    new Promise((done, fail) =>
      client[method](request, (error: Error | null, answer: unknown) => (error ? fail(error) : done(answer))),
    );
  const configuration = new messages.ConfigureRequest();
  configuration.setArgs(Struct.fromJavaScript({ baseUrl: BASE_URL }));
  await call("configure", configuration);
  const check = new messages.CheckRequest();
  check.setUrn("urn:pulumi:stack::project::irm:index:Group::eng");
  check.setNews(Struct.fromJavaScript({ name: "eng", root: true }));
  await call("check", check);
  const ms = cpuOf(child);
  client.close();
  child.kill("SIGINT");
  await once(child, "exit");
  return ms;
};

const cpuOf = ({ pid }: ChildProcess): number => {
  // In hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** The SDK's process of all dynamic providers, until it listens. */
const cpuOfSdk = async (): Promise<number> => {
  const child = spawn(
    process.execPath,
    [require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js"), "127.0.0.1:1"],
    {
      env,
    },
  );
  await once(child.stdout, "data");
  const ms = cpuOf(child);
  child.kill("SIGKILL");
  await once(child, "exit");
  return ms;
};

const DYNAMIC = `
  import { pathToFileURL } from "node:url";
  const { kinds } = await import(pathToFileURL(${JSON.stringify(join(dist, "dynamic.js"))}).href);
  await kinds.group.configure({ config: { get: (key) => ({ "irm:baseUrl": "${BASE_URL}" })[key] } });
  await kinds.group.check({}, { __key: "organization/project/stack/Group::eng", name: "eng", root: true });
  ${spent}`;

const INTERFACE = `
  import { Server, ServerCredentials } from "@grpc/grpc-js";
  await import("@pulumi/pulumi/proto/provider_grpc_pb.js");
  await new Promise((done) => new Server().bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), done));
  ${spent}`;

const measured: Record<string, () => Promise<number>> = {
  "bare Node": () => cpuOfText(spent),
  "dynamic provider, the SDK's process": cpuOfSdk,
  "dynamic provider, our part with bare Node": () => cpuOfText(DYNAMIC),
  "interface of a plugin, without us": () => cpuOfText(INTERFACE),
  plugin: cpuOfPlugin,
};

const results = new Map<string, number[]>(Object.keys(measured).map((name) => [name, []]));
for (let run = 0; run <= runs; run += 1)
  for (const [name, measure] of Object.entries(measured)) {
    const ms = await measure();
    if (run > 0) results.get(name)?.push(ms);
  }
rmSync(folder, { recursive: true });

console.log("processor time in ms, median (least to most)");
for (const [name, times] of results) {
  const [least, most] = [Math.min(...times), Math.max(...times)].map(Math.round);
  console.log(`${name}: ${Math.round(median(times))} (${least} to ${most})`);
}
