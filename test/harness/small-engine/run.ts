// Runs of the engine, each with a new provider, as in Pulumi: in this process, or in a separate one that can be paused and
// killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { methodsWith } from "../../../provider/engine/methods.ts";
import { COMPILED } from "../../support/compiled.ts";
import { type Command, engineWith, type Outcome } from "./engine.ts";
import { type OutsideOptions, outsideWith, type PauseAt, type Point } from "./environment.ts";
import type { ChildOptions, Message, Order } from "./process.ts";
import type { Program } from "./program.ts";
import { openState } from "./state.ts";

export interface Run {
  /** rejects when the process ends first */
  outcome: Promise<Outcome>;
  paused: Promise<Point>;
  goOn(): void;
}

/** How a run in this process is watched. */
export type Watch = Partial<Pick<OutsideOptions, "reached" | "hurry">>;

export interface Engine {
  /** in a separate process */
  start(command: Command, program: Program, pause?: PauseAt): Run;
  /** in this one */
  run(command: Command, program?: Program, watch?: Watch): Promise<Outcome>;
  /** ^C: steps under way finish, and no further one begins */
  interrupt(): void;
  kill(): Promise<void>;
  end(): Promise<void>;
  /** its messages to the person who runs it */
  said: string[];
  /** all that it wrote */
  text(): string;
}

const nothing = async (): Promise<void> => undefined;

// Vitest makes one module of it (test/support/compile-small-engine.ts).
const CHILD = process.env.IRM_TEST_SMALL_ENGINE ?? fileURLToPath(new URL("process.ts", import.meta.url));

/** The engine in a process, which starts with the first command, and again after it was killed. */
export const engineIn = (options: ChildOptions, env: () => Promise<Record<string, string>>): Engine => {
  const said: string[] = [];
  let text = "";
  let current:
    | { child: ChildProcess; exited: Promise<unknown>; listen(message: (message: Message) => void): void }
    | undefined;

  const started = async () => {
    if (current) return current;
    const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: COMPILED, ...(await env()) },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // A process that was killed reads nothing more.
    child.stdin?.on("error", () => undefined);
    child.stderr?.on("data", (chunk) => {
      text += chunk;
    });
    let listener: (message: Message) => void = () => undefined;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      text += `${line}\n`;
      const message = JSON.parse(line) as Message;
      if ("said" in message) said.push(message.said);
      else listener(message);
    });
    current = {
      child,
      exited: once(child, "close"),
      listen: (own) => {
        listener = own;
      },
    };
    return current;
  };

  const start: Engine["start"] = (command, program, pause) => {
    const outcome = Promise.withResolvers<Outcome>();
    const paused = Promise.withResolvers<Point>();
    outcome.promise.catch(() => undefined);
    paused.promise.catch(() => undefined);
    const ready = started();
    void ready.then(({ child, exited, listen }) => {
      listen((message) => {
        if ("paused" in message) paused.resolve(message.paused);
        else if ("outcome" in message) outcome.resolve(message.outcome);
      });
      void exited.then(() => {
        const error = new Error(`the engine's process ended during ${command}:\n${text}`);
        outcome.reject(error);
        paused.reject(error);
      });
      void outcome.promise.then(
        ({ errors }) => paused.reject(new Error(`${command} ended without a pause: ${errors.join("\n")}`)),
        () => undefined,
      );
      const order: Order = { command, program, ...(pause && { pause }) };
      child.stdin?.write(`${JSON.stringify(order)}\n`);
    });
    return { outcome: outcome.promise, paused: paused.promise, goOn: () => void current?.child.stdin?.write("go\n") };
  };

  const ended = async (signal?: NodeJS.Signals): Promise<void> => {
    if (!current) return;
    const { child, exited } = current;
    current = undefined;
    if (signal) child.kill(signal);
    else child.stdin?.end();
    await exited;
  };

  return {
    start,
    run: async (command, program = [], watch = {}) => {
      const outside = outsideWith({ ...options, reached: nothing, ...watch, log: (line) => void said.push(line) });
      const methods = methodsWith({ ...outside, env: await env() });
      await methods.group.configure({ config: { get: () => undefined } });
      const { stateFile, stack } = options;
      const here = { methods, state: openState(stateFile), stack, beforeState: nothing, isCancelled: () => false };
      return engineWith(here)[command](program);
    },
    interrupt: () => void current?.child.kill("SIGINT"),
    kill: () => ended("SIGKILL"),
    end: () => ended(),
    said,
    text: () => [text, ...said].join("\n"),
  };
};
