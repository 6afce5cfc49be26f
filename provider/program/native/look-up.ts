// How the look-ups and lists of programs become functions of the plugin, so that they use the provider of their options. Arguments,
// results and rules are the same as in the dynamic form; the functions themselves are generated (provider/program/generated/native).
import type * as pulumi from "@pulumi/pulumi";
import type { Json, Resource } from "../../../schema/index.ts";
import { requireNamed } from "../../engine/get.ts";
import { remembered } from "../binding-names.ts";
import type { GetOutputArgs } from "../generated/group.ts";
import { type GetArgs, getNamedOutput, getOutput } from "../get.ts";
import { isPlanned, unknownRecord } from "../planned.ts";
import { invoked, invokedLater, listFunction } from "./invoke.ts";

type Options = pulumi.InvokeOptions | undefined;
type Named = { uid: string; name: string };

export const get = async <T>(resource: Resource, args: object, opts: Options): Promise<T> =>
  isPlanned(args) ? unknownRecord<T>(resource) : invoked<T>(`get${resource.type}`, args, opts);

/** The same as the value of an Output. */
const getKnown = async <T>(resource: Resource, args: object, opts: Options): Promise<T> =>
  isPlanned(args) ? unknownRecord<T>(resource) : invokedLater<T>(`get${resource.type}`, args, opts);

export const getNamed = async <T extends Named>(resource: Resource, args: GetArgs, opts: Options): Promise<T> => {
  requireNamed(resource, args);
  return remembered(await get<T>(resource, args, opts));
};

export const getNamedLater = <T extends Named>(resource: Resource, args: GetOutputArgs, opts: Options) =>
  getNamedOutput<T>(resource, args, async (known) => {
    requireNamed(resource, known);
    return getKnown<T>(resource, known, opts);
  });

export const getLater = <T>(resource: Resource, args: object, opts: Options, place?: string): pulumi.Output<T> =>
  getOutput(resource, (known: object) => getKnown<T>(resource, known, opts), args, place);

export async function* list<T>({ list: { operation, plural } }: Resource, args: object, opts: Options) {
  if (isPlanned(args)) return;
  const { [plural]: records = [] } = await invoked<Json>(listFunction(operation), args, opts);
  yield* records as T[];
}
