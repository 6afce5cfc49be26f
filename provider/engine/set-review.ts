// Lines in the preview of a set: each pair that it adds, adopts or removes, by the names that the program, the state or the API knows.
import { relationshipOf } from "../../access/graph/live-record.ts";
import { isUsed, pullTokenExpiry } from "../../access/query/pull-tokens.ts";
import { listAll } from "../../client/records.ts";
import { bulleted, type Json, printable, resources } from "../../schema/index.ts";
import {
  type Binding,
  bindingsIn,
  bindingText,
  type DeclaredPair,
  declaredText,
  grants,
  pairsIn,
  settingsOf,
} from "../kind/pair.ts";
import { KEY, nameInKey } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { planOf } from "../set/plan.ts";
import type { StepParts } from "./steps.ts";

export const setReviewWith = ({ sentence, isDeclared }: StepParts) => {
  const reported = new Set<unknown>();
  const logOnce = (news: Json, verb: string, lines: readonly string[]) => {
    if (reported.has(news[KEY])) return;
    reported.add(news[KEY]);
    sentence(news[KEY], bulleted(`RoleBindingSet ${nameInKey(news[KEY])} ${verb}:`, ...lines));
  };
  return {
    /** The engine has checked the inputs of a new set. `live` are the bindings of its group, if known. */
    noteCheck(news: Json, live: readonly Binding[] | undefined) {
      const added = addedLines(pairsIn(news), live);
      if (added.length > 0) logOnce(news, "is new", added);
    },
    /** The engine has compared the outputs in the state with the inputs. `describe` describes a binding. */
    noteDiff(olds: Json, news: Json, describe: (one: Binding) => string, live = bindingsIn(olds, "unmanaged")): void {
      if (!isDeclared(news[KEY])) return;
      const { added, dropped, undeclared, twins, kept } = planOf(olds, news);
      const changes = [
        ...addedLines(added, live),
        ...dropped.map((one) => `removes ${describe(one)}`),
        ...undeclared.map((one) => `removes ${describe(one)}, which the program does not declare`),
        ...twins.map((one) => `removes ${describe(one)}, which exists twice`),
        ...keptLines(olds, news, describe, added),
      ];
      const lines = [...changes, ...kept.map((one) => `keeps ${bindingText(one)} on purpose: ${one.kept}`)];
      if (lines.length > 0) logOnce(news, changes.length > 0 ? "changes" : "does not change", lines);
    },
    /** The inputs are of another group, whose bindings are `live`: the set is replaced. */
    moved(olds: Json, news: Json, live: readonly Binding[] | undefined) {
      if (!isDeclared(news[KEY])) return;
      const lines = [
        ...addedLines(pairsIn(news), live),
        ...bindingsIn(olds, "bindings").map((one) => `removes ${bindingText(one)}`),
      ];
      if (lines.length > 0) logOnce(news, "moves to another group", lines);
    },
  };
};

/** A pair that already has a binding adds no access. Without `existing` it is unknown which pairs have one. */
const addedLines = (pairs: readonly DeclaredPair[], existing: readonly Binding[] | undefined) => {
  if (existing === undefined) return pairs.map((pair) => `adds or adopts ${declaredText(pair)}`);
  const byIdentity = Map.groupBy(existing, ({ identity }) => identity.uid);
  return pairs.map((pair) => {
    const managed = byIdentity.get(pair.identity)?.find((one) => grants(one, pair));
    return managed ? `adopts ${declaredText(pair)}, role binding ${managed.uid}` : `adds ${declaredText(pair)}`;
  });
};

/** The bindings that a set that becomes exclusive neither adopts nor removes yet. */
const keptLines = (olds: Json, news: Json, describe: (one: Binding) => string, added: readonly DeclaredPair[]) =>
  settingsOf(news).exclusive && !settingsOf(olds).exclusive
    ? bindingsIn(olds, "unmanaged")
        .filter((one) => !added.some((pair) => pair.identity === one.identity.uid && grants(one, pair)))
        .map((one) => `keeps ${describe(one)} for now: the preview after this update shows whether it is removed`)
    : [];

/**
 * For a set that leaves the stack: the facts that the engine does not show. A RoleBinding that adopts a role binding reports that itself.
 */
export const removedSetText = (
  urn: string,
  outputs: Json,
  { isKept, isShared }: Record<"isKept" | "isShared", (uid: string) => boolean>,
): string | undefined => {
  const lines = bindingsIn(outputs, "bindings").flatMap((one) => {
    if (!isKept(one.uid)) return [`removes ${bindingText(one)}`];
    return isShared(one.uid) ? [`leaves ${bindingText(one)} to a RoleBinding: role binding ${one.uid} stays`] : [];
  });
  if (lines.length === 0) return undefined;
  return bulleted(`RoleBindingSet ${nameInKey(urn)} is removed:`, ...lines);
};

// With each pull token among the role bindings that an exclusive set removes, a client loses its images or packages. Role bindings do not
// show whom an identity is for, so a preview reads the identities.

/** As many uids as fit into an address. */
const PART_MAX = 50;

/** `"cluster" as "registry.pull", a pull token that ends 2026-02-27T…, not used yet` for each binding whose identity is a pull token. */
export const tokenTextOf = async (
  session: Session,
  bindings: readonly Binding[],
): Promise<(one: Binding) => string> => {
  const uids = [...new Set(bindings.map(({ identity }) => identity.uid))];
  const texts = new Map(uids.map((uid) => [uid, ", whose identity cannot be read"]));
  for (let i = 0; i < uids.length; i += PART_MAX) {
    const ids = uids.slice(i, i + PART_MAX);
    for await (const record of listAll(session, resources.identity.list, { uidp: { ids } }))
      if (texts.has(record.uid)) texts.set(record.uid, pullTokenText(record));
  }
  return (one) => `${bindingText(one)}${texts.get(one.identity.uid) ?? ""}`;
};

const pullTokenText = (record: Json) => {
  const expires = pullTokenExpiry(relationshipOf(record));
  if (expires === undefined) return "";
  const [seen, created] = [String(record.lastSeenTime), String(record.createTime)];
  return `, a pull token that ends ${printable(expires)}, ${isUsed(seen, created) ? `last seen ${printable(seen)}` : "not used yet"}`;
};
