// The warning of node:sqlite, which older versions of Node 22 and 24 emit, is left out, and no other one.
import { afterEach, expect, test, vi } from "vitest";
import { withoutSqliteWarning } from "../../../server/store/sqlite.ts";

afterEach(() => vi.restoreAllMocks());

test("only the warning of SQLite is left out, and only while the module loads", () => {
  const emitted: unknown[] = [];
  const emit = vi.spyOn(process, "emitWarning").mockImplementation((warning) => void emitted.push(warning));
  const before = process.emitWarning;
  const sqlite = "SQLite is an experimental feature and might change at any time";
  const loaded = withoutSqliteWarning(() => {
    process.emitWarning(sqlite, "ExperimentalWarning");
    process.emitWarning("Type Stripping is an experimental feature", "ExperimentalWarning");
    process.emitWarning("SQLite is slow today", "Warning");
    process.emitWarning(new Error("an error"));
    return "module";
  });
  expect(loaded).toBe("module");
  expect(process.emitWarning).toBe(before);
  process.emitWarning(sqlite, "ExperimentalWarning");
  expect(emitted).toEqual([
    "Type Stripping is an experimental feature",
    "SQLite is slow today",
    new Error("an error"),
    sqlite,
  ]);
  expect(emit).toHaveBeenCalledTimes(4);
});

test("a failed load restores the warnings", () => {
  const before = process.emitWarning;
  expect(() =>
    withoutSqliteWarning(() => {
      throw new Error("no such module");
    }),
  ).toThrow("no such module");
  expect(process.emitWarning).toBe(before);
});
