// The facts about resources of other providers from the preview of the original: their changes, and the records that it read.
import type { Preview, Step } from "../../../pulumi/preview.ts";
import { ourTypeOf, partsOfUrn } from "../../../pulumi/urn.ts";
import { SECRET, UNKNOWN, valuesIn } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";
import { UNCHANGED } from "../up.ts";
import type { Judge } from "./guard.ts";

/**
 * `chosen` are arguments of the user for the engine: it leaves nothing out beside targets. `leftOut`: URNs of resources with unknown values. The
 * engine leaves them and their dependents as they are. A refused read would end the run, so it gives no values.
 */
export const judgeFrom = (
  { steps }: Preview,
  chosen: readonly string[] = [],
): Judge & { leftOut: readonly string[] } => {
  const shown = Map.groupBy(steps, ({ urn }) => urn);
  const knownOf = (urn: string, id: string): ReturnType<Judge["readOf"]> => {
    const own = shown.get(urn);
    // An import reads a record into the stack.
    if (!own || own.some(({ op }) => op.startsWith("import"))) return undefined;
    const read = own.find(({ newState }) => newState?.external);
    return read ? knownIn(read, id) : "kept";
  };
  const isUnknownRead = ({ op, urn, newState }: Step) =>
    op === "read" && knownOf(urn, newState?.id ?? "") === undefined;
  const unknown = steps.filter((one) => isOther(one) && (isUnknownRead(one) || !UNCHANGED.includes(one.op)));
  const leftOut = chosen.some((one) => /^--target(=|$)/.test(one)) ? [] : unknown;
  const withoutValues = new Set(leftOut.filter(isUnknownRead).map(({ urn }) => urn));
  return {
    isOurs: (urn) => ourTypeOf(urn) !== undefined,
    isChanged: (urn) => shown.get(urn)?.some(({ op }) => !UNCHANGED.includes(op)),
    readOf: (urn, id) => knownOf(urn, id) ?? (withoutValues.has(urn) ? { inputs: {}, outputs: {} } : undefined),
    leftOut: [...new Set(leftOut.map(({ urn }) => urn))],
  };
};

/** A custom resource of another provider. Components and resources of the engine send nothing. */
export const isOther = ({ urn }: { urn: string }): boolean => {
  const { type } = partsOfUrn(urn);
  return ourTypeOf(urn) === undefined && !/^pulumi:/.test(type) && type.split(":").length > 2;
};

/** The preview of a newer engine shows the record that it has read. Otherwise the state has it. */
const knownIn = ({ newState, oldState }: Step, id: string): { inputs: Json; outputs: Json } | undefined => {
  const state = [newState, oldState].find((one) => one?.id === id && one.outputs);
  const { inputs, outputs } = state ?? {};
  return outputs && isKnown(inputs) && isKnown(outputs) ? { inputs: inputs ?? {}, outputs } : undefined;
};

const isKnown = (bag: Json | null | undefined) => {
  const text = JSON.stringify(valuesIn(bag));
  return !text.includes(UNKNOWN) && !text.includes(JSON.stringify(SECRET));
};
