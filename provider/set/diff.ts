// Diff of a set: by pairs, whatever their order. It sends no request.
import { isUidp, type Json } from "../../schema/index.ts";
import type { DiffResult } from "../reconcile/diff.ts";
import { isUnknown } from "../record/normal-form.ts";
import { SECRET_NAME } from "../record/state.ts";
import { bindingsIn, grants, pairsIn, settingsOf } from "./pair.ts";
import { planOf, removalsOf, requireFewRemovals } from "./plan.ts";

/** `olds` are the outputs as last observed, `news` inputs. */
export const diffSet = (id: string, name: string, olds: Json, news: Json): DiffResult => {
  // The new set exists before the old one ends.
  if (news.parent !== id) return { changes: true, replaces: ["parent"] };
  const plan = planOf(olds, news);
  requireFewRemovals(name, plan, news);
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
