// Errors of the methods as the engine prints them: without a stack, and in full only once when all resources share the error.
import { quoting, sessionErrorOf } from "../../client/errors.ts";
import { SERVICE } from "../../client/preview-marks.ts";
import { type Json, printableLines } from "../../schema/index.ts";
import type { ReadResult } from "../reconcile/index.ts";
import { KEY, placeInKey } from "../record/state.ts";
import type { Environment } from "../run/session.ts";

const DEFECTS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** The error as a message for a reader, in place of the error that a method threw for these arguments. A defect keeps its stack. */
export const reporterWith = ({ silence }: Pick<Environment, "silence">) => {
  // By message: the resource that showed it in full.
  const reported = new Map<string, string>();

  return (error: unknown, args: readonly unknown[]): unknown => {
    if (!(error instanceof Error) || DEFECTS.some((type) => error instanceof type)) return error;
    const shared = sessionErrorOf(error);
    const first = shared && reported.get(shared.message);
    const shown = first === undefined ? error : new Error(`failed for the same reason as ${first}`);
    if (shared && first === undefined) reported.set(shared.message, nameIn(args));
    // It may quote names of records, which may hold control characters.
    shown.message = printableLines(shown.message);
    shown.stack = "";
    silence?.(shown);
    return shown;
  };
};

/** `Group::team`, from a key among the arguments; otherwise the uid. */
const nameIn = (args: readonly unknown[]): string => {
  const keys = args.map((arg) => (arg as Json | undefined)?.[KEY]).filter((key) => typeof key === "string");
  if (keys.length > 0) return placeInKey(keys.at(-1));
  return args.find((arg) => typeof arg === "string") ?? "another resource";
};

/**
 * The SDK's dynamic provider (@pulumi/pulumi/cmd/dynamic-provider/index.ts) writes each error of a check, diff, read or delete to
 * the console, as `${error}: ${error.stack}`. It also returns the error to the engine, which prints it. This drops the first copy.
 */
export const silencing = (console: Pick<Console, "error">): ((error: Error) => void) => {
  // How often each text is still expected: several resources may fail at once with one text.
  const silenced = new Map<unknown, number>();
  const { error: print } = console;
  console.error = (...texts) => {
    const [text] = texts;
    const remaining = texts.length === 1 ? (silenced.get(text) ?? 0) : 0;
    if (remaining === 0) print.apply(console, texts);
    else if (remaining === 1) silenced.delete(text);
    else silenced.set(text, remaining - 1);
  };
  return (error) => {
    const text = `${error}: ${error.stack}`;
    silenced.set(text, (silenced.get(text) ?? 0) + 1);
  };
};

// A refresh reads every resource, whatever fails (`ignoreErrors` in
// github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/deployment_executor.go), and then fails if one did. If one reason makes each
// read of the run fail, the first read reports it. The others are not tried: the engine keeps their state.

export const refreshOnce = () => {
  let hasFailed = false;
  const unread = new Set<string>();
  const asStored = (id: string, stored: Json): ReadResult => {
    unread.add(id);
    return { id, props: stored };
  };
  return {
    /** `isRefresh`: nothing but a refresh reads before the program declares its first resource. */
    read: async (
      id: string,
      stored: Json,
      isRefresh: boolean,
      work: () => Promise<ReadResult>,
    ): Promise<ReadResult> => {
      // A resource that an import or the program reads has no state to keep.
      const canKeep = isRefresh && stored[SERVICE] !== undefined;
      if (hasFailed && canKeep) return asStored(id, stored);
      try {
        return await work();
      } catch (error) {
        if (!canKeep || !sessionErrorOf(error)) throw error;
        if (hasFailed) return asStored(id, stored);
        hasFailed = true;
        throw new Error(
          quoting([(error as Error).message], ([text]) => `${text}\n${KEPT}`),
          { cause: error },
        );
      }
    },
    /** The record was not read, so the engine compares the state with itself. */
    isUnread: (id: string) => unread.has(id),
  };
};

const KEPT =
  "The refresh ends here, since every other read would fail in the same way. It does not change the state of what it has not read.";
