// One line in the preview for each role binding that is created, changed or removed. It shows the names that the program or the state
// knows, in place of the engine's uids.
import { equalityKey } from "../../access/canonical.ts";
import { relationshipOf } from "../../access/graph/live-record.ts";
import { assumptionOf } from "../../access/review/assume.ts";
import { placeOfUrn } from "../../pulumi/urn.ts";
import { bulleted, isUidp, type Json, parentOf } from "../../schema/index.ts";
import { kindOfToken, kindRecords, PARTS, type Part } from "../kind/index.ts";
import { isBuiltIn, type Named, namedText, partOf } from "../kind/names.ts";
import { type Binding, bindingsIn, type DeclaredPair, grants } from "../kind/pair.ts";
import { staysOnDelete } from "../reconcile/delete.ts";
import { recordId } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { KEY, nameInKey, SECRET_NAME } from "../record/state.ts";
import { bindingNames, type ShownNames, shownNames } from "./record-names.ts";
import { removedSetText } from "./set-review.ts";
import type { StepParts } from "./steps.ts";

/** A set of the program, as far as a preview knows it. */
export interface DeclaredSet {
  /** logical name */
  name: string;
  /** uid of the group */
  parent: string;
  pairs: readonly Pick<DeclaredPair, "identity" | "role">[];
}

/** The lines about role bindings. `sentence` is for the reader of a preview, `log` reports completed changes. */
export const bindingReviewWith = ({ sentence, log, names, isDeclared }: StepParts) => {
  const reported = new Set<unknown>();

  const logOnce = (bag: Json, verb: string, parts: readonly string[]) => {
    if (reported.has(bag[KEY])) return;
    reported.add(bag[KEY]);
    sentence(bag[KEY], `RoleBinding ${logicalName(bag)} ${verb}: ${parts.join(", ")}`);
  };
  /** The inputs with the API's names, if the line shows them. */
  const withNames = async (news: Json, shown: ShownNames | undefined) => {
    if (shown === undefined || reported.has(news[KEY])) return news;
    const given = shownNames(shown.own as Json | undefined, news.names as Json | undefined);
    return { ...news, names: await bindingNames(names, shown.isOpen, { ...news, names: given }) };
  };

  return {
    /** The engine has checked the inputs of a new resource. */
    checked: async (inputs: Json, shown: ShownNames | undefined) => {
      const news = await withNames(inputs, shown);
      logOnce(
        news,
        isUidp(news.adopt) ? `adopts role binding ${news.adopt}` : "is new",
        PARTS.map((part) => `${part} ${namedText(desiredName(news, part))}`),
      );
    },
    /** The engine has compared the outputs in the state with the inputs. */
    compared: async (olds: Json, inputs: Json, shown: ShownNames | undefined): Promise<void> => {
      if (!isDeclared(inputs[KEY])) return;
      const changed = PARTS.filter((part) => !isSame(storedName(olds, part), desiredName(inputs, part)));
      if (changed.length === 0) return;
      const news = await withNames(inputs, shown);
      const parts = PARTS.map((part) => {
        const after = desiredName(news, part);
        if (!changed.includes(part)) return `${part} ${namedText(after)}`;
        return `${part} ${namedText(storedName(olds, part))} becomes ${namedText(after)}`;
      });
      logOnce(news, "changes", parts);
    },
    /** It has deleted the resource. */
    removed: (outputs: Json) => log(removedBinding(outputs)),
  };
};

const removedBinding = (outputs: Json) => {
  const parts = PARTS.map((part) => `${part} ${namedText(storedName(outputs, part))}`);
  return `RoleBinding ${logicalName(outputs)} is removed: ${parts.join(", ")}`;
};

/** A resource of the state that the program does not declare. */
export interface Leaving {
  type: string;
  urn: string;
  outputs: Json;
  /** the outputs with `[secret]` in place of secrets */
  shown: Json;
}

/** The declarations of the program. */
interface Staying {
  sets: readonly DeclaredSet[];
  /** the new identities, without secret or unknown values */
  identities: readonly NewIdentity[];
  /** A RoleBinding manages or adopts the record of this uid. */
  isKept(uid: string): boolean;
  /** Another resource of the state already manages the role binding of this uid. A resource that adopts it reports that itself. */
  isShared(uid: string): boolean;
}

export interface NewIdentity {
  /** logical name */
  name: string;
  /** its arguments, by the API's names */
  record: Json;
}

/** The facts about a resource that leaves the stack that the engine does not show. */
export const removedText = (
  { type, urn, outputs, shown }: Leaving,
  { sets, identities, isKept, isShared }: Staying,
): string | undefined => {
  if (typeOfToken(type) === SET_TYPE) return removedSetText(urn, outputs, { isKept, isShared });
  const kind = kindOfToken(type);
  if (!kind) return undefined;
  if (staysOnDelete(outputs)) {
    return `${kind.type} ${nameInKey(urn)} is no longer in the program: ${kind.word} ${outputs.uid} was adopted and stays`;
  }
  if (kind === kindRecords.identity) return removedIdentity(urn, outputs, shown, identities);
  if (kind !== kindRecords.roleBinding) return undefined;
  const set = sets.find((one) => declaresPair(one, outputs));
  const binding = { ...outputs, [KEY]: urn };
  if (set === undefined) return removedBinding(binding);
  if (!isShared(String(outputs.uid))) return undefined;
  return `RoleBinding ${logicalName(binding)} is no longer in the program: RoleBindingSet ${set.name} has ${kind.word} ${outputs.uid}, which stays`;
};

