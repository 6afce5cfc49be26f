// The identities of a policy, with the relationship that a preset stands for or that is written out.
import { Identity, type Json } from "../../../schema/index.ts";
import { newReviewBudget } from "../../pattern/budget.ts";
import { mixedIdsFinder, mixedIdsText } from "../../workload/github-ids.ts";
import type { PolicyGroup, PolicyIdentity } from "../policy.ts";
import { checkGroupPath } from "./group.ts";
import { checkRelationship } from "./relationship.ts";
import { checkRecord, duplicateFinder, formerKeys, type Report } from "./report.ts";

export interface IdentityDraft extends Readonly<Record<string, unknown>> {
  in?: string;
  name?: string;
  was?: string;
  description?: string;
}

export const checkIdentities = (
  draft: Readonly<Record<string, IdentityDraft>> | null | undefined,
  groups: ReadonlyMap<string, PolicyGroup>,
  report: Report,
): Map<string, PolicyIdentity> => {
  const found = new Map<string, PolicyIdentity>();
  const duplicate = duplicateFinder(report, "identity");
  const formerKey = formerKeys(report, new Set(Object.keys(draft ?? {})));
  const budget = newReviewBudget();
  const findMixedIds = mixedIdsFinder<string>();
  for (const [key, identity] of Object.entries(draft ?? {})) {
    const path = ["identities", key];
    const { name = key, description } = identity;
    const group = checkGroupPath(identity.in, groups, [...path, "in"], report);
    checkRecord(report, Identity, { name, description }, path, identity.name !== undefined);
    const relationship = checkRelationship(identity, path, report, { budget });
    const { claimMatch } = (relationship ?? {}) as { claimMatch?: Json };
    for (const { plain, beside } of claimMatch ? findMixedIds(key, claimMatch, budget) : [])
      report.warn(["identities", plain], mixedIdsText(`identities.${beside}`));
    const was = formerKey(key, identity.was, path);
    if (group === undefined) continue;
    duplicate(group, name, path, identity.name !== undefined, key);
    if (relationship) found.set(key, { key, group, name, was, description, relationship, place: report.placeOf(path) });
  }
  return found;
};
