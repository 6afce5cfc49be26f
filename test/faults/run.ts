// A child process with the engine, and what is done to it: commands, pauses, kill -9.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ChildOptions, Order, Told } from "./child.ts";
import type { Command, Outcome } from "./engine.ts";
import type { PauseAt, Point } from "./outside.ts";
import type { Program } from "./program.ts";

export interface Run {
  /** rejects when the process ends first */
  outcome: Promise<Outcome>;
  paused: Promise<Point>;
  goOn(): void;
}

export interface Engine {
  start(command: Command, program: Program, pause?: PauseAt): Run;
  run(command: Command, program?: Program): Promise<Outcome>;
  /** ^C: what is under way ends, nothing more is begun */
  interrupt(): void;
  kill(): Promise<void>;
  end(): Promise<void>;
  /** what it said to the person who runs it */
  said: string[];
  /** all that it wrote */
  text(): string;
}

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

/** The engine in a process; it is started with its first command, and again after it was killed. */
export const engineIn = (options: ChildOptions, env: () => Promise<Record<string, string>>): Engine => {
  const said: string[] = [];
  let text = "";
  let current: { child: ChildProcess; exited: Promise<unknown>; listen(told: (told: Told) => void): void } | undefined;

  const started = async () => {
    if (current) return current;
    const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...(await env()) },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // A process that was killed reads nothing more.
    child.stdin?.on("error", () => undefined);
    child.stderr?.on("data", (chunk) => {
      text += chunk;
    });
    let listener: (told: Told) => void = () => undefined;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      text += `${line}\n`;
      const told = JSON.parse(line) as Told;
      if ("said" in told) said.push(told.said);
      else listener(told);
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
      listen((told) => {
        if ("paused" in told) paused.resolve(told.paused);
        else if ("outcome" in told) outcome.resolve(told.outcome);
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
    run: (command, program = []) => start(command, program).outcome,
    interrupt: () => void current?.child.kill("SIGINT"),
    kill: () => ended("SIGKILL"),
    end: () => ended(),
    said,
    text: () => text,
  };
};
