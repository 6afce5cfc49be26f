// node:sqlite. Until it is stable, Node prints an ExperimentalWarning when it loads, in every log and every test run, though no
// operator can act on it. This file suppresses only that warning, while the module loads.
import type * as Sqlite from "node:sqlite";

type EmitWarning = (warning: string | Error, type?: string | object) => void;

/** Runs `load` and suppresses the warning of SQLite; emits any other. */
export const withoutSqliteWarning = <T>(load: () => T): T => {
  const { emitWarning } = process;
  const emitOthers: EmitWarning = (...warning) => {
    const [text, type] = warning;
    if (type === "ExperimentalWarning" && String(text).startsWith("SQLite ")) return;
    Reflect.apply(emitWarning, process, warning);
  };
  process.emitWarning = emitOthers as typeof emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
};

// Not an import, which would load the module before any line of this file.
export const { DatabaseSync } = withoutSqliteWarning(() => process.getBuiltinModule("node:sqlite")) as typeof Sqlite;
