// What `irm revoke` prints of grants, in either direction.
import { jsonText } from "../access/format/document/json.ts";
import { countText } from "../access/format/words.ts";
import { PolicyEditError } from "../access/policy/edit/document.ts";
import { applyEdit, type PolicyEdit } from "../access/policy/edit/open.ts";
import type { HeldBinding } from "../access/revoke/holder.ts";
import { type Holder, kindOf, labelOf } from "../access/revoke/holder.ts";
import type { Failure } from "../access/revoke/remove.ts";
import { POLICY } from "../access/test/file.ts";
import { quoting } from "../client/recovery.ts";
import { clientErrorText } from "./client.ts";
import { print, printError } from "./terminal.ts";

export interface Listed {
  holder: Holder;
  /** path of its group */
  place: string;
  held: readonly HeldBinding[];
  /** entries of the policy */
  rows: readonly string[];
}

/** Lines for a person who decides. */
export const listText = ({ holder, place, held, rows }: Listed): string =>
  [
    `${labelOf(holder)}  in ${place}  ${holder.uid}`,
    ...held.map(({ path, roleName }) => `  ${path}  ${roleName}`),
    ...(held.length === 0 ? [`  no ${kindOf(holder).words}`] : []),
    ...rows.map((row) => `  ${POLICY}  ${row}`),
  ].join("\n");

export const rowOf =
  ({ externalGroup }: Holder) =>
  ({ binding, group, roleName }: HeldBinding) => ({
    [externalGroup === undefined ? "binding" : "mapping"]: binding,
    group,
    role: roleName,
  });

/** `2 role bindings` */
export const countGrants = (count: number, holder: Holder): string =>
  countText(count, kindOf(holder).word, kindOf(holder).words);

export const printJson = (value: object): void => print(jsonText(value));

const FAILURES_SHOWN = 10;

export const printFailures = (failed: readonly Failure[], holder: Holder, what: string): void => {
  if (failed.length === 0) return;
  const errors = failed.map(({ error }) => clientErrorText(error) ?? (error as Error).message).slice(0, FAILURES_SHOWN);
  const more = failed.length > FAILURES_SHOWN ? [`  and ${failed.length - FAILURES_SHOWN} more`] : [];
  const head = `${countGrants(failed.length, holder)} ${what}; run it again:`;
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
