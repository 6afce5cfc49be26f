// `irm revoke`: takes all access from an identity, now and in the policy of this folder, and puts it back.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hiddenLines } from "../access/format/answer/rows.ts";
import { countText } from "../access/format/words.ts";
import { type AccessGraph, type IdentityNode, placesIn } from "../access/graph/graph.ts";
import { readLive } from "../access/graph/live.ts";
import { isComplete } from "../access/query/answer.ts";
import { QuestionError, resolveQuestion } from "../access/query/question.ts";
import { bindingsOf, type HeldBinding, inOrderOfRemoval, lastOwned } from "../access/revoke/held.ts";
import { type PolicyRevocation, revocationIn } from "../access/revoke/policy.ts";
import { listBindings, type Removed, removeBindings } from "../access/revoke/remove.ts";
import { interrupted, RevokeError, type UndoFile, writeUndoFile } from "../access/revoke/undo-file.ts";
import { POLICY } from "../access/test/file.ts";
import { timeText } from "../access/time-text.ts";
import type { Client } from "../client/client.ts";
import { printable } from "../schema/index.ts";
import { ask, canAsk } from "./ask.ts";
import { clientErrorText, systemClient } from "./client.ts";
import { declarersOf } from "./declarers.ts";
import { untilInterrupted } from "./interrupt.ts";
import { restore } from "./restore.ts";
import { listText, printFailures, printJson, problemOfEdit, rowOf, warn } from "./revoke-report.ts";
import { print, printError } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface RevokeFlags {
  identity?: string;
  yes?: boolean;
  force?: boolean;
  undo?: string;
  out?: string;
  format: "terminal" | "json";
}

export const revoke = async (flags: RevokeFlags): Promise<number> => {
  const { identity, undo, out } = flags;
  if ((identity === undefined) === (undo === undefined))
    throw new UsageError("give either --identity, or --undo with the file of an earlier revocation");
  if (undo !== undefined && out !== undefined) throw new UsageError("--out is for --identity");
  if (identity !== undefined && !flags.yes && !canAsk())
    throw new UsageError("there is no terminal to ask whether to go on; give --yes");
  try {
    return undo === undefined ? await remove(identity as string, flags) : await restore(systemClient(), undo, flags);
  } catch (error) {
    const isOurs = error instanceof QuestionError || error instanceof RevokeError;
    const text = isOurs ? error.message : clientErrorText(error);
    if (text === undefined) throw error;
    printError("irm revoke", text);
    return 1;
  }
};

const remove = async (text: string, flags: RevokeFlags): Promise<number> => {
  const client = systemClient();
  const found = await findTarget(client, text);
  const { graph, isOwn, policy } = found;
  if (!flags.force) checkHarm(found);
  const rows = "edit" in policy ? policy.edit.entries : [];
  await show(found, rows, flags, found.held.length + rows.length > 0);

  const target = found.held.length === 0 ? found : await heldNow(client, found);
  const { held } = target;
  const hasNothing = held.length === 0 && rows.length === 0;
  const undo = hasNothing ? null : writeUndo(client, flags.out, undoOf(target));
  const ordered = inOrderOfRemoval(graph, held, isOwn);
  const result = await untilInterrupted(interrupted(), (signal) =>
    isOwn ? removeBindings(client, ordered, signal, 1) : removeBindings(client, ordered, signal),
  );
  const problem = "problem" in policy ? policy.problem : problemOfEdit(policy.edit);
  report(flags, { ...result, rows: problem === undefined ? rows.length : 0, undo });
  if (problem !== undefined)
    printError("irm revoke", `${POLICY} is as it was, and the next update may grant the access again: ${problem}`);
  await warnOfDeclarers(target);
  if (result.failed.length > 0 || problem !== undefined) return 1;
  return isOwn || !(await hasSome(client, target)) ? 0 : 1;
};

interface Target {
  graph: AccessGraph;
  identity: IdentityNode;
  /** the caller's */
  isOwn: boolean;
  held: HeldBinding[];
  policy: PolicyRevocation | { problem: string };
  /** where role bindings cannot be listed */
  hidden: string[];
}

const findTarget = async (client: Client, text: string): Promise<Target> => {
  const { graph, notVisible } = await readLive(client);
  const { identity } = resolveQuestion(graph, { identity: text }, isComplete(notVisible)) as { identity: IdentityNode };
  const hidden = notVisible.filter(({ kind }) => kind === "roleBinding");
  return {
    graph,
    identity,
    isOwn: (await client.identity()) === identity.id,
    held: bindingsOf(graph, identity.id),
    policy: existsSync(POLICY) ? revocationIn(POLICY, graph, identity) : NO_POLICY,
    hidden: hiddenLines(graph, hidden),
  };
};