const removedIdentity = (urn: string, outputs: Json, shown: Json, identities: readonly NewIdentity[]): string => {
  const isSecret = equalityKey(relationshipOf(outputs)) !== equalityKey(relationshipOf(shown));
  const who = isSecret ? SECRET_NAME : assumptionOf(relationshipOf(shown))?.text;
  const next =
    identities.find((one) => isOfSameWorkloads(shown, one)) ?? identities.find((one) => isNamesake(shown, one));
  const lines = [
    `workflows that name ${outputs.uid} in IRM_IDENTITY can no longer sign in`,
    ...(who === undefined ? [] : [`who could assume it: ${who}`]),
    next
      ? `Identity ${next.name} takes its place with another uid. ${KEEP}`
      : `If another identity takes its place: ${KEEP}`,
  ];
  return bulleted(`Identity ${nameInKey(urn)} is removed:`, ...lines);
};

const KEEP = "To keep the record, name the former resource in aliases, or the former key of a policy as was";

const isOfSameWorkloads = (former: Json, { record }: NewIdentity) => {
  const relationship = relationshipOf(record);
  return relationship !== null && equalityKey(relationshipOf(former)) === equalityKey(relationship);
};

/** Whether a new identity has the name and the group of a removed one. */
const isNamesake = (former: Json, { record }: NewIdentity) =>
  record.name === former.name && record.parent === parentOf(String(former.uid));

/** Whether the set declares the pair of the role binding. */
const declaresPair = ({ parent, pairs }: DeclaredSet, outputs: Json) =>
  storedUid(outputs, "group") === parent && pairs.some((pair) => grants(outputs as unknown as Binding, pair));

const logicalName = (bag: Json) => nameInKey(bag[KEY] ?? bag.uid);

/** The record that the arguments name. A role that is given by its name has no uid here. */
const desiredName = (news: Json, part: Part): Named => {
  const argument = part === "group" ? news.parent : (news[part] ?? news[`${part}Uid`]);
  return { uid: argument, name: (news.names as Json | undefined)?.[part] };
};

/** The record that the outputs name. */
const storedName = (olds: Json, part: Part): Named => ({
  uid: storedUid(olds, part),
  name: partOf(olds, part).name,
});

/** The state of a native role binding omits the uid of its group: the binding's uid contains it. */
const storedUid = (olds: Json, part: Part): unknown => {
  const { uid } = partOf(olds, part);
  return uid === undefined && part === "group" && isUidp(olds.uid) ? parentOf(olds.uid) : uid;
};

const isSame = (before: Named, after: Named) =>
  before.uid === after.uid || (isBuiltIn(before) && before.name !== undefined && before.name === after.uid);

// The preview's lines about resources that leave a stack, for which the engine calls no provider: role bindings that end, and records that
// stay although the engine shows a deletion.

/** The declarations of one run of a program. */
export interface Declared extends Omit<Staying, "isKept" | "isShared"> {
  /** places of its resources in the stack (`placeOfUrn`) */
  places: ReadonlySet<string>;
  /** Whether it has or adopts the record with this `recordId`. */
  isKept(id: string): boolean;
}

/** `recordId` of the record that a resource of the state manages; undefined for a set of role bindings, which has the uid of its group. */
export const managedId = (type: string, uid: unknown): string | undefined => {
  if (typeOfToken(type) === SET_TYPE || typeof uid !== "string") return undefined;
  const kind = kindOfToken(type);
  return kind ? recordId(kind.field, uid) : uid;
};

const roleBindingsOf = ({ type, outputs }: Leaving) => {
  const recordType = typeOfToken(type);
  if (recordType === SET_TYPE) return bindingsIn(outputs, "bindings").map(({ uid }) => uid);
  return recordType === kindRecords.roleBinding.type ? [outputs.uid] : [];
};

/** A text for each resource that leaves, if the engine does not show everything about it. */
export const removalTexts = (state: readonly Leaving[], { places, isKept, ...declared }: Declared): string[] => {
  const holders = state.flatMap(roleBindingsOf);
  const isShared = (uid: string) => holders.indexOf(uid) !== holders.lastIndexOf(uid);
  const staying = { ...declared, isKept, isShared };
  return state.flatMap((one) => {
    const id = managedId(one.type, one.outputs.uid);
    // The uid is under another name: an alias, or a record that another resource adopts.
    if (places.has(placeOfUrn(one.urn)) || (id !== undefined && isKept(id))) return [];
    return removedText(one, staying) ?? [];
  });
};
