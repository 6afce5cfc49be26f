// Measures `irm check` on a policy of 500 groups, 1,000 identities and 10,000 bindings: the wall time, processor time and
// memory of a whole process, from its start to its exit.
//
//   npm run -s bench:policy -- [ROUNDS]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LARGE_POLICY, policyText } from "../test/support/policy-text.ts";

const [rounds = 5] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "irm-bench-"));
const file = join(folder, "access.yaml");
const text = policyText(LARGE_POLICY);
writeFileSync(file, text);

// Its last line is what the process used: milliseconds of processor time, and kilobytes of memory at most.
const report = `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process._rawDebug(JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, memoryMb: maxRSS / 1024 }));
});`;

const runOnce = async () => {
  const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
  const start = performance.now();
  const args = ["--import", `data:text/javascript,${encodeURIComponent(report)}`, main, "check", file];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`irm check ended with ${code}: ${stderr}`);
  const used = JSON.parse(stderr.trim().split("\n").at(-1) as string) as { cpuMs: number; memoryMb: number };
  return { wallMs: performance.now() - start, ...used };
};

const { groups, identities, bindings } = LARGE_POLICY;
console.log(`${groups} groups, ${identities} identities, ${bindings} bindings: ${(text.length / 1024).toFixed(0)} KiB`);
for (let round = 1; round <= rounds; round += 1) {
  const { wallMs, cpuMs, memoryMb } = await runOnce();
  console.log(`irm check: ${wallMs.toFixed(0)} ms, processor ${cpuMs.toFixed(0)} ms, memory ${memoryMb.toFixed(0)} MB`);
}
rmSync(folder, { recursive: true });
