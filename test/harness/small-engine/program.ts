// What a program declares, as data: resources whose inputs may name each other.
import type { StateKind } from "../../../provider/kind/index.ts";
import { UNKNOWN } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";

export interface Declared {
  /** logical name */
  name: string;
  kind: StateKind;
  inputs: Json;
}

export type Program = Declared[];

/** In inputs: the uid of another resource of the program, which the engine then knows to depend on. */
export const ref = (name: string): { ref: string } => ({ ref: name });

const isRef = (value: unknown): value is { ref: string } =>
  typeof value === "object" && value !== null && typeof (value as { ref?: unknown }).ref === "string";

/** Names of the resources that the inputs refer to. */
export const refsIn = (value: unknown): string[] => {
  if (isRef(value)) return [value.ref];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(refsIn) : [];
};

/** The inputs with something in place of each reference. */
export const mapRefs = <T>(value: T, replace: (name: string) => unknown): T => {
  if (isRef(value)) return replace(value.ref) as T;
  if (Array.isArray(value)) return value.map((one) => mapRefs(one, replace)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapRefs(one, replace)])) as T;
};

/** With uids; what is not known yet becomes the engine's unknown. */
export const resolve = <T>(value: T, uids: ReadonlyMap<string, string>): T =>
  mapRefs(value, (name) => uids.get(name) ?? UNKNOWN);

/** What is left of a program without a resource, and without all that refers to it. */
export const without = <D extends Declared>(program: readonly D[], name: string): D[] => {
  const dependents = program.filter(({ inputs }) => refsIn(inputs).includes(name));
  const rest = program.filter((one) => one.name !== name);
  return dependents.reduce((left, one) => without(left, one.name), rest);
};
