import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cacheFolder } from "../../../scripts/base/cache-folder.mjs";
import { findCachedEngine, storeEngine, takeCachedPieces } from "../../../scripts/engine/cache.mjs";
import { findEngine } from "../../../scripts/engine/engine.mjs";
import { engineVersion, languagesEdition, nodejsEdition } from "../../../scripts/engine/version.mjs";
import { fakeEngine } from "../fake-engine.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-irm-engine-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** `/bin` stays on the PATH: the fake programs are shell scripts. */
function environment(...path: string[]) {
  return { PATH: [...path, "/bin"].join(delimiter), XDG_CACHE_HOME: join(folder, "cache") };
}
function cachedEngine({ name, pieces } = nodejsEdition): string {
  return fakeEngine(join(folder, "cache", "pulumi-irm", "engine", name), engineVersion, pieces);
}

describe("the engine", () => {
  test("on the PATH is used before the cached one, and nothing is added to the PATH", async () => {
    cachedEngine();
    const onPath = fakeEngine(join(folder, "bin"), "3.200.0");
    expect(await findEngine(environment(onPath))).toEqual({ engine: {}, tried: [] });
  });

  test("in the cache is used when the one on the PATH is too old", async () => {
    const cached = cachedEngine();
    const onPath = fakeEngine(join(folder, "bin"), "3.199.9");
    expect(await findEngine(environment(onPath))).toEqual({
      engine: { folder: cached },
      tried: [`pulumi on the PATH: ${onPath}/pulumi is v3.199.9, older than 3.200.0`],
    });
  });

  test("on the PATH needs a language host for Node.js", async () => {
    const onPath = fakeEngine(join(folder, "bin"), "3.250.0", ["pulumi"]);
    const { engine, tried } = await findEngine(environment(onPath));
    expect(engine).toBeUndefined();
    expect(tried[0]).toBe(
      `pulumi on the PATH: ${onPath}/pulumi has no pulumi-language-nodejs beside it or on the PATH`,
    );
  });

  test("may have its language host elsewhere on the PATH", async () => {
    const onPath = fakeEngine(join(folder, "bin"), "3.250.0", ["pulumi"]);
    const host = fakeEngine(join(folder, "host"), "3.250.0", ["pulumi-language-nodejs"]);
    expect((await findEngine(environment(onPath, host))).engine).toEqual({});
  });

  test("may have its language host beside the file that a link on the PATH points to", async () => {
    const installed = fakeEngine(join(folder, "installed"), "3.250.0");
    const onPath = fakeEngine(join(folder, "bin"), "", []);
    symlinkSync(join(installed, "pulumi"), join(onPath, "pulumi"));
    expect((await findEngine(environment(onPath))).engine).toEqual({});
  });

  test("that is missing gives a line for each place", async () => {
    const { engine, tried } = await findEngine(environment());
    expect(engine).toBeUndefined();
    expect(tried).toEqual([
      "pulumi on the PATH: not found",
      `the cache: ${folder}/cache/pulumi-irm/engine/${engineVersion} has no pulumi`,
    ]);
  });
});

describe("the engine with all language hosts", () => {
  test("is the one on the PATH only if that one has them", async () => {
    const cached = cachedEngine(languagesEdition);
    const hosts = ["pulumi", "pulumi-language-nodejs", "pulumi-language-yaml", "pulumi-language-python"];
    const complete = fakeEngine(join(folder, "complete"), "3.250.0", hosts);
    expect(await findEngine(environment(complete), languagesEdition)).toEqual({ engine: {}, tried: [] });

    const onPath = fakeEngine(join(folder, "bin"), "3.250.0", hosts.slice(0, -1));
    expect(await findEngine(environment(onPath), languagesEdition)).toEqual({
      engine: { folder: cached },
      tried: [`pulumi on the PATH: ${onPath}/pulumi has no pulumi-language-python beside it or on the PATH`],
    });
  });

  test("takes the pieces of the cached one for TypeScript", async () => {
    expect(await takeCachedPieces(folder, environment())).toEqual([]);
    const cached = cachedEngine();
    const taken = mkdtempSync(join(folder, "taken-"));
    expect(await takeCachedPieces(taken, environment())).toEqual(nodejsEdition.pieces);
    expect(readdirSync(taken)).toEqual(readdirSync(cached));
    rmSync(cached, { recursive: true });
    expect(readFileSync(join(taken, "pulumi"), "utf8")).toContain(engineVersion);
  });
});

describe("the cache of engines", () => {
  test("does not count a folder in which a piece is missing", async () => {
    const cached = cachedEngine();
    rmSync(join(cached, "pulumi-resource-pulumi-nodejs"));
    const { problem } = await findCachedEngine(environment());
    expect(problem).toBe(`the cache: ${cached} has no pulumi-resource-pulumi-nodejs`);
  });

  test("keeps nothing of an engine that could not be completed", async () => {
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
  ])("%j on %s is %s: %s", (env, platform, expected) => {
    expect(cacheFolder(env, platform)).toBe(expected);
  });
});
