// `node test/harness/small-engine/process.ts OPTIONS`: the engine in a separate process, so that tests can kill it. Reads
// commands as lines of JSON and answers each with one. Each command has a new provider, as each run of Pulumi has.
import { createInterface } from "node:readline";
import { methodsWith } from "../../../provider/engine/methods.ts";
import type { Pace } from "../clock.ts";
import { type Command, engineWith, type Outcome } from "./engine.ts";
import { outsideWith, type PauseAt, type Point } from "./environment.ts";
import type { Program } from "./program.ts";
import { openState } from "./state.ts";

export interface ChildOptions {
  stateFile: string;
  /** organisation/project/stack */
  stack: string;
  pace: Pace;
  wrongBy?: number;
  newer?: Record<string, unknown>;
  pageSize?: number;
}

export interface Order {
  command: Command;
  program: Program;
  pause?: PauseAt;
}

export type Message = { ready: true } | { paused: Point } | { said: string } | { outcome: Outcome };

const options = JSON.parse(process.argv[2] as string) as ChildOptions;
const send = (message: Message) => void process.stdout.write(`${JSON.stringify(message)}\n`);

let goOn: () => void = () => undefined;
let cancelled = false;
process.on("SIGINT", () => {
  cancelled = true;
});

const run = async ({ command, program, pause }: Order): Promise<Outcome> => {
  let left = pause?.nth ?? 1;
  const reached = async (point: Point, of: string): Promise<void> => {
    if (point !== pause?.point || of !== pause.of) return;
    left -= 1;
    if (left !== 0) return;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    send({ paused: point });
    await going;
  };
  const methods = methodsWith(outsideWith({ ...options, reached, log: (said) => send({ said }) }));
  await methods.group.configure({ config: { get: () => undefined } });
  const engine = engineWith({
    methods,
    state: openState(options.stateFile),
    stack: options.stack,
    beforeState: (type) => reached("before state", type),
    isCancelled: () => cancelled,
  });
  return engine[command](program);
};

send({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "go") goOn();
  else void run(JSON.parse(line) as Order).then((outcome) => send({ outcome }));
}
process.exit(0);
