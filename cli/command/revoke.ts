// `irm revoke`: removes all access of an identity, or one grant, now and in the policy of this folder, and puts it back.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { jsonText } from "../../access/format/document/document.ts";
import { countText, hiddenLines } from "../../access/format/words.ts";
import { type AccessGraph, type IdentityNode, type NodeId, placesIn } from "../../access/graph/graph.ts";
import { readLive } from "../../access/graph/live.ts";
import { isComplete } from "../../access/query/answer.ts";
import { resolveQuestion } from "../../access/query/question.ts";
import {
  bindingsOf,
  type HeldBinding,
  type Holder,
  heldFrom,
  inOrderOfRemoval,
  kindOf,
  labelOf,
  lastOwned,
  listGrants,
} from "../../access/revoke/holder.ts";
import {
  applyToPolicy,
  declarationsIn,
  mappingIn,
  type PolicyChange,
  revocationIn,
} from "../../access/revoke/policy.ts";
import { type Removed, removeBindings } from "../../access/revoke/remove.ts";
import { interrupted, type UndoFile, writeUndoFile } from "../../access/revoke/undo-file.ts";
import { POLICY } from "../../access/test/file.ts";
import { quote, timeText } from "../../access/text.ts";
import type { Client } from "../../client/client.ts";
import { engineWith, stackFlag } from "../../pulumi/command.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { printable, UserError } from "../../schema/index.ts";
import { systemClient } from "../client.ts";
import { ENGINE } from "../engine-command.ts";
import { checkChangeFile, writeChange } from "../files.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { confirm, countGrants, listText, printFailures, restore, rowOf } from "../restore.ts";
import { changeWithout } from "../run/proposal.ts";
import { canAsk, print, printError, untilInterrupted, warn } from "../terminal.ts";

interface RevokeFlags extends Wanted {
  yes?: boolean;
  force?: boolean;
  undo?: string;
  /** file of the removed grants, for --undo */
  undoFile?: string;
  /** file of the change, in place of the removal */
  out?: string;
  format: "terminal" | "json";
}

export const defineCommand = (command: IrmCommand): void => {
  command
    .usage("--identity UID|NAME | --binding UID | --external-group UID [FLAGS]")
    .description(
      "Removes all access of an identity, one role binding, or one external group mapping. Shows it first, asks, and writes a file for --undo.",
    )
    .option("--identity <UID|NAME>", "whose access to remove, including its entries in access.yaml")
    .option("--binding <UID>", "the role binding to remove")
    .option("--external-group <UID>", "the external group role mapping to remove")
    .option("--yes", "do not ask for confirmation; required without a terminal, except with --undo")
    .option(
      "--force",
      "also remove your own access, and that of an organization's last owner; with --undo, accept records with other names",
    )
    .option("--out <FILE>", "remove nothing; write the removal into this file, as a change to review and apply")
    .option("--undo-file <FILE>", "file for the removed grants (default: irm-revoke-UID-TIME.json in this folder)")
    .option("--undo <FILE>", "restore the missing ones of the grants that an earlier revocation wrote to this file")
    .formats("terminal", "json")
    .example("revoke --identity ci")
    .runs(revoke);
};

const revoke = async (flags: RevokeFlags): Promise<number> => {
  const { identity, binding, externalGroup, undo, undoFile, out } = flags;
  if ([identity, binding, externalGroup, undo].filter((one) => one !== undefined).length !== 1)
    throw new UsageError(
      "give one of --identity, --binding and --external-group, or --undo with the file of an earlier revocation",
    );
  if (undo !== undefined && (undoFile ?? out) !== undefined)
    throw new UsageError(`--${out === undefined ? "undo-file" : "out"} is not for --undo, which writes no file`);
  if (undoFile !== undefined && out !== undefined)
    throw new UsageError("--undo-file is not for --out, which removes nothing");
  if (out !== undefined) checkChangeFile(out);
  else if (undo === undefined && !flags.yes && !canAsk())
    throw new UsageError("there is no terminal to ask whether to go on; give --yes");
  return undo === undefined ? await remove(flags) : await restore(systemClient(), undo, flags);
};

