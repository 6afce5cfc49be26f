// What this process learns of the program whose resources it is asked about: at the end of a preview that tells what leaves the stack
// (removals.ts).
import { RELATIONSHIPS } from "../access/graph/live-record.ts";
import { placeOf } from "../provider/engine/removals.ts";
import type { DeclaredSet, NewIdentity } from "../provider/engine/review.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { type Kind, SET_TYPE } from "../provider/record/kind.ts";
import { urnFrom } from "../provider/record/urn.ts";
import { pairsIn } from "../provider/set/pair.ts";
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

export interface ProgramNotes {
  noteCheck(resource: CheckedResource): void;
  /** The engine plans, or carries out, a step of a resource. */
  noteStep(isPreview: boolean): void;
  /** It asks for a component of the program, which no program in TypeScript does. */
  noteComponent(isPreview: boolean): void;
  /** A call about a resource failed, so that the engine ends the run. */
  noteFailure(): void;
  readonly hasFailed: boolean;
  /** Undefined where no call has said it. */
  readonly isPreview: boolean | undefined;
  /** Its own classes see the end of a program in TypeScript. Undefined where this process was asked about none of its resources. */
  readonly isTypescript: boolean | undefined;
  /** places of its resources in the stack */
  readonly places: ReadonlySet<string>;
  readonly sets: readonly DeclaredSet[];
  /** those that the update creates */
  readonly identities: readonly NewIdentity[];
}

export const programNotes = (): ProgramNotes => {
  const places = new Set<string>();
  const sets: DeclaredSet[] = [];
  const identities: NewIdentity[] = [];
  let hasComponent = false;
  let isOfClasses: boolean | undefined;
  const notes = {
    hasFailed: false,
    isPreview: undefined as boolean | undefined,
    get isTypescript() {
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
    noteStep: (isPreview: boolean) => {
      notes.isPreview = isPreview;
    },
    noteComponent: (isPreview: boolean) => {
      hasComponent = true;
      notes.isPreview = isPreview;
    },
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
