// The part of a preview that a run has carried out. A run that failed half-way has changed access all the same, and the review of that part
// says how: so the twin is compared also then.
import type { Preview, Step } from "../../access/preview/shape.ts";
import { ourTypeOf } from "../../access/preview/urn.ts";
import { isUidp } from "../../schema/index.ts";

export interface CarriedOut {
  preview: Preview;
  /** uids of identities and groups about which a failed step may have done a part of its work */
  unsure: ReadonlySet<string>;
}

/** `undone` are the steps that failed or did not run. */
export const carriedOut = (preview: Preview, undone: readonly { urn: string; op: string }[]): CarriedOut => {
  const byUrn = Map.groupBy(undone, ({ urn }) => urn);
  const unsure = new Set<string>();
  const steps = preview.steps.flatMap((step): Step[] => {
    const own = byUrn.get(step.urn);
    if (!own || ourTypeOf(step.urn) === undefined) return [step];
    for (const uid of uidsOf(step)) if (inParts(step, own)) unsure.add(uid);
    // The successor exists, and the record that it replaces stays for now.
    if (own.every(({ op }) => op === "delete-replaced")) return [step];
    if (step.op === "create") return [];
    // A replacement is shown as three steps.
    if (step.op === "create-replacement" || step.op === "delete-replaced") return [];
    return step.oldState ? [{ ...step, op: "same", newState: step.oldState }] : [];
  });
  return { preview: { ...preview, steps }, unsure };
};

/** A set sends a request for each pair, and a group with forceDestroy one for each record in it. */
const inParts = ({ urn, op }: Step, undone: readonly { op: string }[]): boolean =>
  ["RoleBindingSet", "Group"].includes(ourTypeOf(urn) as string)
    ? op !== "create" || ourTypeOf(urn) === "RoleBindingSet"
    : undone.some((one) => one.op === "delete-replaced");

const uidsOf = ({ oldState, newState }: Step): string[] =>
  [oldState?.id, oldState?.inputs?.parent, newState?.inputs?.parent].filter(isUidp);
