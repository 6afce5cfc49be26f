// `node test/harness/small-engine/process.ts OPTIONS`: the engine in a separate process, so that tests can kill it. Reads
// commands as lines of JSON and answers each with one. Each command has a new provider, as each run of Pulumi has.
import { createInterface } from "node:readline";
import { type Command, type Outcome, runCommand } from "./engine.ts";
import { environmentWith, type GivenOptions, type PauseAt, type Point, pausePoints } from "./environment.ts";
import type { Program } from "./program.ts";
import { programEndIn } from "./program-end.ts";
import type { Adapter, Provider } from "./provider.ts";

export interface ChildOptions extends GivenOptions {
  adapter: Adapter;
  /** the plugin of each run has a process of its own, as with the real engine */
  pluginProcess?: boolean;
  /** module of that process */
  pluginFile?: string;
  stateFile: string;
  /** organization/project/stack */
  stack: string;
  /** it saves its state once, at the end of a run */
  isUnchecked?: boolean;
}

export interface Order {
  command: Command;
  program: Program;
  pause?: PauseAt;
}

export type Message =
  | { paused: Point }
  | { log: string }
  | { outcome: Outcome }
  /** pid of the plugin */
  | { plugin: number };

const options = JSON.parse(process.argv[2] as string) as ChildOptions;
const send = (message: Message) => void process.stdout.write(`${JSON.stringify(message)}\n`);

let resume: () => void = () => undefined;
let provider: Provider | undefined;
let cancelled = false;
process.on("SIGINT", () => {
  cancelled = true;
  void provider?.cancel();
});

const log = (text: string) => send({ log: text });
const reportPause = (point: Point) => send({ paused: point });

// Loads the one that it needs.
const open = async (atPoint: ReturnType<typeof pausePoints>["atPoint"], { pause }: Order): Promise<Provider> => {
  const { adapter, pluginFile: file = "", stack } = options;
  if (adapter === "dynamic") {
    const { dynamicProvider } = await import("./dynamic.ts");
    return dynamicProvider(environmentWith({ ...options, atPoint, log }), stack);
  }
  const { nativeChild } = await import("./plugin-child.ts");
  const own = { ...options, pause };
  const plugin = await nativeChild({ file, options: own, env: process.env, stack, log, paused: reportPause });
  send({ plugin: plugin.pid });
  const resumeEngine = resume;
  resume = () => {
    resumeEngine();
    plugin.resume();
  };
  return plugin;
};

const run = async (order: Order): Promise<Outcome> => {
  const points = pausePoints(order.pause, reportPause);
  resume = points.resume;
  provider = await open(points.atPoint, order);
  return runCommand(order.command, order.program, options, {
    provider,
    beforeState: (type) => points.atPoint("before state", type),
    isCancelled: () => cancelled,
    programEnd: programEndIn(environmentWith({ ...options, atPoint: points.atPoint, log }), options.stack),
  });
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "go") resume();
  else void run(JSON.parse(line) as Order).then((outcome) => send({ outcome }));
}
process.exit(0);
