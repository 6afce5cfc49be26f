// The executable that the engine starts: `pulumi-resource-irm ENGINE_ADDRESS`. It prints the port that it listens on, and ends with the
// engine. Without an address it waits for an engine that attaches itself: PULUMI_DEBUG_PROVIDERS=irm:PORT.
import { existsSync, readFileSync } from "node:fs";
import { ServerCredentials } from "@grpc/grpc-js";
import { systemEnvironment } from "../provider/session/session.ts";
import { engineLog } from "./log.ts";
import { createPlugin } from "./server.ts";
import { version } from "./version.ts";

// In the build it stands beside this file.
const schemaText = (): string => {
  const [built, own] = ["./schema.json", "./generated/schema.json"].map((path) => new URL(path, import.meta.url)) as [
    URL,
    URL,
  ];
  return readFileSync(existsSync(built) ? built : own, "utf8");
};

// Options such as -logtostderr come first.
let engine = process.argv.slice(2).findLast((argument) => !argument.startsWith("-"));
const isStarted = engine !== undefined;

const log = engineLog(() => engine);
const plugin = createPlugin({
  version,
  schema: schemaText,
  environment: { ...systemEnvironment(), log: log.info },
  log,
  attached: (address) => {
    engine = address;
  },
});

// The engine asks for the end of a plugin after each operation. What was under way has been cancelled then.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));

// The engine holds the other end of stdin: when it dies, operations under way are finished, so that the journal records them.
if (isStarted) process.stdin.once("end", () => void plugin.idle().then(() => process.exit(0))).resume();

plugin.server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    console.error(`pulumi-resource-irm: cannot listen on loopback: ${error.message}`);
    process.exit(1);
  }
  process.stdout.write(`${port}\n`);
});
