// The steps of a preview, gathered by resource: what the engine does with each resource of ours, and the state and the inputs
// that it shows for it.
import { isPlaceholder } from "../../client/placeholder-uid.ts";
import { isNotVisibleText, isTakeoverText, NOT_VISIBLE_YET, TAKEN_OVER } from "../../client/preview-marks.ts";
import {
  type Resource as Descriptor,
  resources as descriptors,
  isManaged,
  isUidp,
  type Json,
  parentOf,
  printable,
} from "../../schema/index.ts";
import type { AccessGraph } from "../graph/graph.ts";
import type { IsHere } from "./service.ts";
import type { Preview, State, Step } from "./shape.ts";
import { ourTypeOf, partsOfUrn } from "./urn.ts";
import { isOrMayBe, valuesIn } from "./value.ts";

/** Where a graph has the records of each kind that a review reads; what others refer to comes first. */
export const NODES = {
  group: "groups",
  role: "roles",
  identity: "identities",
  identityProvider: "providers",
  externalGroupRoleMapping: "externalGroups",
  groupInvite: "invites",
  roleBinding: "bindings",
} as const satisfies Partial<Record<keyof typeof descriptors, keyof AccessGraph>>;

export type RecordKind = keyof typeof NODES;
export type ResourceKind = RecordKind | "roleBindingSet";

export const ORDER: readonly ResourceKind[] = [...(Object.keys(NODES) as RecordKind[]), "roleBindingSet"];

/** The word for a kind in messages. */
export const wordOf = (kind: ResourceKind): string =>
  kind === "roleBindingSet" ? "role binding set" : descriptors[kind].word;

/** The group that holds a record; a record of an identity provider is in the group of that one. */
export const groupHolding = (kind: RecordKind, uid: string): string =>
  descriptors[kind].parent === "Group" ? parentOf(uid) : parentOf(parentOf(uid));

const declarable = Object.values<Descriptor>(descriptors).filter(isManaged);

const KINDS: Readonly<Record<string, ResourceKind>> = Object.fromEntries([
  ...declarable.filter(({ field }) => ORDER.some((kind) => kind === field)).map(({ type, field }) => [type, field]),
  ["RoleBindingSet", "roleBindingSet"],
]);

/** Of a resource that gives access; undefined for any other. */
export const kindOfUrn = (urn: string): ResourceKind | undefined => KINDS[ourTypeOf(urn) ?? ""];

/** The record of a resource before the run, as the engine's state has it. */
export interface Stored {
  uid: string;
  inputs: Json;
  outputs: Json;
  /** the record outlives the resource: it was adopted or only read, the program retains it, or the engine sends no delete */
  stays: boolean;
  /** it stays since it was adopted, and the provider is asked: it lets no forceDestroy take the record along either */
  isLeft: boolean;
  /** URN of the resource of its option deletedWith */
  deletedWith?: string;
}

export interface Resource {
  urn: string;
  kind: ResourceKind;
  /** in the program: the last part of the URN */
  logicalName: string;
  /** found by the engine's refresh, or in its state */
  stored?: Stored;
  /** in the state before the refresh; a preview shows no other */
  refreshed?: Stored;
  /** after the run; absent: the resource goes */
  planned?: {
    /** undefined: only the run gives it one */
    uid?: string;
    /** what its step shows in place of the uid */
    shownUid?: string;
    /** it takes over a record, and which one is not known; it may create none */
    mayAdopt?: boolean;
    inputs: Json;
    op: "same" | "update" | "create" | "read";
    /** when an interrupted run created the record, which this one takes over */
    interruptedAt?: string;
  };
  /** records that the run deletes */
  deleted: Stored[];
}

export interface Resources {
  byUrn: ReadonlyMap<string, Resource>;
  /** what this version does not understand of steps of ours */
  unclear: { subject: string; message: string }[];
  /** `KIND UID` of the records that the run deletes, of kinds that are not resources here */
  deletedElsewhere: ReadonlySet<string>;
}

/** Ours that give no access. */
const OTHERS = ["AccessPolicy", ...declarable.filter((one) => one.givesNoAccess).map(({ type }) => type)];

/** `project/stack`, from the first URN; undefined where the preview has no step. */
export const stackIn = ({ steps }: Preview): string | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/s.exec(steps[0]?.urn ?? "") ?? [];
  return stack && `${project}/${stack}`;
};

