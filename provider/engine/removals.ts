// What a preview says of resources that leave a stack, which the engine asks no provider about: the role bindings that end, and the records
// that stay although the engine shows a deletion.

import { placeInStack, urnFrom } from "../../pulumi/urn.ts";
import { resources as descriptors } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { bindingsIn } from "../set/pair.ts";
import { type Leaving, removedText, type Staying } from "./review.ts";

/** What one run of a program declares. */
export interface Declared extends Omit<Staying, "isKept" | "isShared"> {
  /** places of its resources in the stack (`placeOf`) */
  places: ReadonlySet<string>;
  /** Whether it has or adopts the record with this `recordId`. */
  isKept(id: string): boolean;
}

/** The same for a resource that moves from dynamic to native, or back. */
export const placeOf = (urn: string): string => {
  const { types, name } = urnFrom(urn);
  return placeInStack(types, name);
};

/** `recordId` of what a resource of the state manages; undefined of a set of role bindings, which has the uid of its group. */
export const managedId = (type: string, uid: unknown): string | undefined => {
  const recordType = typeOfToken(type);
  if (recordType === SET_TYPE || typeof uid !== "string") return undefined;
  const found = Object.values(descriptors).find((one) => one.type === recordType);
  return found ? recordId(found.field, uid) : uid;
};

const roleBindingsOf = ({ type, outputs }: Leaving): unknown[] => {
  const recordType = typeOfToken(type);
  if (recordType === SET_TYPE) return bindingsIn(outputs, "bindings").map(({ uid }) => uid);
  return recordType === descriptors.roleBinding.type ? [outputs.uid] : [];
};

/** A text for each resource that leaves, where the engine does not show all of it. */
export const removalTexts = (state: readonly Leaving[], { places, isKept, ...declared }: Declared): string[] => {
  const holders = state.flatMap(roleBindingsOf);
  const isShared = (uid: string): boolean => holders.indexOf(uid) !== holders.lastIndexOf(uid);
  const staying = { ...declared, isKept, isShared };
  return state.flatMap((one) => {
    const id = managedId(one.type, one.outputs.uid);
    // By its uid under another name: an alias, or a record that changes hands.
    if (places.has(placeOf(one.urn)) || (id !== undefined && isKept(id))) return [];
    return removedText(one, staying) ?? [];
  });
};
