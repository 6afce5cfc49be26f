// The SDK takes the position of a resource by a method that is not in its types. A new SDK that takes it in another way fails here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { pinPosition } from "../../../provider/program/position.ts";

interface Frame {
  uri: string;
  line: number;
  column: number;
}

const sdk = pulumi.Resource as unknown as { stackTrace(skip: number): (Frame | undefined)[] };
const { stackTrace } = sdk;
afterEach(() => {
  sdk.stackTrace = stackTrace;
});

/** What the SDK would send of a resource that is constructed now. */
class Subject {
  readonly frames: (Frame | undefined)[];
  constructor() {
    const unpin = pinPosition(new.target);
    this.frames = sdk.stackTrace(4);
    unpin();
  }
}

class Derived extends Subject {}

describe("the position of a resource", () => {
  const folder = mkdtempSync(join(tmpdir(), "irm-position-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const text = "\n\nconst make = (Type) =>\n  new Type();\n";
  const at = (path: string, line: number) => [expect.objectContaining({ uri: pathToFileURL(path).href, line })];

  it("is the caller's, in an ES module", async () => {
    const path = join(folder, "program.mjs");
    writeFileSync(path, `${text}export { make };\n`);
    const { make } = await import(/* @vite-ignore */ pathToFileURL(path).href);
    expect(make(Subject).frames).toEqual(at(path, 4));
    expect(make(Derived).frames).toEqual(at(path, 4));
  });

  it("is the caller's, in a CommonJS module, outside functions too", () => {
    const path = join(folder, "program.cjs");
    writeFileSync(path, `${text}exports.make = make;\n`);
    expect(createRequire(import.meta.url)(path).make(Subject).frames).toEqual(at(path, 4));
    const top = join(folder, "top level (1).cjs");
    writeFileSync(top, "\nmodule.exports = new globalThis.Subject();\n");
    Object.assign(globalThis, { Subject });
    expect(createRequire(import.meta.url)(top).frames).toEqual(at(top, 2));
  });

  it("leaves the stack of an error alone, and the SDK's method after it", () => {
    const { stackTraceLimit } = Error;
    expect(new Subject().frames).toHaveLength(1);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    expect(sdk.stackTrace).toBe(stackTrace);
    expect(new Error("x").stack).toContain(fileURLToPath(import.meta.url));
  });

  it.each([
    ["has no such method", undefined],
    ["returns something else", () => "at index.ts:1:1"],
    ["returns other frames", () => [{ file: "index.ts", line: "1" }]],
  ])("is left to an SDK that %s", (_what, method) => {
    sdk.stackTrace = method as never;
    const unpin = pinPosition(Subject);
    expect(sdk.stackTrace).toBe(method);
    unpin();
    expect(sdk.stackTrace).toBe(method);
  });
});
