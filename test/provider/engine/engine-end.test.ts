// A process that the engine started ends with the engine and only then; work under way finishes first.
// test/lifecycle/interrupt.test.ts proves it with a real engine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { engineOf, untilEnd } from "../../../provider/engine/engine-end.ts";
import type { Methods } from "../../../provider/engine/methods.ts";
import { kindRecords } from "../../../provider/kind/index.ts";

it.each<[string, string[], { host: string; port: number } | undefined]>([
  [
    "the SDK's dynamic provider",
    ["/app/node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js", "127.0.0.1:41233"],
    { host: "127.0.0.1", port: 41233 },
  ],
  [
    "the same on Windows",
    ["C:\\app\\node_modules\\@pulumi\\pulumi\\cmd\\dynamic-provider\\index.js", "127.0.0.1:1"],
    { host: "127.0.0.1", port: 1 },
  ],
  ["the same without an address", ["/app/node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js"], undefined],
  ["a test", ["/app/node_modules/vitest/vitest.mjs", "127.0.0.1:41233"], undefined],
  ["a program", ["/app/node_modules/@pulumi/pulumi/cmd/run/index.js", "127.0.0.1:41233"], undefined],
  ["a REPL", [], undefined],
])("the process of the engine %s", (_what, args, engine) => {
  expect(engineOf(["/usr/bin/node", ...args])).toEqual(engine);
});

/** Methods whose creates are `create`, until the engine ends; `exits` counts the ends of the process. */
const endingWith = (create: Methods["create"]) => {
  const exits: number[] = [];
  const end = Promise.withResolvers<void>();
  const methods = { group: { create } as Methods, role: { create } as Methods };
  const kinds = untilEnd(methods, end.promise, () => exits.push(1));
  return { kinds, exits, end: () => Promise.resolve(end.resolve()).then(() => end.promise) };
};
const created = { id: "x", outs: {} };

describe("the end of the engine", () => {
  it("ends the process at once when nothing is under way, and the end of a call does not", async () => {
    const { kinds, exits, end } = endingWith(async () => created);
    await kinds.group.create({});
    expect(exits).toEqual([]);
    await end();
    expect(exits).toEqual([1]);
  });

  it("waits for all work under way, of every kind, including failures", async () => {
    const calls = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
    const waiting = [...calls];
    const { kinds, exits, end } = endingWith(() => waiting.shift()?.promise as Promise<never>);
    const [first, second] = [kinds.group.create({}), kinds.role.create({})];
    await end();
    calls[0]?.resolve(created as never);
    expect(await first).toEqual(created);
    expect(exits).toEqual([]);
    calls[1]?.reject(new Error("no answer"));
    await expect(second).rejects.toThrow("no answer");
    expect(exits).toEqual([1]);
  });
});

describe("a process of the dynamic provider's name", async () => {
  const folder: string = mkdtempSync(join(tmpdir(), "irm-engine-"));
  mkdirSync(join(folder, "cmd", "dynamic-provider"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const handler = new URL("../../../provider/engine/handler.ts", import.meta.url);
  // The SDK's gRPC server keeps the process alive.
  const text = `const { kinds } = await import(${JSON.stringify(handler.href)});
setInterval(() => undefined, 1_000);
console.log(Object.keys(kinds).join());\n`;
  writeFileSync(join(folder, "cmd", "dynamic-provider", "index.js"), text);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("stays while the engine listens, even without stdin, and ends when the engine stops", async () => {
    const engine = createServer((socket) => socket.on("error", () => undefined));
    engine.listen(0, "127.0.0.1");
    await once(engine, "listening");
    const address = `127.0.0.1:${(engine.address() as AddressInfo).port}`;
    const script = join(folder, "cmd", "dynamic-provider", "index.js");
    const child = spawn(process.execPath, [script, address], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      expect(line.toString().trim()).toBe([...Object.keys(kindRecords), "roleBindingSet"].join());
      child.stdin.end();
      // It has checked more than once.
      await once(engine, "connection");
      await once(engine, "connection");
      expect(child.exitCode).toBeNull();
      engine.close();
      expect(await once(child, "exit")).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
      engine.close();
    }
  });
});