/**
 * What somebody has removed since it was shown is not ours to put back. The answer to its delete would not tell: the API takes it for done
 * (docs/contract.md#d4).
 */
const heldNow = async (client: Client, target: Target): Promise<Target> => {
  const now = new Set((await listBindings(client, target.identity.id)).map(({ uid }) => uid));
  return { ...target, held: target.held.filter(({ binding }) => now.has(binding)) };
};

const NO_POLICY: PolicyRevocation = { edit: { entries: [], files: [] }, rows: [], declared: new Set() };

const checkHarm = ({ graph, identity, isOwn }: Target): void => {
  const owned = lastOwned(graph, identity.id);
  const harm = [
    ...(isOwn ? ["is your own identity"] : []),
    ...owned.map(({ name }) => `is the last owner of ${name} that you can see`),
  ];
  if (harm.length > 0)
    throw new RevokeError(`${identity.name} ${harm.join(", and ")}; give --force to remove its access all the same`);
};

/** Prints what goes, and asks whether to go on. */
const show = async (
  { graph, identity: { uid, name, group }, held, hidden }: Target,
  rows: readonly string[],
  { format, yes }: RevokeFlags,
  mustAsk: boolean,
): Promise<void> => {
  const lines = listText({ name, uid, place: placesIn(graph)(group), held, rows });
  const asks = mustAsk && !yes;
  if (format === "terminal") print(`${lines}\n`);
  else if (asks) warn(lines);
  if (hidden.length > 0) warn(`not visible to you, so access may be left: ${hidden.join("; ")}`);
  if (asks && !(await ask(`Remove all access of ${printable(name)}?`))) throw new RevokeError("nothing was removed");
};

const undoOf = ({ identity: { id, name }, held, policy }: Target): UndoFile => ({
  version: 1,
  identity: { uid: id, name },
  bindings: held,
  policy: "rows" in policy ? policy.rows : [],
});

/** The path of the file, which is on the disk before anything is removed. */
const writeUndo = (client: Client, out: string | undefined, undo: UndoFile): string => {
  const time = timeText(client.clock.today()).replaceAll(":", "-");
  const base = `irm-revoke-${undo.identity.uid.split("/").at(-1)}-${time}`;
  const names = [".json", "-2.json", "-3.json"].map((end) => base + end);
  const file = resolve(out ?? names.find((name) => !existsSync(name)) ?? `${base}.json`);
  writeUndoFile(file, undo);
  return file;
};

interface Result extends Removed {
  /** entries that went from the policy */
  rows: number;
  /** null: there was nothing to remove */
  undo: string | null;
}

const report = ({ format }: RevokeFlags, { removed, failed, rows, undo }: Result): void => {
  if (format === "json") printJson({ removed: removed.map(rowOf), undo });
  else if (undo === null) print("there is nothing to remove\n");
  else {
    print(
      `removed ${countText(removed.length, "role binding")}; \`npx pulumi-irm revoke --undo ${undo}\` puts back what is missing\n`,
    );
    if (rows > 0) print(`removed ${countText(rows, "entry", "entries")} from ${POLICY}\n`);
  }
  printFailures(failed, "not removed");
};

/**
 * Somebody, or the identity itself, may have granted it a role meanwhile. A service that hides what the caller may not delete answers as if
 * it were gone.
 */
const hasSome = async (client: Client, { identity: { id, name }, held }: Target): Promise<boolean> => {
  const known = new Set(held.map(({ binding }) => binding));
  const found = await listBindings(client, id);
  const fresh = found.filter(({ uid }) => !known.has(uid)).length;
  const left = found.length - fresh;
  const countOf = (count: number): string => countText(count, "role binding");
  if (left > 0)
    printError("irm revoke", `${name} still has ${countOf(left)}, though the service says it is gone; run it again`);
  if (fresh > 0) printError("irm revoke", `${name} has got ${countOf(fresh)} meanwhile; run it again`);
  return found.length > 0;
};

/** Names what else would grant the access again. */
const warnOfDeclarers = async ({ identity, held, policy }: Target): Promise<void> => {
  const declared = "declared" in policy ? policy.declared : undefined;
  const others = held.filter(({ binding }) => !declared?.has(binding));
  if (others.length > 0) warn(await declarersOf(identity.id, others));
};