const remove = async (flags: RevokeFlags): Promise<number> => {
  const client = systemClient();
  const found = await findTarget(client, flags);
  const { graph, holder, place, isOwn, isOne, policy, hidden } = found;
  if (!flags.force) checkHarm(found, client.clock.today());
  const rows = policy.edit.entries;
  if (flags.out !== undefined) return propose(client, found, flags.out);
  await confirm(listText({ holder, place, held: found.held, rows }), flags, {
    notice: hidden.length === 0 ? undefined : `not visible to you, so access may be left: ${hidden.join("; ")}`,
    question: `Remove ${isOne ? "this" : "all"} access of ${printable(labelOf(holder))}?`,
    asks: found.held.length + rows.length > 0 && !flags.yes,
    refusal: "nothing was removed",
  });

  // The file for --undo omits grants that somebody else has removed meanwhile. The API answers their delete as if it had done it
  // (docs/internals/contract.md#d4).
  const now = new Set(found.held.length === 0 ? [] : (await listGrants(client, holder)).map(({ uid }) => uid));
  const held = found.held.filter(({ binding }) => now.has(binding));
  const target = { ...found, held };
  const hasNothing = held.length === 0 && rows.length === 0;
  const undo = hasNothing
    ? null
    : writeUndo(client, flags.undoFile, { version: 1, holder, bindings: held, policy: policy.rows });
  const ordered = inOrderOfRemoval(graph, held, isOwn);
  const result = await untilInterrupted(interrupted(), (signal) =>
    removeBindings(client, holder, ordered, signal, isOwn ? 1 : undefined),
  );
  const problem = applyToPolicy(policy);
  report(flags, target, { ...result, rows: problem === undefined ? rows.length : 0, undo });
  if (problem !== undefined)
    printError(
      "irm revoke",
      `${POLICY} is as it was, and an update that refreshes may grant the access again: ${problem}`,
    );
  // Other programs and policies may grant the access again.
  const others = held.filter(({ binding }) => !policy.declared.has(binding));
  if (others.length > 0) warn(await declarersOf(holder, others));
  if (result.failed.length > 0 || problem !== undefined) return 1;
  return isOwn || !(await hasSome(client, target)) ? 0 : 1;
};

/** Writes the removal as a change, for a review. */
const propose = async (client: Client, { graph, holder, held, isOwn }: Target, file: string): Promise<number> => {
  const method = kindOf(holder).operations.delete;
  const ordered = inOrderOfRemoval(graph, held, isOwn);
  const writes = ordered.map(({ binding: uid }, i) => ({ n: i + 1, method, uid, fields: {} }));
  if (writes.length === 0) throw new UserError(`${labelOf(holder)} has no access that you can see`);
  writeChange(file, await changeWithout(client, writes));
  print(
    `${file} removes ${countGrants(writes.length, holder)}; \`npx pulumi-irm review ${file}\` shows it, \`npx pulumi-irm apply ${file}\` does it\n`,
  );
  return 0;
};

const checkHarm = ({ graph, holder, isOwn, held }: Target, nowMs: number): void => {
  const owned = lastOwned(graph, new Set(held.map(({ binding }) => binding)), nowMs);
  const harm = [
    ...(isOwn ? ["is your own identity"] : []),
    ...owned.map(({ name }) => `is the last owner of ${name} that you can see`),
  ];
  if (harm.length > 0)
    throw new UserError(`${labelOf(holder)} ${harm.join(", and ")}; give --force to remove its access all the same`);
};

/** Writes the file before the removal, and returns its path. */
const writeUndo = (client: Client, out: string | undefined, undo: UndoFile) => {
  const time = timeText(client.clock.today()).replaceAll(":", "-");
  const base = `irm-revoke-${undo.holder.uid.split("/").at(-1)}-${time}`;
  const names = [".json", "-2.json", "-3.json"].map((end) => base + end);
  const file = resolve(out ?? names.find((name) => !existsSync(name)) ?? `${base}.json`);
  writeUndoFile(file, undo);
  return file;
};

/** `rows`: count of entries that the policy lost. `undo`: null without a removal. */
const report = (
  { format }: RevokeFlags,
  { holder }: Target,
  { removed, failed, rows, undo }: Removed & { rows: number; undo: string | null },
): void => {
  if (format === "json") print(jsonText({ removed: removed.map(rowOf(holder)), undo }));
  else if (undo === null) print("there is nothing to remove\n");
  else {
    print(
      `removed ${countGrants(removed.length, holder)}; \`npx pulumi-irm revoke --undo ${undo}\` puts back what is missing\n`,
    );
    if (rows > 0) print(`removed ${countText(rows, "entry")} from ${POLICY}\n`);
  }
  printFailures(failed, holder, "not removed");
};

/**
 * Somebody, or the identity itself, may have granted it a role meanwhile. For a grant that the caller may not delete, a service may
 * answer as if it were gone.
 */
const hasSome = async (client: Client, { holder, held, isOne }: Target): Promise<boolean> => {
  const known = new Set(held.map(({ binding }) => binding));
  const found = await listGrants(client, holder);
  const left = found.filter(({ uid }) => known.has(uid)).length;
  const fresh = isOne ? 0 : found.length - left;
  const [name, countOf] = [labelOf(holder), (count: number) => countGrants(count, holder)];
  if (left > 0)
    printError("irm revoke", `${name} still has ${countOf(left)}, though the service says it is gone; run it again`);
  if (fresh > 0) printError("irm revoke", `${name} has got ${countOf(fresh)} meanwhile; run it again`);
  return left + fresh > 0;
};

