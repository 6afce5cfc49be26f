// An entry of the package: which Node it starts on, and its folder for compiled code, that only this user can write.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compileCache, supportedNode } from "../../../scripts/build/package.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder: string = testFolder().path(".");
writeFileSync(join(folder, "compile-cache.js"), compileCache());
const show = 'console.log(require("node:module").getCompileCacheDir() ?? "none");';
writeFileSync(join(folder, "entry.js"), `require("./compile-cache.js");\n${show}\nprocess.exit(0);\n`);

const start = (home: string): string => {
  const { PATH } = process.env;
  const env = { PATH, HOME: home, XDG_CACHE_HOME: join(home, "cache"), LOCALAPPDATA: join(home, "cache") };
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, "entry.js")], { env, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
};
const compiledIn = (home: string) => join(home, "cache", "pulumi-irm", "compiled");

it("the cache of compiled code is below the user's own folder for caches", () => {
  const home = join(folder, "own");
  expect(start(home)).toContain(compiledIn(home));
  expect(existsSync(compiledIn(home))).toBe(true);
});

it.skipIf(process.platform === "win32")(
  "the cache of compiled code is not used where others can write into it, or it is a link",
  () => {
    const open = join(folder, "open");
    mkdirSync(compiledIn(open), { recursive: true });
    chmodSync(compiledIn(open), 0o777);
    expect(start(open)).toBe("none");
    const linked = join(folder, "linked");
    mkdirSync(join(linked, "cache", "pulumi-irm"), { recursive: true });
    symlinkSync(folder, compiledIn(linked));
    expect(start(linked)).toBe("none");
  },
);

it("the cache of compiled code is not needed: without a folder the entry starts as well", () => {
  writeFileSync(join(folder, "file"), "");
  expect(start(join(folder, "file"))).toBe("none");
});

it.each([
  ["20.20.2", true],
  ["22.18.0", true],
  ["22.19.0", false],
  ["23.0.0", false],
  ["24.1.0", false],
])("on Node %s, an entry is refused: %s", (version, isRefused) => {
  const run = () => new Function("process", supportedNode("pulumi-irm", ">=22.19"))({ versions: { node: version } });
  if (isRefused) expect(run).toThrow(`pulumi-irm: Node ${version} is too old; Node 22.19 or later is required`);
  else expect(run).not.toThrow();
});

it("the oldest Node is a range that can be read", () => {
  expect(() => supportedNode("a", "22")).toThrow('engines.node must be ">=MAJOR.MINOR", not 22');
});
