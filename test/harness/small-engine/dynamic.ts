// The dynamic adapter: adds what the classes of a program and the SDK's provider add, and calls the methods in this process.
import { methodsWith } from "../../../provider/engine/methods.ts";
import { KEY, PROVIDER } from "../../../provider/record/state.ts";
import type { Environment } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { isHalfDone, type Named, type Provider, typeOf } from "./provider.ts";

// Nothing is shared with the state: on the wire it could not be.
const copy = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** `stack`: organization/project/stack */
export const dynamicProvider = async (environment: Environment, stack: string): Promise<Provider> => {
  const ended = new AbortController();
  const methods = methodsWith({ ...environment, cancelled: ended.signal });
  await methods.group.configure({ config: { get: () => undefined } });
  const bag = ({ name, kind }: Named, inputs: Json): Json => ({
    [PROVIDER]: "the text that finds the provider",
    [KEY]: `${stack}/${typeOf(kind)}::${name}`,
    ...copy(inputs),
  });
  // As the SDK stores them (resultIncludingProvider).
  const outputs = (outs: unknown, inputs: Json): Json => ({ ...copy(outs), [PROVIDER]: inputs[PROVIDER] });
  const halfDone =
    (inputs: Json) =>
    (error: unknown): never => {
      if (isHalfDone(error)) error.properties = outputs(error.properties, inputs);
      throw error;
    };
  return {
    check: async (resource, olds, news) => {
      const { inputs, failures } = await methods[resource.kind].check(copy(olds), bag(resource, news));
      return { inputs: copy(inputs), failures };
    },
    diff: (resource, stored, inputs) => methods[resource.kind].diff(stored.id, copy(stored.outputs), copy(inputs)),
    preview: async () => undefined,
    create: async ({ kind }, inputs) => {
      const { id, outs } = await methods[kind].create(copy(inputs)).catch(halfDone(inputs));
      return { id, inputs, outputs: outputs(outs, inputs) };
    },
    update: async ({ kind }, stored, inputs) => {
      const { id, outputs: olds } = stored;
      const { outs } = await methods[kind].update(id, copy(olds), copy(inputs)).catch(halfDone(inputs));
      return { id, inputs, outputs: outputs(outs, inputs) };
    },
    read: async ({ kind }, stored) => {
      const { id, props, inputs } = await methods[kind].read(stored.id, copy(stored.outputs));
      if (id === "") return undefined;
      const own = inputs ? { ...copy(inputs), [PROVIDER]: stored.inputs[PROVIDER] } : stored.inputs;
      return { id, inputs: own, outputs: outputs(props, stored.outputs) };
    },
    delete: ({ kind }, stored) => methods[kind].delete(stored.id, copy(stored.outputs)),
    // The dynamic provider waits for what is under way.
    cancel: async () => undefined,
    // The engine calls Cancel at the end of a run, too.
    end: async () => ended.abort(),
  };
};
