// The steps of a preview, gathered by resource: which records each resource has, gets and deletes.
import { isPlaceholder } from "../../client/placeholder-uid.ts";
import { TAKEN_OVER } from "../../client/preview-marks.ts";
import { resources as descriptors, isUidp, type Json } from "../../schema/index.ts";
import type { Preview, State, Step } from "../preview/shape.ts";
import { ourTypeOf } from "../preview/urn.ts";
import { isOrMayBe, valuesIn } from "../preview/value.ts";
import { kindOfUrn, type ResourceKind } from "../run/kind.ts";

interface Stored {
  uid: string;
  /** the record outlives the resource: it was adopted or only read, the program retains it, or the engine sends no delete */
  stays: boolean;
  /** URN of the resource of its option deletedWith */
  deletedWith?: string;
}

export interface Resource {
  urn: string;
  kind: ResourceKind;
  /** records before the run, also those that the refresh does not find */
  stored: Stored[];
  /** after the run; absent: the resource goes */
  planned?: {
    /** undefined: only the run gives it one */
    uid?: string;
    /** what its step shows in place of the uid */
    shownUid?: string;
    isNew: boolean;
  };
  /** records that the run deletes */
  deleted: Stored[];
}

export interface Resources {
  byUrn: ReadonlyMap<string, Resource>;
  /** `WORD UID` of the records that the run deletes, of kinds that give no access */
  deletedElsewhere: ReadonlySet<string>;
}

export const resourcesIn = ({ steps }: Preview): Resources => {
  const byUrn = new Map<string, Resource>();
  const [deletedElsewhere, adoptedElsewhere] = [new Set<string>(), new Set<string>()];
  for (const step of steps) {
    const { urn, op } = step;
    const type = ourTypeOf(urn);
    if (type === undefined) continue;
    const kind = kindOfUrn(urn);
    if (kind) {
      const resource: Resource = byUrn.get(urn) ?? { urn, kind, stored: [], deleted: [] };
      byUrn.set(urn, resource);
      addStep(resource, step);
      continue;
    }
    const stored = DELETES.includes(op) ? storedFrom(step.oldState) : undefined;
    const adopted = op === "create" ? valuesIn(step.newState?.inputs).adopt : undefined;
    const word = Object.values(descriptors).find((one) => one.type === type)?.word;
    if (stored && !stored.stays) deletedElsewhere.add(`${word} ${stored.uid}`);
    if (isUidp(adopted)) adoptedElsewhere.add(`${word} ${adopted}`);
  }
  keepAdopted(byUrn);
  skipDeletes(byUrn, steps);
  return { byUrn, deletedElsewhere: new Set([...deletedElsewhere].filter((one) => !adoptedElsewhere.has(one))) };
};

const DELETES = ["delete", "delete-replaced", "replace"];

/** A record that another resource has after the run stays, as the provider leaves it (provider/run/ownership.ts). */
const keepAdopted = (byUrn: ReadonlyMap<string, Resource>): void => {
  const held = new Map(
    [...byUrn.values()].flatMap(({ urn, kind, planned }) => (planned?.uid ? [[`${kind} ${planned.uid}`, urn]] : [])),
  );
  for (const { urn, kind, deleted } of byUrn.values())
    for (const stored of deleted) {
      const holder = held.get(`${kind} ${stored.uid}`);
      if (holder !== undefined && holder !== urn) stored.stays = true;
    }
};

/**
 * The engine sends no delete for a record whose `deletedWith` it deletes in the same run, whatever becomes of that one: the program may
 * retain it (isDeletedWith in https://github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/step.go).
 */
const skipDeletes = (byUrn: ReadonlyMap<string, Resource>, steps: readonly Step[]): void => {
  const deleted = new Set(steps.flatMap(({ op, urn }) => (["delete", "delete-replaced"].includes(op) ? [urn] : [])));
  for (const { deleted: own } of byUrn.values())
    for (const stored of own)
      if (stored.deletedWith !== undefined && deleted.has(stored.deletedWith)) stored.stays = true;
};

const addStep = (resource: Resource, { op, oldState, newState }: Step): void => {
  const stored = storedFrom(oldState);
  if (DELETES.includes(op) && stored && !resource.deleted.some(({ uid }) => uid === stored.uid))
    resource.deleted.push(stored);
  if (!op.includes("discard") && op !== "remove-pending-replace")
    resource.stored.push(...[stored ?? (op === "refresh" ? storedFrom(newState) : undefined)].filter((one) => !!one));
  if (newState && ["create", "create-replacement", "replace"].includes(op)) resource.planned = plannedCreate(newState);
  const uid = stored?.uid ?? newState?.id;
  if (uid && ["same", "update"].includes(op)) resource.planned = { uid, isNew: false };
  const read = newState?.id ?? stored?.uid;
  if (isUidp(read) && /^(read|import)(-replacement)?$/.test(op))
    resource.planned = { uid: read, isNew: op.startsWith("import") };
};

const storedFrom = (state: State | null | undefined): Stored | undefined => {
  if (!state?.id) return undefined;
  const { id, retainOnDelete, external, deletedWith } = state;
  const outputs = valuesIn(state.outputs);
  const isAdopted = outputs.adopted === true && !isOrMayBe(outputs.deleteAdopted);
  const stays = retainOnDelete === true || external === true || isAdopted;
  return { uid: id, stays, ...(deletedWith && { deletedWith }) };
};

/** An adopted record exists, and so does one that an interrupted run created. */
const plannedCreate = ({ inputs, outputs }: State): Resource["planned"] => {
  const { adopt, uid, [TAKEN_OVER]: taken } = valuesIn(inputs);
  const known = [(taken as Json | undefined)?.uid, adopt].find(
    (one): one is string => isUidp(one) && !isPlaceholder(one),
  );
  if (known !== undefined) return { uid: known, isNew: true };
  const shownUid = uid ?? valuesIn(outputs).uid;
  return { isNew: true, ...(isUidp(shownUid) && { shownUid }) };
};
