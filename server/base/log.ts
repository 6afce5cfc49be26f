// The server's log: one line for each event on stderr, as text or JSON. Callers never pass a token or a key.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { printableLines } from "../../schema/nearest.ts";

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];
export type Log = (level: Level, event: string, fields?: Record<string, unknown>) => void;

interface LogOptions {
  level: Level;
  json: boolean;
  clock: () => number;
  write: (line: string) => void;
}

export const createLog = ({ level, json, clock, write }: LogOptions): Log => {
  const least = LEVELS.indexOf(level);
  return (lineLevel, event, fields = {}) => {
    if (LEVELS.indexOf(lineLevel) < least) return;
    const time = new Date(clock()).toISOString();
    if (json) return write(withoutTokens(`${JSON.stringify({ time, level: lineLevel, event, ...fields })}\n`));
    const text = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => {
        // Further lines of a caller's text are indented, so that they cannot pass for events.
        const shown =
          typeof value === "string" ? printableLines(value).replaceAll("\n", "\n    ") : JSON.stringify(value);
        return `${key}=${shown}`;
      });
    write(withoutTokens(`${[time.slice(11, 19), lineLevel.padEnd(5), event, ...text].join(" ")}\n`));
  };
};

// A caller may put its token into a path or a query. All tokens begin with `{"` in base64.
const withoutTokens = (line: string) => line.replace(/eyJ[\w+/=.-]{20,}/g, "[token]");

// The id of a request: in its response, and in every line of the log that belongs to it.

/** Header and metadata key, of requests and of responses. */
export const REQUEST_ID = "x-request-id";

/** Accepts a client's own id unless it could break a line of the log or hold a token. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();

/** Bytes of a head, without the separators between its parts. */
export const headSize = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((sum, { length }) => sum + length, 0);

/** Every value of a header as it came: node joins or drops repeated ones. */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);

// Not an argument, because only the log needs it.
const current = new AsyncLocalStorage<string>();

export const withRequestId = <T>(id: string, work: () => T): T => current.run(id, work);

/** The id of the current request. */
export const currentRequestId = (): string => current.getStore() ?? "";

/** Adds the id of the current request to each line. */
export const logOfRequests =
  (log: Log): Log =>
  (level, event, fields) => {
    const requestId = current.getStore();
    log(level, event, requestId ? { requestId, ...fields } : fields);
  };

// The end of a wait: the part of an AbortSignal that the server reads. Programs compile this type without the types of Node or of browsers.

export interface Cut {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
