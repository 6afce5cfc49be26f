// Runs of the engine, each with a new provider: in this process, or in one that can be paused and killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../../client/credentials.ts";
import { inRun } from "../../../client/run-file.ts";
import { removeLeftovers } from "../../../provider/attribution/leftover.ts";
import { findLost } from "../../../provider/attribution/lost-machine.ts";
import { findOpenStack } from "../../../provider/attribution/stack.ts";
import { type Environment, sessionWith } from "../../../provider/run/session.ts";
import { COMPILED } from "../../support/compiled.ts";
import { getter } from "../../support/scripted.ts";
import { dynamicProvider } from "./dynamic.ts";
import { type Command, type Outcome, runCommand } from "./engine.ts";
import { type EnvironmentOptions, environmentWith, type PauseAt, type Point } from "./environment.ts";
import { nativeChild } from "./plugin-child.ts";
import { nativeHere } from "./plugin-here.ts";
import type { ChildOptions, Message, Order } from "./process.ts";
import type { Program } from "./program.ts";
import { programEndIn } from "./program-end.ts";
import type { Provider } from "./provider.ts";

/** How a run in this process is watched. */
export type Watch = Partial<Pick<EnvironmentOptions, "atPoint" | "shortTimeout">>;

export type Engine = ReturnType<typeof engineIn>;

export type Run = ReturnType<Engine["start"]>;

interface Current {
  child: ChildProcess;
  exited: Promise<unknown>;
  listener?(message: Message): void;
  /** pid */
  plugin?: number;
}

const systemEnv = () => ({ PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: COMPILED });

const nothing = async (): Promise<void> => undefined;

// Vitest makes one module of each (test/support/compile-small-engine.ts).
const CHILD = process.env.IRM_TEST_SMALL_ENGINE ?? fileURLToPath(new URL("process.ts", import.meta.url));
const PLUGIN = process.env.IRM_TEST_SMALL_PLUGIN ?? fileURLToPath(new URL("plugin-process.ts", import.meta.url));

/** The engine in a process, which starts with the first command, and again after it was killed. */
export const engineIn = (options: ChildOptions, env: () => Promise<Record<string, string>>) => {
  const messages: string[] = [];
  let text = "";
  let current: Current | undefined;

  const startChild = async () => {
    if (current) return current;
    const child = spawn(process.execPath, [CHILD, JSON.stringify({ ...options, pluginFile: PLUGIN })], {
      env: { ...systemEnv(), ...(await env()) },
      // A group of its own, for `kill`.
      detached: true,
    });
    // A process that was killed reads nothing more.
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (chunk) => {
      text += chunk;
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      text += `${line}\n`;
      const message = JSON.parse(line) as Message;
      if ("log" in message) messages.push(message.log);
      else if ("plugin" in message) started.plugin = message.plugin;
      else started.listener?.(message);
    });
    // A plugin writes to the same stderr, so this is the end of both.
    const started: Current = { child, exited: once(child, "close") };
    current = started;
    return started;
  };

  /** in a separate process; rejects when it ends first */
  const start = (command: Command, program: Program, pause?: PauseAt) => {
    const outcome = Promise.withResolvers<Outcome>();
    const paused = Promise.withResolvers<Point>();
    outcome.promise.catch(() => undefined);
    paused.promise.catch(() => undefined);
    void startChild().then((started) => {
      const { child, exited } = started;
      started.listener = (message) => {
        if ("paused" in message) paused.resolve(message.paused);
        else if ("outcome" in message) outcome.resolve(message.outcome);
      };
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
    return { outcome: outcome.promise, paused: paused.promise, resume: () => void current?.child.stdin?.write("go\n") };
  };

  /** How it ends is up to `end`. */
  const endChild = async (end: (child: ChildProcess) => unknown): Promise<void> => {
    if (!current) return;
    const { child, exited } = current;
    current = undefined;
    end(child);
    await exited;
  };

  const log = (line: string) => void messages.push(line);
  const environmentHere = async ({ atPoint = nothing, shortTimeout }: Watch): Promise<Environment> => {
    const own = await env();
    const one = environmentWith({ ...options, atPoint, shortTimeout, log });
    return { ...one, env: own, transport: inRun(one.transport, own) };
  };
  const open = async ({ atPoint = nothing, shortTimeout }: Watch): Promise<Provider> => {
    const { adapter, pluginProcess, stack } = options;
    if (adapter === "native" && pluginProcess) {
      const own = { ...options, shortTimeout };
      const wrote = (line: string) => {
        text += line;
      };
      return nativeChild({ file: PLUGIN, options: own, env: { ...systemEnv(), ...(await env()) }, stack, log, wrote });
    }
    const environment = await environmentHere({ atPoint, shortTimeout });
    return adapter === "native" ? nativeHere(environment, stack) : dynamicProvider(environment, stack);
  };

  return {
    start,
    /** in this process */
    run: async (command: Command, program: Program = [], watch: Watch = {}): Promise<Outcome> => {
      const provider = await open(watch);
      const programEnd = programEndIn(await environmentHere({}), options.stack);
      const parts = { provider, programEnd, beforeState: nothing, isCancelled: () => false };
      return runCommand(command, program, options, parts);
    },
    /** ^C: no further step begins; what is under way finishes with dynamic resources, and is cancelled in a plugin */
    interrupt: () => void current?.child.kill("SIGINT"),
    /** kill -9 of all processes of the run */
    kill: () => endChild(({ pid, exitCode }) => exitCode === null && process.kill(-(pid as number), "SIGKILL")),
    /** kill -9 of the engine alone; resolves with the end of its plugin, which finishes what is under way */
    killEngine: async (): Promise<{ pluginEnded: Promise<unknown> }> => {
      const { child, exited } = current as Current;
      current = undefined;
      const engineEnded = once(child, "exit");
      child.kill("SIGKILL");
      await engineEnded;
      return { pluginEnded: exited };
    },
    /** kill -9 of the plugin alone */
    killPlugin: (): void => {
      process.kill(current?.plugin as number, "SIGKILL");
    },
    end: () => endChild((child) => child.stdin?.end()),
    /** `irm recover --yes`: how many records it deletes */
    recover: async (): Promise<number> => {
      const environment = await environmentHere({});
      const session = sessionWith(readConfig(getter(), environment.env), environment);
      const key = `${options.stack}/`;
      const open = await findOpenStack(session, { key });
      const { removed } = await removeLeftovers(session, open?.leftovers ?? (await findLost(session, key)));
      return removed.length;
    },
    /** its messages to the person who runs it */
    messages,
    /** all that it wrote */
    text: () => [text, ...messages].join("\n"),
  };
};
