// What `irm revoke` prints of role bindings, in either direction.
import { countText } from "../access/format/words.ts";
import { PolicyEditError } from "../access/policy/edit/document.ts";
import { applyEdit, type PolicyEdit } from "../access/policy/edit/open.ts";
import type { HeldBinding } from "../access/revoke/held.ts";
import type { Failure } from "../access/revoke/remove.ts";
import { POLICY } from "../access/test/file.ts";
import { quoting } from "../client/recovery.ts";
import { printableLines } from "../schema/index.ts";
import { clientErrorText } from "./client.ts";
import { print, printError } from "./terminal.ts";

export interface Listed {
  name: string;
  uid: string | null;
  /** path of its group */
  place: string;
  held: readonly HeldBinding[];
  /** entries of the policy */
  rows: readonly string[];
}

/** Lines for a person who decides. */
export const listText = ({ name, uid, place, held, rows }: Listed): string =>
  [
    `${name}  in ${place}  ${uid}`,
    ...held.map(({ path, roleName }) => `  ${path}  ${roleName}`),
    ...(held.length === 0 ? ["  no role bindings"] : []),
    ...rows.map((row) => `  ${POLICY}  ${row}`),
  ].join("\n");

export const rowOf = ({ binding, group, roleName }: HeldBinding) => ({ binding, group, role: roleName });

export const printJson = (value: object): void => print(`${JSON.stringify(value, undefined, 2)}\n`);

export const warn = (text: string): void => void process.stderr.write(`${printableLines(text)}\n`);

const FAILURES_SHOWN = 10;

export const printFailures = (failed: readonly Failure[], what: string): void => {
  if (failed.length === 0) return;
  const errors = failed.map(({ error }) => clientErrorText(error) ?? (error as Error).message).slice(0, FAILURES_SHOWN);
  const more = failed.length > FAILURES_SHOWN ? [`  and ${failed.length - FAILURES_SHOWN} more`] : [];
  const head = `${countText(failed.length, "role binding")} ${what}; run it again:`;
  const lineOf = (text: string, i: number): string => {
    const { path, roleName } = (failed[i] as Failure).binding;
    return `  ${path} ${roleName}: ${text}`;
  };
  printError(
    "irm revoke",
    quoting(errors, (texts) => [head, ...texts.map(lineOf), ...more].join("\n")),
  );
};

/** Why the policy could not be edited; undefined where it was. */
export const problemOfEdit = (edit: PolicyEdit): string | undefined => {
  try {
    applyEdit(edit);
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyEditError)) throw error;
    return error.message;
  }
};
