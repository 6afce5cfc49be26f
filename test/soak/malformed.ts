// Messages that are no messages, to every method of the server over gRPC and REST, and to every method of the plugin. Each is
// answered in time and without a defect; the processes serve what comes after it, and the plugin hears SIGTERM at the end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text as textOf } from "node:stream/consumers";
import type { DescMessage } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { requestTypes } from "../../plugin/request-type.ts";
import type { FieldType, MessageType } from "../../plugin/wire-format.ts";
import { methodsOf, type Operation, operations, VERSIONS } from "../../schema/index.ts";
import { reflectionPath } from "../../server/grpc/reflection.ts";
import { HEALTH_PACKAGE, messageIn, methodIn, REFLECTION_PACKAGES } from "../../server/grpc/registry.ts";
import { root, type ServerProcess, startServerProcess } from "../harness/api-process.ts";
import { startEngineService } from "../harness/small-engine/engine-service.ts";
import { temporaryFolder } from "../support/command.ts";
import { COMPILED } from "../support/compiled.ts";
import { malformedMessage, malformedText } from "../support/malformed.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { PartOptions, PartResult } from "./part.ts";

const AT_ONCE = 32;
const ANSWER_MS = 20_000;

/** One method, to which a random message is sent. Resolves with why its answer is wrong. */
interface Target {
  name: string;
  send(random: Random): Promise<string | undefined>;
}

/** `rounds` messages in all, the same number to each method. */
export const malformed = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const random = createRandom(seed);
  const failures: string[] = [];
  /** how many answers there were of each kind */
  const answers: Record<string, number> = {};
  const count: Count = (wire, answer) => {
    answers[`${wire} ${answer}`] = (answers[`${wire} ${answer}`] ?? 0) + 1;
  };
  const server = await startServer(count);
  const plugin = await startPlugin(count, server);
  const targets = [...server.targets, ...plugin.targets];
  let sent = 0;
  const one = async (at: number): Promise<void> => {
    const { name, send } = targets[at % targets.length] as Target;
    const problem = await send(random);
    if (problem !== undefined) failures.push(`${name}: ${problem}`);
  };
  while (sent < rounds && failures.length < 20) {
    const size = Math.min(AT_ONCE, rounds - sent);
    await Promise.all(Array.from({ length: size }, (_, i) => one(sent + i)));
    sent += size;
    if (sent % 8000 < AT_ONCE) log?.(`${sent} messages, ${failures.length} failures`);
  }
  failures.push(...(await plugin.end()), ...(await server.end()));
  return {
    figures: {
      "malformed messages": sent,
      "methods of the server": server.targets.length,
      "methods of the plugin": plugin.targets.length,
      ...answers,
    },
    failures,
  };
};

const BAD = [status.UNKNOWN, status.INTERNAL, status.DATA_LOSS, status.DEADLINE_EXCEEDED, status.UNAVAILABLE];

const asItIs = (bytes: Buffer): Buffer => bytes;

/** Code and text. */
const call = (client: Client, path: string, bytes: Buffer, token?: string): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    const metadata = new Metadata();
    if (token) metadata.set("authorization", `Bearer ${token}`);
    const deadline = Date.now() + ANSWER_MS;
    client.makeUnaryRequest(path, asItIs, asItIs, bytes, metadata, { deadline }, (error: ServiceError | null) =>
      resolve({ code: error?.code ?? 0, text: error?.details ?? "" }),
    );
  });

const startServer = async (count: Count) => {
  const server = await startServerProcess(["--log-level", "error"]);
  const client = new Client(new URL(server.baseUrl).host, credentials.createInsecure());
  const targets = [...grpcTargets(client, server, count), ...restTargets(server, count)];
  return {
    ...server,
    targets,
    end: async (): Promise<string[]> => {
      const problems: string[] = [];
      const headers = { authorization: `Bearer ${server.token}` };
      const { status: http } = await fetch(`${server.baseUrl}/iam/v2beta1/groups`, { headers });
      if (http !== 200) problems.push(`the server answers a good request ${http}`);
      client.close();
      const code = await server.stop();
      if (code !== 0) problems.push(`the server ended with ${code}`);
      return [...problems, ...(server.log().match(/^.*internal error.*$/gm) ?? []).slice(0, 5)];
    },
  };
};

type Count = (wire: string, answer: string | number) => void;

