// `irm revoke --undo FILE`: puts the removed grants of a revocation back. Somebody may have changed the file since, so the grants are shown
// with the present names of their records.
import { existsSync } from "node:fs";
import { jsonText } from "../access/format/document/document.ts";
import { countText } from "../access/format/words.ts";
import { placesIn } from "../access/graph/graph.ts";
import { readLive } from "../access/graph/live.ts";
import { entryText } from "../access/policy/edit/open.ts";
import { type HeldBinding, type Holder, kindOf, labelOf } from "../access/revoke/holder.ts";
import { applyToPolicy, type PolicyChange, restorationIn } from "../access/revoke/policy.ts";
import { type Failure, restoreBindings } from "../access/revoke/remove.ts";
import { interrupted, readUndoFile, renamedIn, type UndoFile } from "../access/revoke/undo-file.ts";
import { POLICY } from "../access/test/file.ts";
import type { Client } from "../client/client.ts";
import { quoting } from "../client/errors.ts";
import { printable, UserError } from "../schema/index.ts";
import { clientErrorText } from "./client.ts";
import { ask, canAsk, print, printError, untilInterrupted, warn } from "./terminal.ts";

interface RestoreFlags {
  yes?: boolean;
  force?: boolean;
  format: "terminal" | "json";
}

export const restore = async (client: Client, file: string, flags: RestoreFlags): Promise<number> => {
  const undo = readUndoFile(file);
  const { graph } = await readLive(client);
  const renamed = flags.force ? [] : renamedIn(graph, undo);
  if (renamed.length > 0)
    throw new UserError(
      `${file} names records as they are not called: ${renamed.join("; ")}. Somebody has changed the file, or renamed them since. Nothing was put back; give --force to go by the uids.`,
    );
  const policy = restorationIn(POLICY, undo.policy, graph, undo.holder.uid);
  const { holder } = undo;
  const placeName = placesIn(graph);
  const live = (holder.externalGroup === undefined ? graph.identities : graph.providers).get(holder.uid);
  const held = undo.bindings.map((one): HeldBinding => {
    const roleName = graph.roles.get(one.role)?.name ?? one.roleName;
    return { ...one, path: graph.groups.has(one.group) ? placeName(one.group) : one.path, roleName };
  });
  const place = live ? placeName(live.group) : "a group that you cannot see";
  const shown = { ...holder, name: live?.name ?? holder.name };
  await confirm(listText({ holder: shown, place, held, rows: policy.edit.entries }), flags, {
    question: `Put this access of ${printable(labelOf(shown))} back?`,
    asks: !flags.yes && canAsk(),
    refusal: "nothing was put back",
  });

  const { restored, present, failed } = await untilInterrupted(interrupted(), (signal) =>
    restoreBindings(client, undo, signal),
  );
  if (flags.format === "json")
    print(jsonText({ restored: restored.map(rowOf(holder)), present: present.map(rowOf(holder)) }));
  else {
    const there = present.length === 0 ? "" : `; ${present.length} existed`;
    print(`put back ${countGrants(restored.length, holder)} of ${labelOf(holder)}${there}\n`);
  }
  const problem = restorePolicy(undo, policy, flags);
  printFailures(failed, holder, "not put back");
  return failed.length === 0 && problem === undefined ? 0 : 1;
};

/** The problem that keeps the entries out of the policy; undefined without one. */
const restorePolicy = (undo: UndoFile, policy: PolicyChange, { format }: RestoreFlags): string | undefined => {
  if (undo.policy.length === 0) return undefined;
  if (!existsSync(POLICY)) {
    const rows = undo.policy.map(({ group, role, identity }) => entryText(["access", group, role, identity]));
    warn(
      `there is no ${POLICY} here; put these back in the policy too, or its next update removes the access: ${rows.join(", ")}`,
    );
    return undefined;
  }
  const problem = applyToPolicy(policy);
  const count = policy.edit.entries.length;
  if (problem !== undefined)
    printError("irm revoke", `${POLICY} is as it was, and its next update removes the access again: ${problem}`);
  else if (format === "terminal" && count > 0) print(`put back ${countText(count, "entry")} in ${POLICY}\n`);
  return problem;
};

/** Prints the changes, and asks a person whether to go on. `refusal`: the error after a no. `notice`: printed before the question. */
export const confirm = async (
  lines: string,
  { format }: Pick<RestoreFlags, "format">,
  {
    asks,
    question,
    refusal,
    notice,
  }: { asks: boolean; question: string; refusal: string; notice?: string | undefined },
): Promise<void> => {
  if (format === "terminal") print(`${lines}\n`);
  else if (asks) warn(lines);
  if (notice !== undefined) warn(notice);
  if (asks && !(await ask(question))) throw new UserError(refusal);
};

// The output of `irm revoke` about grants, in either direction.

/** Lines for a person who decides. `place`: path of the holder's group. `rows`: entries of the policy. */
export const listText = ({
  holder,
  place,
  held,
  rows,
}: {
  holder: Holder;
  place: string;
  held: readonly HeldBinding[];
  rows: readonly string[];
}): string =>
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

const FAILURES_SHOWN = 10;

export const printFailures = (failed: readonly Failure[], holder: Holder, what: string): void => {
  if (failed.length === 0) return;
  const errors = failed.map(({ error }) => clientErrorText(error) ?? (error as Error).message).slice(0, FAILURES_SHOWN);
  const report = quoting(errors, (texts) => {
    const lines = texts.map((text, i) => {
      const { path, roleName } = (failed[i] as Failure).binding;
      return `  ${path} ${roleName}: ${text}`;
    });
    if (failed.length > FAILURES_SHOWN) lines.push(`  and ${failed.length - FAILURES_SHOWN} more`);
    return [`${countGrants(failed.length, holder)} ${what}; run it again:`, ...lines].join("\n");
  });
  printError("irm revoke", report);
};
