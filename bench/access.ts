// Measures `irm check`, `irm access` and the copy that a review runs on, with an organization of 500 groups, 1,000 identities and 10,000
// bindings, against a server process: the wall time, processor time and memory of a whole process, from its start to its exit, and the size
// of what it prints.
//
//   npm run -s bench:access -- [ROUNDS]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { readLive } from "../access/graph/live.ts";
import { clientWith } from "../client/client.ts";
import { systemClock } from "../client/clock.ts";
import { readConfig } from "../client/credentials.ts";
import { redactor } from "../client/redact.ts";
import { systemTransport } from "../client/transport.ts";
import { startServerProcess } from "../test/harness/api-process.ts";
import { LARGE_POLICY, policyText } from "../test/support/policy-text.ts";
import { countsFrom } from "./counts.ts";

const [rounds] = countsFrom("bench:access -- [ROUNDS]", [3]);
const folder = mkdtempSync(join(tmpdir(), "irm-bench-"));
const path = (name: string): string => join(folder, name);

interface PolicyDocument {
  organization: string;
  groups: Record<string, { groups?: Record<string, unknown> }>;
  identities: Record<string, { in: string; github: { repository: string; branch: string } }>;
  roles: Record<string, { can: string[] }>;
  access: Record<string, Record<string, string[]>>;
}

/** The organization that a policy describes, as a seed: JSON is YAML. */
const seedFrom = ({ organization, groups, identities, roles, access }: PolicyDocument): string => {
  const issuer = "https://token.actions.githubusercontent.com";
  const pathOf = (name: string): string => `${identities[name]?.in}/${name}`;
  return JSON.stringify({
    organization: { name: organization },
    groups: Object.entries(groups).flatMap(([team, { groups: areas = {} }]) => [
      { name: team },
      ...Object.keys(areas).map((name) => ({ name, parent: team })),
    ]),
    roles: Object.entries(roles).map(([name, { can }]) => ({ name, capabilities: can })),
    identities: Object.entries(identities).map(([name, { in: group, github }]) => ({
      name,
      group,
      claimMatch: { issuer, subject: `repo:${github.repository}:ref:refs/heads/${github.branch}` },
    })),
    bindings: Object.entries(access).flatMap(([group, rows]) =>
      Object.entries(rows).flatMap(([role, members]) =>
        members.map((name) => ({ group, role, identity: pathOf(name) })),
      ),
    ),
  });
};

// The last line of stderr is what the process used: processor time, and memory at most.
const report = `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process._rawDebug(JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, memoryMb: maxRSS / 1024 }));
});`;
const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const twinScript = fileURLToPath(new URL("./twin.ts", import.meta.url));

const runOnce = async (args: readonly string[], env: NodeJS.ProcessEnv, script = main, own: readonly string[] = []) => {
  const start = performance.now();
  const flags = [...own, "--import", `data:text/javascript,${encodeURIComponent(report)}`, script, ...args];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const [out, err]: Buffer[][] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out?.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err?.push(chunk));
  const [code] = await once(child, "close");
  const stderr = Buffer.concat(err ?? []).toString();
  if (code !== 0) throw new Error(`irm ${args.join(" ")} ended with ${code}: ${stderr}`);
  const used = JSON.parse(stderr.trim().split("\n").at(-1) as string) as { cpuMs: number; memoryMb: number };
  return { wallMs: performance.now() - start, bytes: Buffer.concat(out ?? []).length, ...used };
};

// Node collects garbage late where there is room for it: with less, a process has little more than what it holds.
const LITTLE_ROOM = ["--max-semi-space-size=2"];

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

const measure = async (
  title: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  script = main,
  own: readonly string[] = [],
): Promise<void> => {
  for (let round = 1; round <= rounds; round += 1) {
    const { wallMs, cpuMs, memoryMb, bytes } = await runOnce(args, env, script, own);
    const figures = [`${wallMs.toFixed(0)} ms`, `processor ${cpuMs.toFixed(0)} ms`, `memory ${memoryMb.toFixed(0)} MB`];
    console.log(`${title}: ${figures.join(", ")}, printed ${kilobytes(bytes)}`);
  }
};

const text = policyText(LARGE_POLICY);
writeFileSync(path("seed.yaml"), seedFrom(parse(text) as PolicyDocument));
const server = await startServerProcess(["--seed", path("seed.yaml"), "--log-level", "error"]);
try {
  const env = { IRM_BASE_URL: server.baseUrl, IRM_TOKEN: server.token };
  const config = readConfig(undefined, env);
  const parts = { config, env, clock: systemClock, redactor: redactor(), transport: systemTransport() };
  const { graph } = await readLive(clientWith(parts));
  const { groups, identities, bindings } = graph;
  console.log(`${groups.size} groups, ${identities.size} identities, ${bindings.size} bindings`);

  writeFileSync(path("access.yaml"), text);
  await measure("irm --version, to compare", ["--version"], env);
  for (const [what, flags] of Object.entries({ "": [], ", with little room for garbage": LITTLE_ROOM })) {
    await measure(`the modules of a twin${what}, to compare`, [], env, twinScript, flags);
    await measure(`a twin${what}`, [server.baseUrl], env, twinScript, flags);
    await measure(
      `a twin whose bindings change, read and asked${what}`,
      [server.baseUrl, "review"],
      env,
      twinScript,
      flags,
    );
  }
  await measure("irm check of the policy", ["check", path("access.yaml")], env);
  await measure(
    "irm access --capability tag.create",
    ["access", "--capability", "tag.create", "--format", "json"],
    env,
  );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
