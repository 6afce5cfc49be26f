// docs/connect.md: its commands run from top to bottom in a shell, against the reference server and with a stand-in for the vendor's command.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, expect, test, vi } from "vitest";
import { KINDS } from "../../access/export/read.ts";
import { defaultAuthUrl } from "../../client/addresses.ts";
import { BUILT_IN_ROLE_CAPABILITIES, capabilityName, operations, resources } from "../../schema/index.ts";
import { root, startServerProcess, writesOf } from "../harness/api-process.ts";
import { MAIN } from "../support/command.ts";
import { COMPILED } from "../support/compiled.ts";
import { fencesOf } from "../support/document.ts";
import { unusedPort } from "../support/listen.ts";
import { testFolder } from "../support/test-folder.ts";

// Many processes, one after the other.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const page = readFileSync(`${root}docs/connect.md`, "utf8");
const API = "https://console-api.enforce.dev";

const folder = testFolder();
const server = await startServerProcess([]);
afterAll(() => server.stop());

const program = (name: string, script: string): void =>
  chmodSync(folder.write(`bin/${name}`, `#!/bin/sh\n${script}`), 0o755);

/** A terminal of its own, with nothing of the environment of the tests. */
const openShell = (script: string): ChildProcess =>
  spawn("/bin/sh", ["-e", "-c", script], {
    cwd: folder.path("."),
    env: { PATH: `${folder.path("bin")}:${process.env.PATH}`, HOME: folder.path("."), NODE_COMPILE_CACHE: COMPILED },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });

test("the commands of docs/connect.md run from top to bottom, and only read", async () => {
  program("npx", `[ "$1" = pulumi-irm ] && shift && exec '${process.execPath}' '${MAIN}' "$@"`);
  program(
    "chainctl",
    `case "$*" in
      "auth login") touch "$HOME/signed-in" ;;
      "auth token") [ -e "$HOME/signed-in" ] && echo '${server.token}' ;;
      *) echo "unknown command: chainctl $*" >&2; exit 1 ;;
    esac`,
  );
  const fences = fencesOf(page, "sh");
  expect(fences.join("").split(API)).toHaveLength(2);
  const port = await unusedPort();
  const commands = fences.map((fence) => fence.replace(API, server.baseUrl).replaceAll("8080", `${port}`));
  const serving = commands.findIndex((fence) => fence.startsWith("npx pulumi-irm serve"));
  expect([serving > 0, serving < commands.length - 1]).toEqual([true, true]);

  const first = openShell(commands.slice(0, serving + 1).join(""));
  let [printed, errors] = ["", ""];
  first.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  const ended = once(first, "exit");
  const isServing = new Promise<void>((resolve) => {
    first.stdout?.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes(`http://127.0.0.1:${port}`)) resolve();
    });
  });
  await Promise.race([isServing, ended.then(() => Promise.reject(new Error(`${printed}${errors}`)))]);
  try {
    expect(printed).toMatch(/^all \d+ checks passed$/m);
    expect(printed).toContain(`exchange-address  ${server.authUrl} (default)`);
    expect(printed.match(/ at \/: yes, through owner$/gm)).toHaveLength(9);
    expect(existsSync(folder.path("acme/index.ts"))).toBe(true);
    const reads = await server.takeRequests();
    expect(reads.length).toBeGreaterThan(0);
    expect(writesOf(reads)).toEqual([]);

    const second = openShell(commands.slice(serving + 1).join(""));
    const [stdout, stderr, [code]] = await Promise.all([
      text(second.stdout as NonNullable<ChildProcess["stdout"]>),
      text(second.stderr as NonNullable<ChildProcess["stderr"]>),
      once(second, "exit"),
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`service   http://127.0.0.1:${port} (environment IRM_BASE_URL)`);
    expect(stdout).toContain("Access in dev: role_bindings.create");
    expect(await server.takeRequests()).toEqual([]);
  } finally {
    process.kill(-(first.pid as number), "SIGTERM");
    await ended;
  }
});

test("docs/connect.md asks for what the commands list, which viewer has, and for no second address", () => {
  const lists = KINDS.flatMap((kind) => operations[resources[kind].list.operation].capabilities.map(capabilityName));
  const row = page.split("\n").find((line) => line.startsWith("| read:")) ?? "";
  const named = [...row.matchAll(/`([a-z_]+\.list)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...new Set(lists)].toSorted());
  expect([...page.matchAll(/--check ([a-z_.]+)@/g)].map(([, name]) => name)).toEqual(named);
  expect(BUILT_IN_ROLE_CAPABILITIES.viewer).toEqual(expect.arrayContaining(named));
  expect(page).toContain(`\`${defaultAuthUrl(API)}\``);
});
