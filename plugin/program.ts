// What this process learns of the program whose resources it is asked about: at the end of a preview that tells what leaves the stack
// (removals.ts).
import { RELATIONSHIPS } from "../access/graph/live-record.ts";
import { placeOf } from "../provider/engine/removals.ts";
import type { DeclaredSet, NewIdentity } from "../provider/engine/review.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { type Kind, SET_TYPE } from "../provider/record/kind.ts";
import { pairsIn } from "../provider/set/pair.ts";
import { urnFrom } from "../pulumi/urn.ts";
import type { Json } from "../schema/index.ts";
import { containsSecret, type Marked } from "./value.ts";

export interface CheckedResource {
  urn: string;
  type: string;
  kind: Kind | undefined;
  isNew: boolean;
  /** what the program gives, with the marks of secrets */
  asked: Marked;
  /** after the check */
  inputs: Json;
  isRefused: boolean;
  /** It is of a class of this package, in TypeScript. */
  isOfClass: boolean;
}

export type ProgramNotes = ReturnType<typeof programNotes>;

export const programNotes = () => {
  /** of its resources in the stack */
  const places = new Set<string>();
  const sets: DeclaredSet[] = [];
  /** those that the update creates */
  const identities: NewIdentity[] = [];
  let hasComponent = false;
  let isOfClasses: boolean | undefined;
  const notes = {
    hasFailed: false,
    /** Undefined where no call has said it. */
    isPreview: undefined as boolean | undefined,
    /** Its own classes see the end of a program in TypeScript. Undefined where this process was asked about none of its resources. */
    get isTypescript(): boolean | undefined {
      return hasComponent ? false : isOfClasses;
    },
    ...{ places, sets, identities },
    noteCheck: ({ urn, type, kind, isNew, asked, inputs, isRefused, isOfClass }: CheckedResource) => {
      isOfClasses ??= isOfClass;
      places.add(placeOf(urn));
      notes.hasFailed ||= isRefused;
      const { name } = urnFrom(urn);
      if (type === SET_TYPE) sets.push({ name, parent: inputs.parent as string, pairs: pairsIn(inputs) });
      if (kind === kindRecords.identity && isNew) identities.push({ name, record: openMembers(asked, inputs) });
    },
    /** The engine plans, or carries out, a step of a resource. */
    noteStep: (isPreview: boolean) => {
      notes.isPreview = isPreview;
    },
    /** It asks for a component of the program, which no program in TypeScript does. */
    noteComponent: (isPreview: boolean) => {
      hasComponent = true;
      notes.isPreview = isPreview;
    },
    /** A call about a resource failed, so that the engine ends the run. */
    noteFailure: () => {
      notes.hasFailed = true;
    },
  };
  return notes;
};

/** What a reader may see of an identity. */
const openMembers = (asked: Marked, inputs: Json): Json => {
  const names = ["parent", "name", ...RELATIONSHIPS].filter((name) => !containsSecret(asked[name]));
  return Object.fromEntries(names.flatMap((name) => (inputs[name] === undefined ? [] : [[name, inputs[name]]])));
};
