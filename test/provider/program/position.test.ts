// The SDK takes the position of a resource by a method that is not in its types. A new SDK that takes it in another way fails here.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pinPosition } from "../../../provider/program/position.ts";
import { testFolder } from "../../support/test-folder.ts";

interface Frame {
  uri: string;
  line: number;
  column: number;
}

const sdk = pulumi.Resource as unknown as { stackTrace(skip: number): (Frame | undefined)[] };
const { stackTrace } = sdk;
const { debuggablePromise: debuggable } = createRequire(import.meta.url)("@pulumi/pulumi/runtime/debuggable.js") as {
  debuggablePromise<T>(promise: Promise<T>, context: string): Promise<T>;
};
afterEach(() => {
  sdk.stackTrace = stackTrace;
});

/** What the SDK would send of a resource that is constructed now. */
class Subject {
  /** The SDK takes the first one as the position. */
  readonly frames: (Frame | undefined)[];
  /** what it sends beside the position, later */
  readonly sent: (Frame | undefined)[];
  constructor() {
    const unpin = pinPosition(new.target);
    const frames = sdk.stackTrace(4);
    this.frames = [...frames];
    unpin();
    this.sent = frames;
  }
}

class Derived extends Subject {}

const folder = testFolder().path(".");
const text = "\n\nconst make = (Type) =>\n  new Type();\n";
const at = (path: string, line: number) => [expect.objectContaining({ uri: pathToFileURL(path).href, line })];

it("the position of a resource is the caller's, in an ES module", async () => {
  const path = join(folder, "program.mjs");
  writeFileSync(path, `${text}export { make };\n`);
  const { make } = await import(/* @vite-ignore */ pathToFileURL(path).href);
  expect(make(Subject).frames).toEqual(at(path, 4));
  expect(make(Derived).frames).toEqual(at(path, 4));
});

it("the position of a resource is the caller's, in a CommonJS module, outside functions too", () => {
  const path = join(folder, "program.cjs");
  writeFileSync(path, `${text}exports.make = make;\n`);
  expect(createRequire(import.meta.url)(path).make(Subject).frames).toEqual(at(path, 4));
  const top = join(folder, "top level (1).cjs");
  writeFileSync(top, "\nmodule.exports = new globalThis.Subject();\n");
  Object.assign(globalThis, { Subject });
  expect(createRequire(import.meta.url)(top).frames).toEqual(at(top, 2));
});

it("the position of a resource is sent once, without a stack beside it, and leaves the stack of an error alone, and the SDK's method after it", () => {
  expect(new Subject().sent).toEqual([]);
  const { stackTraceLimit } = Error;
  expect(new Subject().frames).toHaveLength(1);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  expect(sdk.stackTrace).toBe(stackTrace);
  expect(new Error("x").stack).toContain(fileURLToPath(import.meta.url));
});

describe("where something maps stack traces to sources", () => {
  const { prepareStackTrace } = Error;
  const mapped: (string | null | undefined)[] = [];
  const mapper = (error: Error, calls: NodeJS.CallSite[]): string => {
    mapped.push(calls[0]?.getFunctionName());
    return `${error}, mapped`;
  };
  beforeEach(() => {
    mapped.length = 0;
    Error.prepareStackTrace = mapper;
  });
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace;
  });

  it("is what the SDK's report of promises names, which is not mapped", () => {
    const unpin = pinPosition(Subject);
    mapped.length = 0;
    const traced = Promise.resolve() as object as Promise<void> & { _debugStackTrace?: unknown };
    void debuggable(traced, "a property");
    expect(new Error("in the SDK").stack).toBe("Error: in the SDK, mapped");
    unpin();
    expect(traced._debugStackTrace).toMatch(/^Error(\n {4}at file:.*:\d+:\d+)?$/);
    expect(mapped).toHaveLength(1);
    expect(Error.prepareStackTrace).toBe(mapper);
    void debuggable(Promise.resolve(), "after it");
    expect(mapped).toEqual([null, "debuggablePromise"]);
  });

  it("leaves alone what was installed meanwhile", () => {
    const other = () => "other";
    const unpin = pinPosition(Subject);
    Error.prepareStackTrace = other;
    unpin();
    expect(Error.prepareStackTrace).toBe(other);
  });
});

it.each([
  ["has no such method", undefined],
  ["returns something else", () => "at index.ts:1:1"],
  ["returns other frames", () => [{ file: "index.ts", line: "1" }]],
])("the position of a resource is left to an SDK that %s", (_what, method) => {
  sdk.stackTrace = method as never;
  const unpin = pinPosition(Subject);
  expect(sdk.stackTrace).toBe(method);
  unpin();
  expect(sdk.stackTrace).toBe(method);
});
