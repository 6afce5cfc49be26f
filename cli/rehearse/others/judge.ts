// What the preview of the original says of the resources of other providers: whether they change, and what was read.
import type { Preview, Step } from "../../../access/preview/shape.ts";
import { ourTypeOf, partsOfUrn } from "../../../access/preview/urn.ts";
import { SECRET, UNKNOWN, valuesIn } from "../../../access/preview/value.ts";
import type { Json } from "../../../schema/index.ts";
import { UNCHANGED } from "../run.ts";
import type { Judge } from "./guard.ts";

export const judgeFrom = ({ steps }: Preview): Judge => {
  const shown = Map.groupBy(steps, ({ urn }) => urn);
  return {
    isOurs: (urn) => ourTypeOf(urn) !== undefined,
    isChanged: (urn) => shown.get(urn)?.some(({ op }) => !UNCHANGED.includes(op)),
    readOf: (urn, id) => {
      const own = shown.get(urn);
      // What an import reads becomes a record of the stack.
      if (!own || own.some(({ op }) => op.startsWith("import"))) return undefined;
      const read = own.find(({ newState }) => newState?.external);
      return read ? knownIn(read, id) : "kept";
    },
  };
};

/** A custom resource of another provider. Components and what belongs to the engine send nothing. */
export const isOther = ({ urn }: { urn: string }): boolean => {
  const { type } = partsOfUrn(urn);
  return ourTypeOf(urn) === undefined && !/^pulumi:/.test(type) && type.split(":").length > 2;
};

/** URNs of resources of other providers whose values are not known: the engine leaves them as they are, with what depends on them. */
export const unknownOthers = ({ steps }: Preview, { readOf }: Judge): string[] => {
  const isUnknown = ({ op, urn, newState }: Step): boolean =>
    op === "read" ? readOf(urn, newState?.id ?? "") === undefined : !UNCHANGED.includes(op);
  return [...new Set(steps.filter((one) => isOther(one) && isUnknown(one)).map(({ urn }) => urn))];
};

/** The preview of a newer engine shows what it has read. Otherwise it is what the state has. */
const knownIn = ({ newState, oldState }: Step, id: string): { inputs: Json; outputs: Json } | undefined => {
  const state = [newState, oldState].find((one) => one?.id === id && one.outputs);
  const { inputs, outputs } = state ?? {};
  return outputs && isKnown(inputs) && isKnown(outputs) ? { inputs: inputs ?? {}, outputs } : undefined;
};

const isKnown = (bag: Json | null | undefined): boolean => {
  const text = JSON.stringify(valuesIn(bag));
  return !text.includes(UNKNOWN) && !text.includes(JSON.stringify(SECRET));
};
