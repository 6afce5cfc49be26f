// Which engine is found: on the PATH, or in the cache.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { cacheFolder } from "../../../scripts/base/cache-folder.mjs";
import { findCachedEngine, storeEngine, takeCachedPieces } from "../../../scripts/engine/cache.mjs";
import { findEngine } from "../../../scripts/engine/engine.mjs";
import { downloadEngine } from "../../../scripts/engine/release.mjs";
import {
  engineVersion,
  isAtLeast,
  languagesEdition,
  nodejsEdition,
  parseVersion,
} from "../../../scripts/engine/version.mjs";
import { type TemporaryFolder, temporaryFolder } from "../../support/command.ts";
import { listen } from "../../support/listen.ts";
import { fakeEngine } from "../fake-engine.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  return folder.remove;
});

/** `/bin` stays on the PATH: the fake programs are shell scripts. */
const environment = (...path: string[]) => ({
  PATH: [...path, "/bin"].join(delimiter),
  XDG_CACHE_HOME: folder.path("cache"),
});
const cachedEngine = ({ name, pieces } = nodejsEdition): string =>
  fakeEngine(folder.path(join("cache", "pulumi-irm", "engine", name)), engineVersion, pieces);
const engineAt = (name: string, version: string, pieces?: string[]): string =>
  fakeEngine(folder.path(name), version, pieces);

test("the engine on the PATH is used before the cached one, and nothing is added to the PATH", async () => {
  cachedEngine();
  expect(await findEngine(environment(engineAt("bin", "3.200.0")))).toEqual({ engine: {}, tried: [] });
});

test("the engine in the cache is used when the one on the PATH is too old", async () => {
  const [cached, onPath] = [cachedEngine(), engineAt("bin", "3.199.9")];
  expect(await findEngine(environment(onPath))).toEqual({
    engine: { folder: cached },
    tried: [`pulumi on the PATH: ${onPath}/pulumi is v3.199.9, older than 3.200.0`],
  });
});

test("the engine has its language host beside it, on the PATH, or beside the target of a link", async () => {
  const onPath = engineAt("bin", "3.250.0", ["pulumi"]);
  const { engine, tried } = await findEngine(environment(onPath));
  const problem = "has no pulumi-language-nodejs beside it or on the PATH";
  expect([engine, tried[0]]).toEqual([undefined, `pulumi on the PATH: ${onPath}/pulumi ${problem}`]);
  const host = engineAt("host", "3.250.0", ["pulumi-language-nodejs"]);
  expect((await findEngine(environment(onPath, host))).engine).toEqual({});
  const links = engineAt("links", "", []);
  symlinkSync(join(engineAt("installed", "3.250.0"), "pulumi"), join(links, "pulumi"));
  expect((await findEngine(environment(links))).engine).toEqual({});
});

test("the engine that is missing gives a line for each place", async () => {
  const { engine, tried } = await findEngine(environment());
  const cache = `the cache: ${folder.path("cache")}/pulumi-irm/engine/${engineVersion} has no pulumi`;
  expect([engine, tried]).toEqual([undefined, ["pulumi on the PATH: not found", cache]]);
});

test("the engine with all language hosts is the one on the PATH only if that one has them", async () => {
  const cached = cachedEngine(languagesEdition);
  const hosts = ["pulumi", "pulumi-language-nodejs", "pulumi-language-yaml", "pulumi-language-python"];
  const complete = engineAt("complete", "3.250.0", hosts);
  expect(await findEngine(environment(complete), languagesEdition)).toEqual({ engine: {}, tried: [] });
  const onPath = engineAt("bin", "3.250.0", hosts.slice(0, -1));
  expect(await findEngine(environment(onPath), languagesEdition)).toEqual({
    engine: { folder: cached },
    tried: [`pulumi on the PATH: ${onPath}/pulumi has no pulumi-language-python beside it or on the PATH`],
  });
});

test("the cache of engines gives the pieces of the TypeScript engine to that of all languages", async () => {
  expect(await takeCachedPieces(folder.path("."), environment())).toEqual([]);
  const [cached, taken] = [cachedEngine(), engineAt("taken", "", [])];
  expect(await takeCachedPieces(taken, environment())).toEqual(nodejsEdition.pieces);
  expect(readdirSync(taken)).toEqual(readdirSync(cached));
  rmSync(cached, { recursive: true });
  expect(readFileSync(join(taken, "pulumi"), "utf8")).toContain(engineVersion);
});

