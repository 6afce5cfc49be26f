// The server's log: one line for each event on stderr, as text or JSON. Callers never pass a token or a key.
import { printableLines } from "../../schema/printable.ts";

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];
export type Log = (level: Level, event: string, fields?: Record<string, unknown>) => void;

export interface LogOptions {
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
    const text = Object.entries(fields).map(
      ([key, value]) => `${key}=${typeof value === "string" ? indentLines(value) : JSON.stringify(value)}`,
    );
    write(withoutTokens(`${[time.slice(11, 19), lineLevel.padEnd(5), event, ...text].join(" ")}\n`));
  };
};

// A caller may put its token into a path or a query. All tokens begin with `{"` in base64.
const withoutTokens = (line: string): string => line.replace(/eyJ[\w+/=.-]{20,}/g, "[token]");

// Further lines of a caller's text are indented, so that they cannot pass for events.
const indentLines = (text: string): string => printableLines(text).replaceAll("\n", "\n    ");
