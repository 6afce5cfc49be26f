// The source position of a resource: the engine shows it in errors, and stores it with each resource. By default the SDK sends the whole
// stack, including the files of this package and their paths on the machine. That was a fifth of a state.
import { fileURLToPath, pathToFileURL } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { once } from "../../schema/index.ts";

interface Frame {
  /** of the file */
  uri: string;
  line: number;
  column: number;
}

/** Members of the class Resource that the SDK's types lack (@pulumi/pulumi/resource.ts). */
interface Internals {
  stackTrace?: (skip: number) => unknown;
}

/**
 * Makes the SDK send the program's own frame, the caller of the class `owner`, until the function that this returns is called. An SDK that
 * takes the stack in another way keeps its own positions.
 *
 * The SDK takes the first frame as the position, and sends all of them later, beside it. None are left by then: the engine would store the
 * same frame twice.
 */
export const pinPosition = (owner: object): (() => void) => {
  const sdk = pulumi.Resource as unknown as Internals;
  const { stackTrace } = sdk;
  if (typeof stackTrace !== "function" || !isKnown(stackTrace)) return () => undefined;
  const frame = programFrame(owner);
  const frames = frame === undefined ? [] : [frame];
  sdk.stackTrace = () => frames;
  const unpinTraces = pinTraces(frame);
  return () => {
    sdk.stackTrace = stackTrace;
    frames.length = 0;
    unpinTraces();
  };
};

/**
 * The SDK takes a stack trace of each promise that it makes, to report promises that never end. A resource has some forty, each mapped
 * to the sources of the program. Until the returned function is called they name the program's own frame; all other errors keep
 * theirs.
 */
const pinTraces = (frame: Frame | undefined): (() => void) => {
  const { prepareStackTrace } = Error;
  // Nothing maps positions to sources.
  if (typeof prepareStackTrace !== "function") return () => undefined;
  const text = frame === undefined ? "Error" : `Error\n    at ${frame.uri}:${frame.line}:${frame.column}`;
  const prepare: typeof prepareStackTrace = (error, calls) =>
    calls[0]?.getFunctionName() === "debuggablePromise" ? text : prepareStackTrace.call(Error, error, calls);
  Error.prepareStackTrace = prepare;
  return () => {
    if (Error.prepareStackTrace === prepare) Error.prepareStackTrace = prepareStackTrace;
  };
};

/** Whether the SDK's method returns frames as `pinPosition` expects, from the first of its callers. */
const isKnown = once((stackTrace: (skip: number) => unknown) => {
  const frames = stackTrace.call(pulumi.Resource, 0);
  if (!Array.isArray(frames) || frames.length === 0) return false;
  return frames.every((value: unknown) => {
    if (value === undefined) return true;
    const { uri, line, column } = (value ?? {}) as Partial<Frame>;
    return typeof uri === "string" && typeof line === "number" && typeof column === "number";
  });
});

/** The first caller that is not of this package. */
const programFrame = (owner: object): Frame | undefined => {
  const [caller = ""] = callersOf(owner, 1);
  // Between the two are static methods, and the component that creates a policy's resources.
  const callers = isOwn(caller) ? callersOf(owner, Number.POSITIVE_INFINITY) : [caller];
  return callers
    .filter((line) => !isOwn(line))
    .map(frameFrom)
    .find((frame) => frame !== undefined);
};

/** Lines of the stack, as Node or the compiler of the program formats them: with its source maps. */
const callersOf = (owner: object, limit: number): string[] => {
  const { stackTraceLimit } = Error;
  const holder: { stack?: string } = {};
  try {
    Error.stackTraceLimit = limit;
    Error.captureStackTrace(holder, owner as () => void);
    // It is formatted when it is read.
    return typeof holder.stack === "string" ? holder.stack.split("\n").slice(1) : [];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

const PACKAGE = new URL("../", import.meta.url);
const OWN = [PACKAGE.href, fileURLToPath(PACKAGE)];

const isOwn = (line: string) => OWN.some((folder) => line.includes(folder));

const FRAME = /(?:\(| at |async )(?<file>(?:file:\/\/\/|\/|[A-Za-z]:\\).*):(?<line>\d+):(?<column>\d+)\)?$/;

/** Undefined for code that is in no file. */
const frameFrom = (text: string): Frame | undefined => {
  const { file, line, column } = text.includes("<anonymous>:") ? {} : (FRAME.exec(text)?.groups ?? {});
  if (file === undefined) return undefined;
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  return { uri: pathToFileURL(path).href, line: Number(line), column: Number(column) };
};