const grpcTargets = (client: Client, { token }: ServerProcess, count: Count): Target[] => {
  const own = VERSIONS.flatMap(methodsOf).map(({ service, name }) => {
    const { input } = methodIn(service, name);
    return { path: `/${service}/${name}`, input, isStandard: false };
  });
  const standardOf = (path: string, message: string) => ({ path, input: messageIn(message), isStandard: true });
  const standard = [
    standardOf(`/${HEALTH_PACKAGE}.Health/Check`, `${HEALTH_PACKAGE}.HealthCheckRequest`),
    ...REFLECTION_PACKAGES.map((name) => standardOf(reflectionPath(name), `${name}.ServerReflectionRequest`)),
  ];
  return [...own, ...standard].map(({ path, input, isStandard }) => ({
    name: path,
    send: async (random) => {
      const bytes = malformedMessage(random, typeOf(input));
      const { code, text } = await call(client, path, bytes, token);
      count("gRPC", status[code] as string);
      // grpc-js has one text for what it cannot read of these services, and one call may have more than one answer.
      if (isStandard && (/Error deserializing request/.test(text) || code === status.RESOURCE_EXHAUSTED)) return;
      if (isStandard && /Too many responses|Received multiple/.test(text)) return;
      return BAD.includes(code) ? `${status[code]} ${text} to ${bytes.toString("hex")}` : undefined;
    },
  }));
};

const SCALARS: Readonly<Record<number, FieldType>> = { 1: "double", 9: "text", 12: "bytes" };
const types = new WeakMap<DescMessage, MessageType>();

const typeOf = (message: DescMessage): MessageType => {
  const known = types.get(message);
  if (known) return known;
  const type: MessageType = {};
  types.set(message, type);
  for (const { number, fieldKind, message: held, scalar } of message.fields) {
    const value = held ? typeOf(held) : (SCALARS[scalar ?? 0] ?? "varint");
    type[number] = fieldKind === "map" ? { 1: "text", 2: value } : value;
  }
  return type;
};

const restTargets = ({ baseUrl, token, organization }: ServerProcess, count: Count): Target[] => {
  const rows = Object.entries(operations as Record<string, Operation>).filter(([, { method }]) => method !== "GET");
  const names = "name uid parent description claimMatch role identity capabilities expiration".split(" ");
  return rows.map(([operation, { method, path }]) => ({
    name: `${method} ${path}`,
    send: async (random) => {
      const body = malformedText(random, names);
      const uid = () => (random.below(2) === 0 ? `${organization}/0000000000000000` : random.hex(8));
      const own = path.replace("{version}", "v2beta1").replace(/\{[^}]*\}/g, uid);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch(baseUrl + own, { method, headers, body: new Uint8Array(body), signal }).then(
        (response) => response.text().then(() => response.status),
        (error: Error) => error.message,
      );
      count("REST", answer);
      const isBad = typeof answer === "string" || (answer >= 500 && answer !== 501);
      return isBad ? `${operation}: ${answer} to ${body.toString("hex")}` : undefined;
    },
  }));
};

const startPlugin = async (count: Count, { baseUrl, token }: { baseUrl: string; token: string }) => {
  const folder = temporaryFolder();
  const lines: string[] = [];
  const engine = await startEngineService((line) => void lines.push(line));
  const child = spawn(process.execPath, ["plugin/main.ts", engine.address], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: folder.path("."),
      IRM_BASE_URL: baseUrl,
      IRM_TOKEN: token,
      PULUMI_BACKEND_URL: "file:///state",
      NODE_COMPILE_CACHE: COMPILED,
    },
  });
  const log = textOf(child.stderr);
  const exited = once(child, "exit");
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const definitions = services.ResourceProviderService as unknown as Record<string, { path: string }>;
  const pathOf = (method: string): string => definitions[method]?.path ?? "";
  const revive = Buffer.from([0x0a, engine.address.length, ...Buffer.from(engine.address)]);
  const targets = Object.entries(requestTypes).map(([method, type]) => ({
    name: pathOf(method),
    send: async (random: Random) => {
      const bytes = malformedMessage(random, type);
      const { code, text } = await call(client, pathOf(method), bytes);
      // A message without a field that is wrong cancels, or attaches another engine.
      if (method === "cancel" || method === "attach") await call(client, pathOf("attach"), revive);
      count("plugin", status[code] as string);
      // UNKNOWN is how a provider refuses. A defect of ours has the stack of an error of JavaScript.
      const isDefect =
        /\b(Type|Range|Reference|Syntax)Error\b/.test(text) && !/^TypeError: ".*" is not a URN/s.test(text);
      const isBad = isDefect || (code !== status.UNKNOWN && BAD.includes(code));
      return isBad ? `${status[code]} ${text} to ${bytes.toString("hex")}` : undefined;
    },
  }));
  return {
    targets,
    end: async (): Promise<string[]> => {
      const problems: string[] = [];
      const { code, text } = await call(client, pathOf("getPluginInfo"), Buffer.alloc(0));
      if (code !== 0) problems.push(`the plugin answers a good call ${status[code]} ${text}`);
      client.close();
      const late = setTimeout(() => child.kill("SIGKILL"), ANSWER_MS);
      child.kill("SIGTERM");
      const [exit, signal] = await exited;
      clearTimeout(late);
      if (exit !== 0)
        problems.push(`the plugin ended with ${exit ?? signal} at SIGTERM: ${(await log).slice(0, 2000)}`);
      engine.close();
      folder.remove();
      return problems;
    },
  };
};
