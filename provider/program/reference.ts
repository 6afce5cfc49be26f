// What the classes share: references to other records (a resource of ours, so that the engine knows the order, or a uid),
// alternatives of which one is given, names of outputs.
import type * as pulumi from "@pulumi/pulumi";
import type { Message } from "../../schema/index.ts";
import { type IrmResource, isOfType, typeOf } from "./resource.ts";

/** A record that another one refers to. */
export interface BoundRecord {
  uid: string;
  /** as of the last create, update or refresh; left out where it may be secret */
  name?: string;
}

/** One of the alternatives, never two: the others are a compile error. */
export type OneOf<T> = { [K in keyof T]: Required<Pick<T, K>> & { [Other in Exclude<keyof T, K>]?: never } }[keyof T];

/** The uid that a reference stands for; a resource of another type is refused where it is written. */
export const referenceUid = (
  value: IrmResource | pulumi.Input<string> | undefined,
  type: string,
  argument: string,
): pulumi.Input<string> | undefined => {
  if (isOfType(value, type)) return value.id;
  const other = typeOf(value);
  if (other) throw new TypeError(`${argument} takes a ${type} or its uid; it was given a ${other}`);
  return value as pulumi.Input<string> | undefined;
};

/** The API's fields as outputs; uid is the resource's id. */
export const outputNames = (schema: Message): string[] => Object.keys(schema.shape).filter((name) => name !== "uid");