test("the cache of engines does not count a folder in which a piece is missing", async () => {
  const cached = cachedEngine();
  rmSync(join(cached, "pulumi-resource-pulumi-nodejs"));
  const { problem } = await findCachedEngine(environment());
  expect(problem).toBe(`the cache: ${cached} has no pulumi-resource-pulumi-nodejs`);
});

test("the cache of engines keeps nothing of an engine that could not be completed", async () => {
  const half = storeEngine(async (staging) => {
    fakeEngine(staging, engineVersion, ["pulumi"]);
    throw new Error("the network went away");
  }, environment());
  await expect(half).rejects.toThrow("the network went away");
  expect((await findCachedEngine(environment())).folder).toBeUndefined();
});

test.each<[env: NodeJS.ProcessEnv, platform: NodeJS.Platform, expected: string, reason: string]>([
  [{ HOME: "/home/u" }, "linux", "/home/u/.cache/pulumi-irm", "the convention on Linux"],
  [{ HOME: "/Users/u" }, "darwin", "/Users/u/Library/Caches/pulumi-irm", "the convention on macOS"],
  [{ HOME: "/home/u", XDG_CACHE_HOME: "/c" }, "linux", "/c/pulumi-irm", "configured"],
  [{ HOME: "/home/u", XDG_CACHE_HOME: "c" }, "linux", "/home/u/.cache/pulumi-irm", "a relative one is ignored"],
])("the cache of engines %j on %s is %s: %s", (env, platform, expected) => {
  expect(cacheFolder(env, platform)).toBe(expected);
});

test.each([
  ["v3.200.0\n", true, "equal, as it is printed"],
  ["3.1000.0", true, "numbers are not compared as text"],
  ["3.99.9", false, "numbers are not compared as text"],
  ["2.300.0", false, "a smaller first number decides"],
  ["v3.260.0-alpha.1717428624+dirty", true, "a local build counts as its release"],
])("the version %j is at least 3.200.0: %s, since %s", (version, expected) => {
  expect(isAtLeast(version, "3.200.0")).toBe(expected);
});

test("a version has three numbers", () => {
  expect(["v3.260.0-alpha.1717428624+dirty", "3.259"].map(parseVersion)).toEqual([[3, 260, 0], undefined]);
});

const name = `pulumi-v${engineVersion}-linux-x64.tar.gz`;
const pieces = ["pulumi", "pulumi-language-nodejs"];
const linux = { platform: "linux", arch: "x64" } as const;
let target: string;
let files: Record<string, string | Buffer>;
let url: string;

beforeEach(async () => {
  target = engineAt("target", "", []);
  engineAt("pulumi", engineVersion, [...pieces, "pulumi-language-go"]);
  execFileSync("tar", ["-czf", folder.path("release.tar.gz"), "-C", folder.path("."), "pulumi"]);
  const archive = readFileSync(folder.path("release.tar.gz"));
  files = { [`/${name}`]: archive, "/SHA512SUMS": sums(archive) };

  const server = createServer((request, response) => {
    const body = files[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  url = `http://127.0.0.1:${await listen(server)}`;
  return () => void server.close();
});

function sums(content: Buffer): string {
  const hash = createHash("sha512").update(content).digest("hex");
  return `${"0".repeat(128)}  pulumi-v${engineVersion}-darwin-x64.tar.gz\n${hash}  ${name}\n`;
}

test("the official release is unpacked when its checksum is the published one", async () => {
  await downloadEngine(target, pieces, { url, ...linux });
  expect(execFileSync(join(target, "pulumi"), { encoding: "utf8" })).toBe(`v${engineVersion}\n`);
  expect(existsSync(join(target, "pulumi-language-nodejs"))).toBe(true);
  expect(existsSync(join(target, "pulumi-language-go"))).toBe(false);
  expect(existsSync(join(target, name))).toBe(false);
});

test("the official release is not unpacked when its checksum is another one", async () => {
  files["/SHA512SUMS"] = sums(Buffer.from("another archive"));
  await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(/has SHA-512 .* it was not unpacked/);
  expect(existsSync(join(target, "pulumi"))).toBe(false);
});

test("the official release is not accepted without a published checksum", async () => {
  files["/SHA512SUMS"] = "";
  await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(
    `${url}/SHA512SUMS does not list ${name}`,
  );
});

test("the official release that does not exist is an error with the address and the answer", async () => {
  files = {};
  await expect(downloadEngine(target, pieces, { url, ...linux })).rejects.toThrow(`${url}/SHA512SUMS: HTTP 404`);
});
