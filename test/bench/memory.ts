// Measures the memory of a process that copies an organization of 500 groups, 1,000 identities and 10,000 role bindings and serves the copy,
// beyond what its modules take. Node collects garbage late where there is room for it, so the process has little.
//
//   npm run -s bench:memory
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startServerProcess } from "../harness/api-process.ts";
import { temporaryFolder } from "../support/command.ts";

const ROUNDS = 3;

/** JSON is YAML. Each identity has ten role bindings. */
const seed = (): string => {
  const groups = Array.from({ length: 500 }, (_, i) => ({ name: `team-${i}` }));
  const identities = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ name: `release-${i}`, group: `team-${i % 500}` },
    claimMatch: { issuer: "https://issuer.example.com", subject: `release-${i}` },
  }));
  const bindings = identities.flatMap(({ name, group }, i) =>
    Array.from({ length: 10 }, (_, n) => ({
      ...{ group: `team-${(i + n) % 500}`, identity: `${group}/${name}` },
      role: n % 2 === 0 ? "viewer" : "registry.push",
    })),
  );
  return JSON.stringify({ organization: { name: "large" }, groups, identities, bindings });
};

// The last line of stderr is the most memory that the process has had.
const report = `process.on("exit", () => process._rawDebug(process.resourceUsage().maxRSS / 1024));`;
const twin = fileURLToPath(new URL("./twin.ts", import.meta.url));

const megabytes = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const hook = `data:text/javascript,${encodeURIComponent(report)}`;
  const child = spawn(process.execPath, ["--max-semi-space-size=2", "--import", hook, twin, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(`the process ended with ${code}: ${stderr}`);
  return Number(stderr.trim().split("\n").at(-1));
};

const medianOf = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await megabytes(args, env));
  return all.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number;
};

const folder = temporaryFolder();
const server = await startServerProcess(["--seed", folder.write("seed.yaml", seed()), "--log-level", "error"]);
try {
  const env = { IRM_BASE_URL: server.baseUrl, IRM_TOKEN: server.token };
  const modules = await medianOf([], env);
  const cases = { served: [server.baseUrl], "changed, read, and asked as each identity": [server.baseUrl, "review"] };
  for (const [title, args] of Object.entries(cases))
    console.log(`a copy, ${title}: ${Math.round((await medianOf(args, env)) - modules)} MB`);
} finally {
  await server.stop();
  folder.remove();
}
