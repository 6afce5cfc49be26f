// Errors, failures of a check and log lines quote what the program gives. The engine prints them in clear text, so the secrets of the
// call that they belong to are masked.
import { AsyncLocalStorage } from "node:async_hooks";
import { SECRET_NAME } from "../provider/record/state.ts";
import { printableLines } from "../schema/index.ts";
import { containsSecret, secretTexts } from "./value.ts";

const current = new AsyncLocalStorage<readonly string[]>();

// Masked, a shorter one would make texts unreadable, and the length of what is masked would give it away.
const SHORTEST = 3;

/** Runs a call of these values; `masked` knows their secrets within. */
export const masking = <T>(request: unknown, call: () => T): T => {
  if (!containsSecret(request)) return call();
  const texts = secretTexts(request).filter((text) => text.length >= SHORTEST);
  const spellings = texts.flatMap((text) => [text, printableLines(text), JSON.stringify(text).slice(1, -1)]);
  return current.run(
    [...new Set(spellings)].toSorted((a, b) => b.length - a.length),
    call,
  );
};

export const maskSecrets = (text: string): string =>
  (current.getStore() ?? []).reduce((result, secret) => result.replaceAll(secret, SECRET_NAME), text);
