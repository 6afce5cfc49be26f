// How the look-ups and lists of programs become functions of the plugin, so that they use the provider of their options. Arguments,
// results and rules are the same as in the dynamic form; the functions themselves are generated (provider/program/generated/native).
import type * as pulumi from "@pulumi/pulumi";
import type { Json, Resource } from "../../../schema/index.ts";
import * as dynamic from "../get.ts";
import { isPlanned } from "../planned.ts";
import { invoked, invokedLater, listFunction } from "./invoke.ts";

type Options = pulumi.InvokeOptions | undefined;

export const get = <T extends { uid: string }>(resource: Resource, args: object, opts: Options): Promise<T> =>
  dynamic.get<T>(resource, args, ({ type }, known) => invoked(`get${type}`, known, opts));

export const getOutput = <T>(resource: Resource, args: object, opts: Options): pulumi.Output<T> =>
  dynamic.getOutput<T>(resource, args, ({ type }, known) => invokedLater(`get${type}`, known, opts));

export async function* list<T>({ list: { operation, plural } }: Resource, args: object, opts: Options) {
  if (isPlanned(args)) return;
  const { [plural]: records = [] } = await invoked<Json>(listFunction(operation), args, opts);
  yield* records as T[];
}
