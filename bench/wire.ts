// Reads a group by uid over both wires in turns, with 64 calls in flight against one server process. Prints calls a second and
// latencies; on Linux also the server's processor time per call, which other load and the client's cost do not affect.
//
//   npm run -s bench:wire -- [ROUNDS] [CALLS A ROUND]
import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { Pool } from "undici";
import { methodIn } from "../server/grpc/registry.ts";
import { startServerProcess } from "../test/harness/api-process.ts";
import { countsFrom } from "./counts.ts";
import { cpuMs, median } from "./process-cpu.ts";

const IN_FLIGHT = 64;
const [rounds, calls] = countsFrom("bench:wire -- [ROUNDS] [CALLS A ROUND]", [5, 10_000]);

const server = await startServerProcess(["--log-level", "error"]);
const { baseUrl, organization, token } = server;

const pool = new Pool(baseUrl, { connections: IN_FLIGHT });
const headers = { authorization: `Bearer ${token}` };
const overRest = async (): Promise<void> => {
  const { statusCode, body } = await pool.request({
    path: `/iam/v2beta1/groups/${organization}`,
    method: "GET",
    headers,
  });
  const group = (await body.json()) as { uid?: string };
  if (statusCode !== 200 || group.uid !== organization) throw new Error(`REST answered ${statusCode}`);
};

const { input, output } = methodIn("chainguard.platform.iam.v2beta1.GroupsService", "GetGroup");
const client = new Client(new URL(baseUrl).host, credentials.createInsecure());
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${token}`);
const encode = (uid: string) => Buffer.from(toBinary(input, fromJson(input, { uid })));
const decode = (bytes: Buffer) => fromBinary(output, bytes) as unknown as { uid: string };
const overGrpc = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const path = "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup";
    client.makeUnaryRequest(path, encode, decode, organization, metadata, {}, (error, group) => {
      if (error || group?.uid !== organization) reject(error ?? new Error("gRPC answered another group"));
      else resolve();
    });
  });

const serverCpuMs = (): number => (process.platform === "linux" ? cpuMs(server.pid) : Number.NaN);

/** Calls a second, and the median and 99th percentile of their latency. */
const measure = async (call: () => Promise<void>, count: number) => {
  const took: number[] = [];
  let left = count;
  const cpuBefore = serverCpuMs();
  const start = performance.now();
  const worker = async () => {
    for (; left > 0; ) {
      left -= 1;
      const began = performance.now();
      await call();
      took.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const seconds = (performance.now() - start) / 1000;
  const sorted = took.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] as number;
  return { perSecond: count / seconds, p50: at(0.5), p99: at(0.99), cpuMs: (serverCpuMs() - cpuBefore) / count };
};

type Measured = Awaited<ReturnType<typeof measure>>;

const textOf = ({ perSecond, p50, p99, cpuMs }: Measured) =>
  `${Math.round(perSecond)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, server CPU ${cpuMs.toFixed(2)} ms`;

/** The median of each figure. */
const typical = (measured: Measured[]): Measured => ({
  perSecond: median(measured.map(({ perSecond }) => perSecond)),
  p50: median(measured.map(({ p50 }) => p50)),
  p99: median(measured.map(({ p99 }) => p99)),
  cpuMs: median(measured.map(({ cpuMs }) => cpuMs)),
});

for (const call of [overRest, overGrpc]) await measure(call, 2 * calls);
const measured: { rest: Measured; grpc: Measured }[] = [];
for (let round = 1; round <= rounds; round += 1) {
  const figures = { rest: await measure(overRest, calls), grpc: await measure(overGrpc, calls) };
  measured.push(figures);
  console.log(`round ${round}: REST ${textOf(figures.rest)} | gRPC ${textOf(figures.grpc)}`);
}
const [rest, grpc] = [typical(measured.map((own) => own.rest)), typical(measured.map((own) => own.grpc))];
const ratio = median(measured.map((own) => own.grpc.perSecond / own.rest.perSecond));
console.log(
  `median of ${rounds}: REST ${textOf(rest)} | gRPC ${textOf(grpc)} | gRPC is ${ratio.toFixed(2)} times REST`,
);

client.close();
await pool.close();
await server.stop();
