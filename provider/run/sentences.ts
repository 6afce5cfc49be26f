// Sentences for the reader of a preview: who gains what. `pulumi up` shows a preview before it updates, each in its own processes, and the
// update does not repeat the sentences of that preview. It prints every other sentence: all of them without a preview, and those about
// values that the preview did not know, or that the program changed after it.
//
// The two share a file of digests, which is named after the engine's process and removed like the log of an operation.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { EngineProcess } from "../../pulumi/process.ts";
import { logPath } from "../log/place.ts";

export type Sentences = ReturnType<typeof sentencesWith>;

interface SentenceParts {
  log(text: string): void;
  /** the text without secrets, as `log` prints it */
  masked?: ((text: string) => string) | undefined;
  /** It is asked once, for the first sentence. If it is unknown, or the file cannot be used, every sentence is logged. */
  engine(): EngineProcess | undefined;
}

export const sentencesWith = ({ log, masked = (text) => text, engine }: SentenceParts) => {
  let isPreview: boolean | undefined;
  let file: ReturnType<typeof openFile>;
  let isOpen = false;
  return {
    /** Undefined: this process does not know which of the two it serves. */
    noteRun: (own: boolean | undefined) => {
      isPreview ??= own;
    },
    /** Logs a sentence about the resource with this key, unless an earlier process of the engine has. */
    log: (key: unknown, text: string) => {
      if (!isOpen) file = openFile(engine());
      isOpen = true;
      const mark = digest(key, masked(text));
      if (isPreview !== true && file?.shown.has(mark)) return;
      log(text);
      if (isPreview !== false) file?.note(mark);
    },
  };
};

const digest = (...parts: unknown[]) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);

const openFile = (engine: EngineProcess | undefined) => {
  if (engine === undefined) return undefined;
  try {
    const path = logPath({ address: `sentences ${engine.start}`, pid: engine.pid });
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const note = (mark: string) => {
      try {
        appendFileSync(path, `${mark}\n`, { mode: 0o600 });
      } catch {
        // The update repeats the sentence.
      }
    };
    return { shown: new Set(text.split("\n")), note };
  } catch {
    return undefined;
  }
};
