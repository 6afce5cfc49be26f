// Other providers in a run on twins: each runs behind a guard (guard.ts). In its folder of plugins the engine finds launchers, and starts them; this
// process starts the real providers in their place. To those of the project, of the PATH, and to running ones, the engine attaches itself, by
// PULUMI_DEBUG_PROVIDERS.
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pulumiHome } from "../../../pulumi/project.ts";
import { NODE, ownCommand } from "../../own-command.ts";
import { BACKEND, type Place } from "../place.ts";
import type { ProgramUser } from "../user.ts";
import { type Guarded, type Judge, startGuard } from "./guard.ts";
import { ambientPlugins, commandOf, debuggedProviders, guardPlugins, OURS, type Plugin } from "./installed.ts";
import { attachedProvider, LIMITS, type Provider, type ProviderCommand, startProvider } from "./process.ts";

interface OthersOptions {
  place: Pick<Place, "folder" | "env">;
  /** folder of the program */
  cwd: string;
  /** the user's environment */
  env: NodeJS.ProcessEnv;
  /** the environment of the run */
  run: NodeJS.ProcessEnv;
  project: { name: string; plugins: readonly Plugin[] };
  /** the engine and its first arguments */
  engine: readonly [string, ...string[]];
  judge: Judge;
  /** of the processes of providers; default: that of this process */
  user?: ProgramUser | undefined;
}

export type Others = Awaited<ReturnType<typeof startOthers>>;

