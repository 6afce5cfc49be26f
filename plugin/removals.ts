// Reports the resources that leave the stack, at the end of a preview in a language other than TypeScript. In TypeScript the program's own
// classes report them (provider/program/end.ts). The engine asks no provider about a resource that is no longer declared, and does not
// report whether the program ended by itself. So when the engine ends the plugin, this compares the engine's state with the resources that
// it was asked about. The engine still prints lines then.
//
// Best effort: a failure to find out is logged, and no preview fails.

import { removalTexts } from "../provider/engine/review.ts";
import type { EngineState, StateResource } from "../pulumi/state.ts";
import { valuesIn } from "../pulumi/value.ts";
import type { EngineRun, ProgramNotes } from "./program.ts";

export interface RemovalParts {
  notes: ProgramNotes;
  /** URN and id of the provider that this process serves, as resources of the state refer to it; undefined for a new one */
  provider: string | undefined;
  /** the engine's command; undefined if it is unknown, or not a run of a program */
  run: EngineRun | undefined;
  /** whether the project's file names a language without classes of this package */
  isOtherLanguage(): boolean;
  readState(): Promise<EngineState>;
  /** Whether the program declares a resource that has the record with this `recordId`, or adopts it, in this process or another. */
  declares(): Promise<(id: string) => boolean>;
  log(text: string): void;
  timeoutMs?: number;
}

// The engine waits 5 s for a plugin that it ends.
const TIMEOUT_MS = 4_000;

export const removalsWith = (parts: RemovalParts) => {
  const { notes, run, provider, isOtherLanguage, log, timeoutMs = TIMEOUT_MS } = parts;
  let state: Promise<EngineState> | undefined;
  const readOnce = (): Promise<EngineState> => {
    state ??= parts.readState();
    // It is awaited later, if at all.
    state.catch(() => undefined);
    return state;
  };
  const isNeeded = () => {
    if (provider === undefined || run === undefined || run === "update") return false;
    if (notes.hasFailed || notes.isPreview === false) return false;
    return !(notes.isTypescript ?? !isOtherLanguage());
  };
  return {
    /** Starts to read the state if this may be a preview that needs it. */
    prepare: () => {
      if (isNeeded() && (run === "preview" || notes.isPreview === true)) void readOnce();
    },
    /** The engine ends the operation. */
    report: async (): Promise<void> => {
      if (!isNeeded()) return;
      try {
        const [{ resources }, isKept] = await within(timeoutMs, Promise.all([readOnce(), parts.declares()]));
        const managed = resources.filter((one) => one.provider === provider && isManaged(one));
        const leaving = managed.map(({ type, urn, outputs }) => {
          // Secret parts of the state are encrypted.
          const shown = valuesIn(outputs);
          return { type, urn, outputs: shown, shown };
        });
        const { places, sets, identities } = notes;
        const texts = removalTexts(leaving, { places, sets, identities, isKept });
        if (texts.length > 0) log([HEAD, ...texts].join("\n"));
      } catch (error) {
        log(`Cannot tell which resources leave the stack: ${(error as Error).message}`);
      }
    },
  };
};

/** Whether this `runtime` of the project's file lacks classes of this package that report the resources that leave the stack. */
export const isOtherLanguage = (runtime: unknown): boolean => {
  const name = (runtime as { name?: unknown } | null | undefined)?.name ?? runtime;
  return typeof name === "string" && !["nodejs", "bun"].includes(name);
};

const HEAD = "What the program no longer declares, unless it has failed:";

/** Whether the update deletes the record if the program does not declare the resource. */
const isManaged = ({ custom, external, delete: isReplaced, retainOnDelete }: StateResource) =>
  custom === true && external !== true && isReplaced !== true && retainOnDelete !== true;

const within = <T>(ms: number, promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error(`the engine's state was not read within ${ms / 1000} s`)), ms).unref();
    }),
  ]);
