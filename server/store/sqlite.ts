// node:sqlite. Until it is stable, Node prints an ExperimentalWarning when it is loaded: nothing that whoever runs a server can
// act on, in every log and every test run. This warning alone is left out, while the module loads.
import type * as Sqlite from "node:sqlite";

type EmitWarning = (warning: string | Error, type?: string | object) => void;

/** Runs `load` without the warning of SQLite; any other one is emitted. */
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

// Not an import, which would load it before any line of this file.
export const { DatabaseSync } = withoutSqliteWarning(() => process.getBuiltinModule("node:sqlite")) as typeof Sqlite;