/** What the steps show of the state before the run, with the URNs that the state has: each resource once, as the refresh found it. */
export const storedStates = ({ steps }: Preview) => {
  const states = steps.flatMap(({ oldState }) => {
    const { urn, type } = oldState ?? {};
    return urn && type ? [{ ...oldState, urn, type }] : [];
  });
  return [...new Map(states.map((state) => [state.urn, state])).values()];
};

const NO_CHANGE = ["same", "refresh", "read"];

export const resourcesIn = ({ steps, lines }: Preview, isHere: IsHere = () => true): Resources => {
  const byUrn = new Map<string, Resource>();
  const unclear: Resources["unclear"] = [];
  const [deletedElsewhere, adoptedElsewhere] = [new Set<string>(), new Set<string>()];
  for (const step of steps) {
    const { urn } = step;
    const type = ourTypeOf(urn);
    if (type === undefined || !isHere(urn)) continue;
    const { name } = partsOfUrn(urn);
    const kind = KINDS[type];
    if (!kind) {
      const stored = DELETES.includes(step.op) ? storedFromState(step.oldState) : undefined;
      const adopted = step.op === "create" ? valuesIn(step.newState?.inputs).adopt : undefined;
      const word = Object.values(descriptors).find((one) => one.type === type)?.word;
      if (stored && !stored.stays) deletedElsewhere.add(`${word} ${stored.uid}`);
      if (isUidp(adopted)) adoptedElsewhere.add(`${word} ${adopted}`);
      if (!OTHERS.includes(type) && !NO_CHANGE.includes(step.op))
        unclear.push({
          subject: name,
          message: `this version does not know resources of type ${type}; update pulumi-irm`,
        });
      continue;
    }
    const resource: Resource = byUrn.get(urn) ?? { urn, kind, logicalName: name, deleted: [] };
    byUrn.set(urn, resource);
    const message = addStep(resource, step);
    if (message) unclear.push({ subject: name, message });
  }
  keepAdopted(byUrn);
  return {
    byUrn,
    unclear: [...unclear, ...skippedDeletes(byUrn, steps), ...nativeTakeovers(byUrn, lines)],
    deletedElsewhere: new Set([...deletedElsewhere].filter((one) => !adoptedElsewhere.has(one))),
  };
};

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

const DELETES = ["delete", "delete-replaced", "replace"];

/**
 * The engine sends no delete for a record whose `deletedWith` it deletes in the same run, whatever becomes of that one: the program may
 * retain it (isDeletedWith in https://github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/step.go). What is in a group still goes
 * with the group. Returns what this version cannot say.
 */
const skippedDeletes = (byUrn: ReadonlyMap<string, Resource>, steps: readonly Step[]): Resources["unclear"] => {
  const urnsOf = (...ops: string[]) => new Set(steps.flatMap(({ op, urn }) => (ops.includes(op) ? [urn] : [])));
  const [deleted, replaced] = [urnsOf("delete", "delete-replaced"), urnsOf("replace", "create-replacement")];
  return [...byUrn.values()].flatMap(({ logicalName, deleted: own }) =>
    own.flatMap((stored) => {
      const { deletedWith } = stored;
      if (deletedWith !== undefined && deleted.has(deletedWith)) stored.isLeft = false;
      if (deletedWith === undefined || stored.stays) return [];
      if (deleted.has(deletedWith)) stored.stays = true;
      else if (replaced.has(deletedWith)) {
        const message = `it is to be deleted with ${partsOfUrn(deletedWith).name}, which is replaced: whether its record stays is not known`;
        return [{ subject: logicalName, message }];
      }
      return [];
    }),
  );
};

/**
 * The preview shows no outputs of a native create. Only a line of the plugin says which record it takes over from an interrupted run.
 * A program can print such a line too, so the line makes a record unknown and never names one. What is not visible yet, if it exists,
 * is what the interrupted run was to create: it gives the same as a new one.
 */
const nativeTakeovers = (byUrn: ReadonlyMap<string, Resource>, lines: Preview["lines"]): Resources["unclear"] =>
  lines.flatMap(({ urn, text }) => {
    const { planned, logicalName } = byUrn.get(urn) ?? {};
    if (planned?.op !== "create" || planned.uid !== undefined || !isTakeoverText(text)) return [];
    if (!isNotVisibleText(text)) planned.mayAdopt = true;
    return [{ subject: logicalName ?? urn, message: `the preview says: ${printable(text)}` }];
  });

