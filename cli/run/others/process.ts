// The process of another provider, started as the engine starts one: it prints its port, and ends after its standard input
// (https://github.com/pulumi/pulumi/blob/master/sdk/go/common/resource/plugin/plugin.go).
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { signalGroup } from "../../../pulumi/command.ts";
import type { ProgramUser } from "../user.ts";

/** One sentence, which the engine prints. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

export interface Provider {
  /** Passes on a request. Throws the errors of the provider, and ProviderError without an answer. */
  call(path: string, request: Buffer, limit?: "unlimited"): Promise<Buffer>;
  close(): Promise<void>;
}

export interface ProviderCommand {
  name: string;
  file: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  user?: ProgramUser | undefined;
}

/** `endMs`: until a process ends by itself. The engine waits without a limit. */
export const LIMITS = { startMs: 60_000, answerMs: 300_000, endMs: 5000 };

/** Throws ProviderError. Nothing is left of a process that does not start, also once `signal` aborts. */
export const startProvider = async (
  { name, file, args, cwd, env, user }: ProviderCommand,
  signal: AbortSignal,
  limits = LIMITS,
): Promise<Provider> => {
  // In a group of its own, with its children. The user has seen its output in the preview.
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"], detached: true, ...user?.spawn });
  const ended = new Promise<string>((resolve) => {
    child.on("error", ({ message }) => resolve(`cannot be started (${message})`));
    child.on("exit", (code, by) => resolve(by ? `was ended by ${by}` : `ended with exit code ${code}`));
  });
  child.stdin.on("error", () => undefined);
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= (async () => {
      child.stdin.end();
      signalGroup(child, "SIGINT");
      await Promise.race([ended, after(limits.endMs, undefined, { ref: false })]);
      signalGroup(child, "SIGKILL");
    })();
    return ending;
  };
  const first = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  const late = `did not start within ${limits.startMs / 1000} seconds`;
  const begun = await Promise.race([
    first.then((line) => ({ port: portIn(line), why: "printed no port" })),
    ended.then((why) => ({ port: undefined, why })),
    after(limits.startMs, { port: undefined, why: late }, { ref: false, signal }).catch(() => ({
      port: undefined,
      why: "was interrupted",
    })),
  ]);
  if (begun.port === undefined) {
    await end();
    throw new ProviderError(sentence(name, begun.why));
  }
  return connection(name, begun.port, limits, { ended, end });
};

/** One that runs already, and goes on. */
export const attachedProvider = (name: string, port: number): Provider =>
  connection(name, port, LIMITS, { ended: new Promise(() => undefined), end: async () => undefined });

const sentence = (name: string, why: string) =>
  `the provider ${name} ${why}: run pulumi preview, which shows what the provider prints`;

/** .NET prints control characters before it. */
const portIn = (line: string): number | undefined => {
  const port = Number(/(\d+)\s*$/.exec(line)?.[1]);
  return port > 0 && port < 65_536 ? port : undefined;
};

/** After an error of its connection, until its end is known. */
const UNTIL_ENDED_MS = 1000;

const connection = (
  name: string,
  port: number,
  { answerMs }: typeof LIMITS,
  { ended, end }: { ended: Promise<string>; end: () => Promise<void> },
): Provider => {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), CHANNEL);
  let gone: string | undefined;
  let isClosing = false;
  const done = ended.then((why) => {
    gone ??= sentence(name, why);
  });
  const close = async (): Promise<void> => {
    isClosing = true;
    client.close();
    await end();
  };
  const explained = async (error: ServiceError): Promise<Error> => {
    // A run that stops leaves requests without an answer.
    if (isClosing) return error;
    if (error.code === status.UNAVAILABLE) await Promise.race([done, after(UNTIL_ENDED_MS, undefined, { ref: false })]);
    if (gone !== undefined) return new ProviderError(gone);
    return error.code === status.UNAVAILABLE ? new ProviderError(sentence(name, "closed its connection")) : error;
  };
  return {
    call: (path, request, limit) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) return reject(new ProviderError(gone));
        const same = (bytes: Buffer) => bytes;
        const call = client.makeUnaryRequest(path, same, same, request, new Metadata(), (error, response) => {
          clearTimeout(timer);
          if (response) resolve(response);
          else void explained(error as ServiceError).then(reject);
        });
        const giveUp = () => {
          gone ??= sentence(name, `did not answer ${path.split("/").at(-1)} within ${answerMs / 1000} seconds`);
          call.cancel();
          void end();
        };
        const timer = limit === "unlimited" ? undefined : setTimeout(giveUp, answerMs);
      }),
    close,
  };
};

/** Messages of any length, on loopback. */
export const CHANNEL = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  "grpc.enable_http_proxy": 0,
};
