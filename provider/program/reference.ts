// What the classes share: references to other records (a resource of ours, so that the engine knows the order, or a uid),
// alternatives of which one is given, names of outputs.
import * as pulumi from "@pulumi/pulumi";
import { isUidp, type Message } from "../../schema/index.ts";
import { withArticle } from "../kind/kind.ts";
import { programError } from "./program-error.ts";
import { type IrmResource, isOfType, typeOf } from "./resource.ts";
import { programSession } from "./session.ts";

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
  if (other)
    throw new TypeError(`${argument} takes ${withArticle(type)} or its uid; it was given ${withArticle(other)}`);
  return value as pulumi.Input<string> | undefined;
};

/** The API's fields as outputs; uid is the resource's id. */
export const outputNames = (schema: Message): string[] => Object.keys(schema.shape).filter((name) => name !== "uid");

// A role as an argument: a Role, a uid, or the name of a built-in role. The name is looked up while the program runs, so that a
// misspelt one is an error of the preview. The engine's side keeps the name, and looks up its uid when it needs it.

/** The argument as it is, refused where no built-in role has the name. Secret names are not shown. */
export const checkedRole = (
  resource: string,
  role: pulumi.Input<string> | undefined,
  argument = "role",
): pulumi.Input<string> | undefined => {
  // A unit test of a program has no engine, and no service.
  if (role === undefined || isUidp(role) || !pulumi.runtime.hasEngine()) return role;
  const given = pulumi.output(role);
  return given.apply(async (value) => {
    const { builtInRoleUid, isRoleName, UnknownRole } = await import("../kind/built-in-role.ts");
    if (!isRoleName(value)) return value;
    try {
      await builtInRoleUid(await programSession(), value);
    } catch (error) {
      if (!(error instanceof UnknownRole)) throw error;
      const text = (await pulumi.isSecret(given)) ? "no built-in role has this name" : error.message;
      throw programError(`${resource}: ${argument}: ${text}`);
    }
    return value;
  });
};

/** A preview answers with the argument: a uid, or the name of a role whose uid is not looked at before the update. */
export const asRecord = (output: pulumi.Output<BoundRecord>): pulumi.Output<BoundRecord> =>
  output.apply((value: BoundRecord | string) => {
    if (typeof value !== "string") return value;
    return isUidp(value) ? { uid: value, name: pulumi.unknown } : { uid: pulumi.unknown, name: value };
  }) as pulumi.Output<BoundRecord>;
