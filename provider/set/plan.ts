// Plans an update of a set from the state only: a preview sends no request. Pairs are compared whatever their order.
import { mayRemove } from "../../client/run-file.ts";
import { isUnknown } from "../../pulumi/value.ts";
import { bulleted, isUidp, type Json } from "../../schema/index.ts";
import { type Binding, bindingsIn, bindingText, type DeclaredPair, grants, pairsIn, settingsOf } from "../kind/pair.ts";
import type { DiffResult } from "../reconcile/diff.ts";
import { SECRET_NAME } from "../record/state.ts";

export interface Plan {
  /** declared, and not in the state */
  added: DeclaredPair[];
  /** managed, but no longer declared */
  dropped: Binding[];
  /** never declared: recorded by the last run or refresh, and to be removed by an exclusive set */
  undeclared: Binding[];
  /** to be removed: a declared pair has another binding in the state */
  twins: Binding[];
  /** bindings that an exclusive set would remove, but keeps on purpose */
  kept: Binding[];
}

/** `olds` are outputs, `news` inputs. */
export const planOf = (olds: Json, news: Json): Plan => {
  if (isUnknown(news.bindings)) return { added: [], dropped: [], undeclared: [], twins: [], kept: [] };
  const pairs = pairsIn(news);
  const managed = bindingsIn(olds, "bindings");
  const declared = Map.groupBy(pairs, ({ identity }) => identity);
  const existing = Map.groupBy(managed, ({ identity }) => identity.uid);
  const isDeclared = (one: Binding) => (declared.get(one.identity.uid) ?? []).some((pair) => grants(one, pair));
  const isTwin = (one: Binding) => {
    const first = existing.get(one.identity.uid)?.find(({ role }) => role.uid === one.role.uid);
    return first !== undefined && first.uid !== one.uid;
  };
  // The first update of an exclusive set removes nothing: it records the existing bindings for the next preview.
  const removesRecorded = settingsOf(news).exclusive && settingsOf(olds).exclusive;
  const recorded = removesRecorded
    ? bindingsIn(olds, "unmanaged").filter(({ uid }) => mayRemove(process.env, uid))
    : [];
  const removable = recorded.filter(({ kept }) => kept === undefined);
  return {
    added: pairs.filter((pair) => !existing.get(pair.identity)?.some((one) => grants(one, pair))),
    dropped: managed.filter((one) => !isDeclared(one)),
    undeclared: removable.filter((one) => !isDeclared(one)),
    twins: [...managed, ...removable].filter((one) => isDeclared(one) && isTwin(one)),
    kept: recorded.filter((one) => one.kept !== undefined && !isDeclared(one)),
  };
};

export const removalsOf = ({ dropped, undeclared, twins }: Plan): Binding[] => [...dropped, ...undeclared, ...twins];

/** The bindings that an exclusive set removes, or may remove after this update. */
export const endangeredBy = (olds: Json, news: Json): Binding[] => {
  if (!settingsOf(news).exclusive) return [];
  return [...removalsOf(planOf(olds, news)), ...(settingsOf(olds).exclusive ? [] : bindingsIn(olds, "unmanaged"))];
};

/** `olds` are the outputs as last observed, `news` inputs. `describe` describes a binding in the error. */
export const diffSet = (id: string, name: string, olds: Json, news: Json, describe = bindingText): DiffResult => {
  // The new set is created before the old one is deleted.
  if (news.parent !== id) return { changes: true, replaces: ["parent"] };
  const plan = planOf(olds, news);
  requireFewRemovals(name, plan, news, describe);
  const changes =
    plan.added.length + removalsOf(plan).length > 0 ||
    isUnknown(news.bindings) ||
    JSON.stringify(settingsOf(olds)) !== JSON.stringify(settingsOf(news)) ||
    holdsSecret(olds, news);
  return { changes, replaces: [] };
};

/** The state holds a name in clear text that the program marks as secret. */
const holdsSecret = (olds: Json, news: Json): boolean => {
  const hidden = pairsIn(news).filter(({ names }) => Object.values(names).includes(SECRET_NAME));
  return bindingsIn(olds, "bindings").some((one) =>
    hidden.some(
      (pair) =>
        grants(one, pair) &&
        ((pair.names.identity === SECRET_NAME && one.identity.name !== undefined) ||
          (pair.names.role === SECRET_NAME && one.role.name !== undefined && isUidp(pair.role))),
    ),
  );
};

/** Throws if an exclusive set would remove more than it may. */
export const requireFewRemovals = (name: string, plan: Plan, news: Json, describe = bindingText): void => {
  const { exclusive, maxRemovals } = settingsOf(news);
  const removed = removalsOf(plan);
  if (!exclusive || removed.length <= maxRemovals) return;
  const head =
    `RoleBindingSet ${name}: would remove ${removed.length} role bindings, more than maxRemovals (${maxRemovals}); ` +
    "nothing is changed:";
  const shown = removed.slice(0, SHOWN).map(describe);
  const more = removed.length > SHOWN ? [`and ${removed.length - SHOWN} more`] : [];
  throw new Error(
    `${bulleted(head, ...shown, ...more)}\nIf this is intended, set maxRemovals: ${removed.length} for one run.`,
  );
};

const SHOWN = 50;