/** Adds a step to what is known of its resource. Returns what this version does not understand of it. */
const addStep = (resource: Resource, { op, oldState, newState }: Step): string | undefined => {
  const stored = storedFromState(oldState);
  switch (op) {
    case "refresh":
      resource.refreshed = stored ?? storedFromState(newState);
      return undefined;
    case "same":
    case "update": {
      // A create that --target or --exclude leaves out.
      if (op === "same" && !stored && !newState?.id && !newState?.inputs) return undefined;
      const uid = stored?.uid ?? newState?.id ?? undefined;
      if (uid === undefined) return `the preview shows no id of a resource that exists (${op})`;
      resource.stored = stored;
      resource.planned = { ...plannedFromState(newState ?? oldState), uid, op };
      return undefined;
    }
    case "create":
    case "create-replacement":
      if (!newState) return `the preview shows nothing of what it would ${op}`;
      resource.planned = plannedCreate(newState);
      return doubtOf(newState);
    case "replace":
      if (!newState) return "the preview shows nothing of what it would create in place of this resource";
      resource.stored = stored;
      resource.planned = plannedCreate(newState);
      return deleteOf(resource, stored) ?? doubtOf(newState);
    case "delete":
    case "delete-replaced":
      return deleteOf(resource, stored);
    case "read":
    case "read-replacement":
    case "import":
    case "import-replacement": {
      const uid = newState?.id ?? stored?.uid;
      if (!isUidp(uid)) return `the preview does not know the uid of the record that it reads (${op})`;
      resource.planned = { ...plannedFromState(newState), uid, op: op.startsWith("read") ? "read" : "create" };
      return undefined;
    }
    // Only the state changes.
    case "discard":
    case "discard-replaced":
    case "read-discard":
    case "remove-pending-replace":
      return undefined;
    default:
      return `this version does not know what the engine's step ${JSON.stringify(op)} does; update pulumi-irm`;
  }
};

const deleteOf = (resource: Resource, stored: Stored | undefined): string | undefined => {
  if (!stored) return "the preview shows no id of a resource that it would delete";
  if (!resource.deleted.some(({ uid }) => uid === stored.uid)) resource.deleted.push(stored);
  return undefined;
};

const storedFromState = (state: State | null | undefined): Stored | undefined => {
  if (!state?.id) return undefined;
  const { id, retainOnDelete, external, deletedWith } = state;
  const [inputs, known] = [valuesIn(state.inputs), valuesIn(state.outputs)];
  const isAdopted = known.adopted === true && !isOrMayBe(known.deleteAdopted);
  const isUnasked = retainOnDelete === true || external === true;
  const stays = isUnasked || isAdopted;
  const isLeft = isAdopted && !isUnasked;
  return { uid: id, inputs, outputs: known, stays, isLeft, ...(deletedWith && { deletedWith }) };
};

type Planned = NonNullable<Resource["planned"]>;

const plannedFromState = (state: State | null | undefined): Pick<Planned, "inputs"> => ({
  inputs: valuesIn(state?.inputs),
});

/** An adopted record exists, and so does one that an interrupted run created. */
const plannedCreate = (state: State): Planned => {
  const planned = plannedFromState(state);
  const { adopt } = planned.inputs;
  const taken = takenOver(state);
  const { uid, at, doubt } = taken ?? {};
  if (isUidp(uid)) return { ...planned, uid, op: "create", interruptedAt: String(at) };
  if (isUidp(adopt) && !isPlaceholder(adopt)) return { ...planned, uid: adopt, op: "create" };
  const shownUid = planned.inputs.uid ?? valuesIn(state.outputs).uid;
  return {
    ...planned,
    ...(isUidp(shownUid) && { shownUid }),
    // A create of an interrupted run may have made this record too. If it is not visible yet, see nativeTakeovers.
    ...(((adopt !== undefined && adopt !== null) || (taken && doubt !== NOT_VISIBLE_YET)) && { mayAdopt: true }),
    op: "create",
  };
};

const takenOver = ({ inputs }: State): Json | undefined => valuesIn(inputs)[TAKEN_OVER] as Json | undefined;

const doubtOf = (state: State): string | undefined => {
  const { uid, at, doubt } = takenOver(state) ?? {};
  if (typeof doubt !== "string") return undefined;
  const record = isUidp(uid) ? uid : "a record";
  return `the run may take over ${record}, which an earlier run created at ${at}: ${doubt}`;
};
