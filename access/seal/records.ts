// Which record a uid in a preview means. The uid of a record that exists is that record; what stands for the uid of a new one is found in
// the step of the resource that creates it (client/placeholder-uid.ts). Everything else is not known: no dependency of the engine says
// whether a value is the uid of a resource, or only computed from it.
import { isPlaceholder, resourceMark, resourceMarkIn } from "../../client/placeholder-uid.ts";
import type { AccessGraph } from "../graph/graph.ts";
import { isNativeUrn } from "../preview/urn.ts";
import type { Resource } from "./resource.ts";

export interface Records {
  /** The resource that would create the record that this uid stands for; "unknown" for a placeholder of no step. */
  plannedWith(uid: string): Resource | "unknown" | undefined;
}

/** `before`: the records that exist. */
export const recordsIn = (byUrn: ReadonlyMap<string, Resource>, before: AccessGraph): Records => {
  const resources = [...byUrn.values()];
  const existing = new Set(
    resources.flatMap(({ planned, stored, deleted }) =>
      [planned, ...stored, ...deleted].flatMap((one) => one?.uid ?? []),
    ),
  );
  const exists = (uid: string): boolean =>
    existing.has(uid) || [before.groups, before.identities, before.roles, before.bindings].some((all) => all.has(uid));

  // The steps of dynamic resources show their placeholders. The steps of native ones do not: a mark of the resource is in them.
  // A set has the uid of its group.
  const created = resources.filter(
    ({ kind, planned }) => planned?.isNew && planned.uid === undefined && kind !== "roleBindingSet",
  );
  const byShown = Map.groupBy(created, ({ planned }) => planned?.shownUid);
  const byMark = new Map(created.filter(({ urn }) => isNativeUrn(urn)).map((one) => [resourceMark(one.urn), one]));

  return {
    plannedWith: (uid) => {
      if (exists(uid)) return undefined;
      const shown = byShown.get(uid) ?? [];
      const [found = isPlaceholder(uid) ? byMark.get(resourceMarkIn(uid)) : undefined] = shown;
      if (found !== undefined && shown.length < 2) return found;
      return found !== undefined || isPlaceholder(uid) ? "unknown" : undefined;
    },
  };
};
