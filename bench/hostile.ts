// The worst body of each kind: its processor time in the server, with and without a token. It is compared with a bare Node
// server that only parses the bytes, and with JSON.parse alone (for a body that is not JSON: as many bytes of JSON). Prints
// medians. Each server is a separate process. Linux only.
//
//   npm run -s bench:hostile -- [ROUNDS] [NAME]             bodies of at most a megabyte; judges the ratio of 100 kB and more
//   npm run -s bench:hostile -- --double [ROUNDS] [NAME]    200, 400 and 800 kB: how much each doubling adds to the cost
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { mintDevToken } from "../cli/token.ts";
import { startServerProcess } from "../test/harness/api-process.ts";
import { countsFrom } from "./counts.ts";
import { type HostileKind, hostileKinds } from "./hostile-kinds.ts";
import { type Answer, createSender, type Sender } from "./hostile-send.ts";
import { cpuOf, median } from "./process-cpu.ts";

const isDouble = process.argv[2] === "--double";
const [count = "5", only] = process.argv.slice(isDouble ? 3 : 2);
const [rounds] = countsFrom("bench:hostile -- [--double] [ROUNDS] [NAME]", [5], [count]);

const JUDGED_FROM = 100_000;
const RATIO_MAX = 2;
const SIZES = [200_000, 400_000, 800_000];
const GROWTH_MAX = 2.3;

// Warms up the compiler before measuring.
const WARM_UP = 5;

const server = await startServerProcess(["--log-level", "error"]);
const { baseUrl, issuer, organization, token } = server;
const workloadToken = await mintDevToken(issuer, { subject: "owner" });
const bare = spawn(process.execPath, [fileURLToPath(new URL("./bare-server.ts", import.meta.url))], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [port] = await once(createInterface({ input: bare.stdout }), "line");

const ours = createSender(baseUrl);
const reference = createSender(`http://127.0.0.1:${port}`);

const bearerFor = ({ isExchange }: HostileKind) => (isExchange ? workloadToken : token);
const sendBare = ({ json, inBytes = false }: HostileKind): Promise<Answer> =>
  reference.send({ wire: "rest", path: "/", body: Buffer.from(json), inBytes });

const measure = async ({ pid }: { pid?: number | undefined }, work: () => ReturnType<Sender["send"]>) => {
  const spent: number[] = [];
  let answer: Answer = { status: "", bytes: 0 };
  for (let round = 0; round < rounds; round += 1)
    spent.push(
      await cpuOf(pid as number, async () => {
        answer = await work();
      }),
    );
  return { cpuMs: median(spent), ...answer };
};

const parseMs = (text: string): number => {
  const spent: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    try {
      JSON.parse(text);
    } catch {
      // JSON.parse stops at the first byte that is not JSON.
    }
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return median(spent);
};

const kindsOf = (size?: number) => hostileKinds(organization, size).filter(({ name }) => !only || name.includes(only));

const column = (value: string | number, width: number) =>
  String(typeof value === "number" ? value.toFixed(1) : value).padStart(width);

const compare = async () => {
  const kinds = kindsOf();
  for (let time = 0; time < WARM_UP; time += 1)
    for (const kind of kinds) {
      await ours.send(kind, bearerFor(kind));
      await sendBare(kind);
    }
  console.log(`${"".padEnd(52)}    bytes  with a token  bare server  JSON.parse  ours/bare    without  bytes answered`);
  for (const kind of kinds) {
    const known = await measure(server, () => ours.send(kind, bearerFor(kind)));
    const plain = await measure(bare, () => sendBare(kind));
    const unknown = await measure(server, () => ours.send(kind));
    const ratio = known.cpuMs / plain.cpuMs;
    const isJudged = kind.json.length >= JUDGED_FROM;
    const verdict = isJudged && ratio > RATIO_MAX ? `  above ${RATIO_MAX}` : "";
    console.log(
      `${kind.name.padEnd(52)} ${column(String(kind.body.length), 8)} ${column(known.cpuMs, 9)} ${known.status.padStart(3)} ${column(plain.cpuMs, 12)} ${column(parseMs(kind.json), 11)} ${column(isJudged ? ratio : "-", 10)} ${column(unknown.cpuMs, 6)} ${unknown.status.padStart(3)} ${column(String(known.bytes), 15)}${verdict}`,
    );
  }
};

const double = async () => {
  const [first = [], ...larger] = SIZES.map(kindsOf);
  for (let time = 0; time < WARM_UP; time += 1)
    for (const kind of [first, ...larger].flat()) await ours.send(kind, bearerFor(kind));
  console.log(`${"".padEnd(52)}  bytes  with a token (ms)        growth`);
  for (const [i, smallest] of first.entries()) {
    const kinds = [smallest, ...larger.map((kinds) => kinds[i] as HostileKind)];
    // The sizes take turns, so that other load on the machine affects each alike.
    const spent = kinds.map((): number[] => []);
    for (let round = 0; round < rounds; round += 1)
      for (const [size, kind] of kinds.entries())
        spent[size]?.push(await cpuOf(server.pid, () => ours.send(kind, bearerFor(kind))));
    const costs = spent.map(median);
    const growth = costs.slice(1).map((cost, size) => cost / (costs[size] as number));
    const verdict = growth.some((factor) => factor > GROWTH_MAX) ? `  above ${GROWTH_MAX}` : "";
    console.log(
      `${smallest.name.padEnd(52)} ${column(String(kinds.at(-1)?.body.length), 6)} ${costs.map((cost) => column(cost, 7)).join("")} ${growth.map((factor) => column(factor, 7)).join("")}${verdict}`,
    );
  }
};

await (isDouble ? double() : compare());
await Promise.all([ours.close(), reference.close()]);
await server.stop();
bare.kill("SIGTERM");
