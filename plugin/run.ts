// The process of a plugin: it prints the port that it listens on, and ends with the engine that has started it. Without an engine it waits
// for one that attaches itself: PULUMI_DEBUG_PROVIDERS=irm:PORT.
import manifest from "../package.json" with { type: "json" };
import type { Environment } from "../provider/run/session.ts";
import { storedStacks } from "../provider/run/stored-stack.ts";
import { engineLog } from "./log.ts";
import { engineOptions } from "./program.ts";
import { createPlugin } from "./server.ts";

/** `schema`: JSON text of the package's schema. */
export const runPlugin = (environment: Omit<Environment, "log">, schema: () => string): void => {
  // Options such as -logtostderr come first.
  let engine = process.argv.slice(2).findLast((argument) => !argument.startsWith("-"));
  const isStarted = engine !== undefined;

  const log = engineLog(() => engine);
  const plugin = createPlugin({
    version: manifest.version,
    schema,
    environment: {
      ...{ storedStacks: storedStacks({ env: process.env, cwd: process.cwd() }), ...environment },
      ...{ log: log.info, engine: engine === undefined ? undefined : { address: engine } },
    },
    log,
    attached: (address) => {
      engine = address;
    },
    options: isStarted ? engineOptions(process.ppid, process.env) : undefined,
    warn: (text) => console.error(`pulumi-resource-irm: ${text}`),
  });

  // The engine ends a plugin after each operation. By then it has cancelled the calls under way.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));

  // The engine holds the other end of stdin: when it dies, operations under way are finished, so that the journal records them.
  if (isStarted) process.stdin.once("end", () => void plugin.idle().then(() => process.exit(0))).resume();

  plugin.listen().then(
    (port) => process.stdout.write(`${port}\n`),
    (error: Error) => {
      console.error(`pulumi-resource-irm: cannot listen on loopback: ${error.message}`);
      process.exit(1);
    },
  );
};