export const startOthers = async (options: OthersOptions) => {
  const { place, env, project } = options;
  const closing = new AbortController();
  const problems = new Set<string>();
  const guards: Awaited<ReturnType<typeof startGuard>>[] = [];
  const running = new Set<Promise<Provider | undefined>>();
  const start = async (command: ProviderCommand, startMs = LIMITS.startMs) => {
    closing.signal.throwIfAborted();
    const started = startProvider({ ...command, user: options.user }, closing.signal, { ...LIMITS, startMs });
    running.add(started.catch(() => undefined));
    return started;
  };
  const guard = async (guarded: Guarded) => {
    const own = await startGuard(guarded, options.judge, (problem) => problems.add(problem));
    guards.push(own);
    return own;
  };
  const context: Context = { ...options, start, guard };
  const sockets = new Set<Socket>();
  const launches = createServer((socket) => {
    sockets.add(socket);
    launch(socket, context).catch(() => socket.destroy());
  });
  const close = async () => {
    closing.abort();
    launches.close();
    for (const one of sockets) one.destroy();
    await Promise.all([...running].map(async (one) => (await one)?.close()));
    for (const one of guards) one.close();
  };
  try {
    const socket = join(place.folder, "providers");
    launches.listen(socket);
    await once(launches, "listening");
    guardPlugins(pulumiHome(env), place.env.PULUMI_HOME as string, (plugin) => launcherFor(plugin, socket));
    const debugged = debuggedProviders(env);
    const ports = new Map<string, number>();
    const attach = async (name: string, guarded: Guarded): Promise<void> => {
      if (!ports.has(name)) ports.set(name, (await guard(guarded)).port);
    };
    const own = debugged.get(OURS);
    if (own !== undefined) ports.set(OURS, own);
    await attach(
      "pulumi-nodejs",
      startedOnAttach(context, (engine) => dynamicProvider(options, engine), true),
    );
    await attach("pulumi-python", { isDynamic: true, of: () => undefined });
    for (const [name, port] of debugged) {
      const provider = attachedProvider(name, port);
      running.add(Promise.resolve(provider));
      await attach(name, { isDynamic: false, of: () => provider });
    }
    const ambient = ambientPlugins(env);
    for (const plugin of [...project.plugins, ...ambient.filter(({ name }) => name !== OURS)])
      await attach(plugin.name, {
        ...startedOnAttach(context, (engine) => installed(plugin, engine, options)),
        folder: plugin.folder,
      });
    const list = [...ports].map(([name, port]) => `${name}:${port}`);
    return {
      /** for the engine */
      env: {
        PULUMI_DEBUG_PROVIDERS: list.join(","),
        // It attaches itself to the others on the PATH, so it starts only ours from there.
        ...(ambient.some(({ name }) => name === OURS) && { PULUMI_IGNORE_AMBIENT_PLUGINS: "" }),
      },
      /** of providers that did not answer, one sentence each */
      problems: () => [...problems],
      /** Waits for the end of each process. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

interface Context extends OthersOptions {
  start(command: ProviderCommand, startMs?: number): Promise<Provider>;
  guard(guarded: Guarded): ReturnType<typeof startGuard>;
}

/** Where it attaches itself, an engine waits ten seconds for the first answer. */
const ATTACHED_MS = 9000;

/** An engine connects once for each provider that it loads, and expects a process of its own. */
const startedOnAttach = (
  { start }: Context,
  commandFor: (engine: string) => ProviderCommand,
  isDynamic = false,
): Guarded => {
  const started = new Map<string, { engine: string; provider: Promise<Provider> }>();
  const ready = new Map<string, Provider>();
  return {
    isDynamic,
    attach: async (connection, engine) => {
      for (const [key, one] of started)
        if (one.engine !== engine) {
          // The engine of an earlier run has ended.
          started.delete(key);
          ready.delete(key);
          void one.provider.then((provider) => provider.close()).catch(() => undefined);
        }
      const own = started.get(connection) ?? { engine, provider: start(commandFor(engine), ATTACHED_MS) };
      started.set(connection, own);
      ready.set(connection, await own.provider);
    },
    of: (connection) => ready.get(connection),
  };
};

/** The SDK's provider of dynamic resources. */
const dynamicProvider = ({ cwd, run }: OthersOptions, engine: string): ProviderCommand => {
  const script = createRequire(join(cwd, "package.json")).resolve("@pulumi/pulumi/cmd/dynamic-provider");
  return { name: "pulumi-nodejs", file: NODE, args: [script, engine], cwd, env: run };
};

const installed = (plugin: Plugin, engine: string, options: OthersOptions): ProviderCommand => {
  const { cwd, run, project } = options;
  const env = environmentFor({ ...run, PULUMI_PROJECT: project.name }, options);
  const [file, ...args] = commandOf(plugin, options.engine);
  return { name: plugin.name, file, args: [...args, engine], cwd, env };
};

/** Variables that the place sets for the run. */
const OF_PLACE = /^(PULUMI_.*|TMPDIR)$/;

/** The environment of the provider in a preview of the user: `launched` has the additions of the engine. Our credentials stay away. */
const environmentFor = (launched: NodeJS.ProcessEnv, { run, env }: OthersOptions): NodeJS.ProcessEnv => {
  const own: NodeJS.ProcessEnv = { ...launched, PULUMI_DEBUG_PROVIDERS: run.PULUMI_DEBUG_PROVIDERS };
  for (const name of new Set([...Object.keys(own), ...BACKEND])) {
    if (!OF_PLACE.test(name) || own[name] !== run[name]) continue;
    if (env[name] === undefined) delete own[name];
    else own[name] = env[name];
  }
  return own;
};

interface Launch extends Plugin {
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

const launch = async (socket: Socket, context: Context): Promise<void> => {
  const ended = once(socket, "close");
  socket.on("error", () => socket.destroy());
  const [line] = await Promise.race([once(createInterface({ input: socket }), "line"), ended]);
  if (typeof line !== "string") return;
  const { name, folder, args, cwd, env } = JSON.parse(line) as Launch;
  const provider = await startLaunched({ name, folder, args, cwd, env }, context);
  const { port, close } = await context.guard({ isDynamic: false, folder, of: () => provider });
  socket.write(`${port}\n`);
  await ended;
  close();
  await provider.close();
};

/** A provider that does not start answers each request with the reason. */
const startLaunched = async (launched: Launch, context: Context): Promise<Provider> => {
  const { name, cwd } = launched;
  try {
    const [file, ...args] = commandOf(launched, context.engine);
    const env = environmentFor(launched.env, context);
    return await context.start({ name, file, args: [...args, ...launched.args], cwd, env });
  } catch (error) {
    return { call: () => Promise.reject(error), close: async () => undefined };
  }
};

const launcherFor = ({ name, folder }: Plugin, socket: string) =>
  `#!/bin/sh\nexec ${[...ownCommand("run/others/launcher"), socket, name, folder].map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(" ")} "$@"\n`;
