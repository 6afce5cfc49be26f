// Schemathesis where it cannot be had: the reason, in a sentence, and nothing half made. Python is played by a script.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../support/command.ts";
import { installSchemathesis } from "./schemathesis-install.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(folder.path("bin"));
});
afterEach(() => folder.remove());

const install = (path = "/usr/bin:/bin") =>
  installSchemathesis({ PATH: [folder.path("bin"), path].join(delimiter), XDG_CACHE_HOME: folder.path("cache") });
const cachedFiles = () => {
  const cache = folder.path("cache/pulumi-irm");
  return existsSync(cache) ? readdirSync(cache).filter((name) => name !== "lock") : [];
};

/** `pip`: what the interpreter of the virtual environment does. */
const playPython = (version: string, pip: string) => {
  const environment = `mkdir -p "$3/bin" && printf '%s\\n' '#!/bin/sh' '${pip}' > "$3/bin/python" && chmod +x "$3/bin/python"`;
  const script = `#!/bin/sh\nif [ "$1" = -c ]; then echo "${version}"; else ${environment}; fi\n`;
  writeFileSync(folder.path("bin/python3"), script);
  chmodSync(folder.path("bin/python3"), 0o755);
};

test("no Python at all is the reason", async () => {
  expect(await install(folder.path("nothing"))).toEqual({ reason: "there is no Python 3.10 or later with venv" });
  expect(cachedFiles()).toEqual([]);
});

test.each(["3 9", "2 7", "4 0", ""])("Python %j is the reason", async (version) => {
  playPython(version, "exit 0");
  expect(await install()).toEqual({ reason: "there is no Python 3.10 or later with venv" });
  expect(cachedFiles()).toEqual([]);
});

test("what pip said last is the reason, and the environment is taken away again", async () => {
  playPython("3 10", "echo first; echo ERROR: no matching distribution; exit 1");
  const reason = expect.stringMatching(/^Schemathesis [\d.]+ could not be installed: ERROR: no matching distribution$/);
  expect(await install()).toEqual({ reason });
  expect(cachedFiles()).toEqual([]);
});

test("it is installed once", async () => {
  playPython("3 12", "exit 0");
  const first = await install();
  expect(first).toEqual({ command: expect.stringMatching(/\/schemathesis-[\d.]+\/bin\/schemathesis$/) });
  writeFileSync(folder.path("bin/python3"), "#!/bin/sh\nexit 1\n");
  expect(await install()).toEqual(first);
});

test("what a killed installation has left is replaced", async () => {
  playPython("3 12", "exit 0");
  const { command = "" } = await install();
  const environment = join(command, "..", "..");
  rmSync(join(environment, "complete"));
  writeFileSync(join(environment, "half of it"), "");
  expect(await install()).toEqual({ command });
  expect(readdirSync(environment).sort()).toEqual(["bin", "complete"]);
});
