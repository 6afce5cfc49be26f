// The worst body of each kind, of a megabyte where a request may be as large: processor time that one costs the server, with
// a token and without, beside that of JSON.parse on the same bytes (of a body that is no JSON: on as many bytes of JSON).
// Medians, of one run, of a server in a process of its own. Linux only.
//
//   npm run -s bench:hostile -- [ROUNDS] [NAME]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { type HostileRequest, hostileKinds } from "./hostile-kinds.ts";

const [rounds = 5, only] = [Number(process.argv[2] ?? 5), process.argv[3]];

// What compiles while it runs does so before anything is measured.
const WARM_UP = 5;

const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const flags = ["serve", "--dev", "--json", "--log-level", "error"];
const server = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
const [line] = await once(createInterface({ input: server.stdout }), "line");
const { baseUrl, issuer, organization, token } = JSON.parse(line) as Record<string, string>;
const minted = await fetch(`${issuer}/token`, { method: "POST", body: JSON.stringify({ subject: "owner" }) });
const { token: workloadToken } = (await minted.json()) as { token: string };

const pool = new Pool(baseUrl as string, { connections: 1 });

/** Processor time of all threads of the server so far. */
const serverCpuMs = (): number => {
  const folder = `/proc/${server.pid}/task`;
  const spent = readdirSync(folder).map((thread) =>
    Number(readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return spent.reduce((sum, own) => sum + own, 0) / 1e6;
};

interface Answer {
  status: string;
  bytes: number;
}

const overRest = async (
  { method = "POST", path, type, body }: HostileRequest,
  bearer: string | undefined,
): Promise<Answer> => {
  const headers = { ...(type && { "content-type": type }), ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const answer = await pool.request({ path, method, headers, body: body.length > 0 ? body : null });
  return { status: String(answer.statusCode), bytes: (await answer.body.arrayBuffer()).byteLength };
};

const overGrpc = async ({ path, body }: HostileRequest, bearer: string | undefined): Promise<Answer> => {
  const session = connectHttp2(baseUrl as string);
  session.on("error", () => {});
  const authorization = bearer && { authorization: `Bearer ${bearer}` };
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...authorization,
  });
  let status = "";
  let bytes = 0;
  const heard = (headers: Record<string, unknown>) => {
    status = String(headers["grpc-status"] ?? status);
    bytes += Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  };
  stream
    .on("response", heard)
    .on("trailers", heard)
    .on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([prefix, body]));
  await once(stream, "close");
  session.close();
  return { status, bytes };
};

const send = (request: HostileRequest, bearer: string | undefined) =>
  request.wire === "grpc" ? overGrpc(request, bearer) : overRest(request, bearer);

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

// What the server does after its answer belongs to the request.
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

const cpuOf = async (request: HostileRequest, bearer: string | undefined) => {
  const spent: number[] = [];
  let answer: Answer = { status: "", bytes: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const before = serverCpuMs();
    answer = await send(request, bearer);
    await settled();
    spent.push(serverCpuMs() - before);
  }
  return { cpuMs: median(spent), ...answer };
};

const parseMs = (text: string): number => {
  const spent: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    try {
      JSON.parse(text);
    } catch {
      // Bytes that are no JSON are looked at up to the first that is none.
    }
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return median(spent);
};

const column = (value: string | number, width: number) =>
  String(typeof value === "number" ? value.toFixed(1) : value).padStart(width);

const kinds = hostileKinds(organization as string).filter(({ name }) => !only || name.includes(only));
for (let time = 0; time < WARM_UP; time += 1)
  for (const kind of kinds) await send(kind, kind.isExchange ? workloadToken : token);
console.log(`${"".padEnd(58)}   bytes  JSON.parse  with a token        without   bytes of the answer`);
for (const kind of kinds) {
  const json = parseMs(kind.json);
  const known = await cpuOf(kind, kind.isExchange ? workloadToken : token);
  const unknown = await cpuOf(kind, undefined);
  console.log(
    `${kind.name.padEnd(58)} ${column(String(kind.body.length), 8)} ${column(json, 8)} ms ${column(known.cpuMs, 7)} ms ${known.status.padStart(4)} ${column(unknown.cpuMs, 6)} ms ${unknown.status.padStart(4)} ${column(String(known.bytes), 9)}`,
  );
}
await pool.close();
server.kill("SIGTERM");
