// A plugin in a process of its own, as the engine starts and ends it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Env } from "../../../client/config.ts";
import { COMPILED } from "../../support/compiled.ts";
import { startEngineService } from "./engine-service.ts";
import { OPTIONS, type PluginMessage, type PluginOptions, type Point } from "./environment.ts";
import { nativeProvider } from "./native.ts";

interface Parts {
  /** plugin-process.ts, or what was made of it */
  file: string;
  options: PluginOptions;
  env: Env;
  /** organization/project/stack */
  stack: string;
  log(line: string): void;
  paused?(point: Point): void;
  /** what it writes to stderr; by default that is the stderr of this process */
  wrote?(text: string): void;
}

export const nativeChild = async ({ file, options, env, stack, log, paused, wrote }: Parts) => {
  const engine = await startEngineService(log);
  const child = spawn(process.execPath, [file, engine.address], {
    env: { ...env, NODE_COMPILE_CACHE: COMPILED, [OPTIONS]: JSON.stringify(options) },
    stdio: ["pipe", "pipe", wrote ? "pipe" : "inherit"],
  });
  const exited = once(child, "close");
  child.stdin?.on("error", () => undefined);
  child.stderr?.on("data", (chunk) => wrote?.(String(chunk)));
  const port = Promise.withResolvers<number>();
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.once("line", (first) => {
    port.resolve(Number(first));
    lines.on("line", (line) => paused?.((JSON.parse(line) as PluginMessage).paused));
  });
  void exited.then(() => port.reject(new Error("the plugin's process ended before it printed its port")));
  const end = async () => {
    child.kill("SIGINT");
    await exited;
    engine.close();
  };
  const provider = await nativeProvider({ port: await port.promise, end }, stack, engine.address);
  return { ...provider, pid: child.pid as number, resume: () => void child.stdin?.write("go\n") };
};
