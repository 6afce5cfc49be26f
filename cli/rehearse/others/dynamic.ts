// The SDK's provider of dynamic resources, behind the stand-in: it serves the resources of this package, and never sees another one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, credentials, Metadata } from "@grpc/grpc-js";

/** The engine prints it. */
export class StandInError extends Error {
  override readonly name = "StandInError";
}

export interface DynamicProviders {
  /** Starts one for this connection of an engine, which listens at this address. */
  attach(connection: string, engine: string): Promise<void>;
  /** Passes on a request. Throws what the provider throws, with its details. */
  call(connection: string, path: string, request: Buffer): Promise<Buffer>;
  close(): void;
}

interface Started {
  engine: string;
  client: Client;
  close(): void;
}

/** An engine connects once for each provider that it loads, and expects a process of its own. */
export const dynamicProviders = (cwd: string, env: NodeJS.ProcessEnv): DynamicProviders => {
  const started = new Map<string, Started>();
  const closeAll = (which: (one: Started) => boolean): void => {
    for (const [connection, one] of started)
      if (which(one)) {
        one.close();
        started.delete(connection);
      }
  };
  return {
    attach: async (connection, engine) => {
      // The engine of an earlier run has ended.
      closeAll((one) => one.engine !== engine);
      started.set(connection, await start(cwd, env, engine));
    },
    call: (connection, path, request) =>
      new Promise((resolve, reject) => {
        const one = started.get(connection);
        if (!one) return reject(new StandInError("the engine has not attached itself"));
        const same = (bytes: Buffer): Buffer => bytes;
        one.client.makeUnaryRequest(path, same, same, request, new Metadata(), (error, response) =>
          response ? resolve(response) : reject(error),
        );
      }),
    close: () => closeAll(() => true),
  };
};

const start = async (cwd: string, env: NodeJS.ProcessEnv, engine: string): Promise<Started> => {
  const script = createRequire(join(cwd, "package.json")).resolve("@pulumi/pulumi/cmd/dynamic-provider");
  // What it prints has come to the engine already.
  const child = spawn(process.execPath, [script, engine], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const port = await Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([line]) => Number(line)),
    once(child, "exit").then(([code]) => Promise.reject(new StandInError(`the dynamic provider ended with ${code}`))),
  ]);
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), NO_LIMIT);
  return {
    engine,
    client,
    close: () => {
      client.close();
      child.stdin.end();
      child.kill("SIGINT");
    },
  };
};

export const NO_LIMIT = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