// The target: all role bindings of an identity, one role binding, or one mapping of an external group.

/** One of them. */
interface Wanted {
  /** uid or name */
  identity?: string;
  /** uid of a role binding */
  binding?: string;
  /** uid of a mapping of an external group */
  externalGroup?: string;
}

interface Target {
  graph: AccessGraph;
  holder: Holder;
  /** path of the group of the holder */
  place: string;
  /** the caller's */
  isOwn: boolean;
  /** one grant, and not all that the holder has */
  isOne: boolean;
  held: HeldBinding[];
  policy: PolicyChange;
  /** where role bindings cannot be listed */
  hidden: string[];
}

const findTarget = async (client: Client, { identity, binding, externalGroup }: Wanted): Promise<Target> => {
  const { graph, notVisible } = await readLive(client);
  const bound = binding === undefined ? undefined : bindingWith(graph, binding);
  const one = externalGroup === undefined ? bound : mappingWith(graph, externalGroup);
  const { group, ...found } =
    one ?? allOf(graph, resolveQuestion(graph, { identity }, isComplete(notVisible)).identity as IdentityNode);
  const hidden = one ? [] : notVisible.filter(({ kind }) => kind === "roleBinding");
  return {
    graph,
    ...found,
    place: placesIn(graph)(group),
    isOne: one !== undefined,
    isOwn: found.holder.uid === (await client.identity()),
    hidden: hiddenLines(graph, hidden),
  };
};

interface Found extends Pick<Target, "holder" | "held" | "policy"> {
  /** of the holder */
  group: NodeId;
}

const allOf = (graph: AccessGraph, identity: IdentityNode, only?: HeldBinding) => ({
  holder: { uid: identity.id, name: identity.name },
  group: identity.group,
  held: only ? [only] : bindingsOf(graph, identity.id),
  policy: revocationIn(POLICY, graph, identity, only),
});

const bindingWith = (graph: AccessGraph, uid: string): Found => {
  const node = graph.bindings.get(uid) ?? refuse(graph, uid, "role binding", "--binding");
  // A role binding shows its identity, which is in the graph with it.
  return allOf(graph, graph.identities.get(node.identity) as IdentityNode, heldFrom(graph)(node));
};

const mappingWith = (graph: AccessGraph, uid: string): Found => {
  const node = graph.externalGroups.get(uid) ?? refuse(graph, uid, "external group role mapping", "--external-group");
  const { provider, externalGroupId: externalGroup } = node;
  const { name = provider, group = provider } = graph.providers.get(provider) ?? {};
  const holder = { uid: provider, name, externalGroup };
  return { holder, group, held: [heldFrom(graph)(node)], policy: mappingIn(POLICY, graph, uid) };
};

const refuse = (graph: AccessGraph, uid: string, what: string, flag: string): never => {
  const other = graph.bindings.has(uid)
    ? "; it is a role binding: give --binding"
    : graph.externalGroups.has(uid)
      ? "; it is an external group role mapping: give --external-group"
      : graph.identities.has(uid)
        ? "; it is an identity: --identity removes all its access"
        : "; `npx pulumi-irm drift` prints the uids of grants that nothing declares";
  throw new UserError(`${flag}: you can see no ${what} with the uid ${quote(uid)}${other}`);
};

// The program or policy of this folder that would grant the removed access again.

/** One sentence of advice. Never fails: without a state it names the programs and policies that may declare the grants. */
const declarersOf = async (holder: Holder, bindings: readonly HeldBinding[]): Promise<string> => {
  const { word, words } = kindOf(holder);
  const which = bindings.length === 1 ? `this ${word}` : `these ${words}`;
  const folder = projectFolder(process.cwd(), existsSync);
  if (folder === undefined)
    return `if a program or another policy declares ${which}, change it, or an update that refreshes grants the access again`;
  const { name, found } = await declarationsOf(folder, holder, bindings);
  if (found === undefined)
    return `if the program in ${folder} declares ${which}, change it, or an update that refreshes grants the access again`;
  if (found.length === 0) return `stack ${name} of ${folder} does not declare ${which}; another program may`;
  return `an update of stack ${name} that refreshes grants the access again: take ${found.join(", ")} out of the program in ${folder}`;
};

const declarationsOf = async (
  folder: string,
  holder: Holder,
  bindings: readonly HeldBinding[],
): Promise<{ name?: string; found?: string[] }> => {
  const engine = engineWith(ENGINE);
  const options = { cwd: folder, env: process.env };
  try {
    const name = (await engine.must(["stack", "--show-name"], options)).trim();
    const text = await engine.must(["stack", "export", ...stackFlag(name)], options);
    return { name, found: declarationsIn(text, holder, bindings) };
  } catch {
    // Without an engine, a selected stack, or a sign-in at the backend: the access is gone all the same.
    return {};
  }
};
