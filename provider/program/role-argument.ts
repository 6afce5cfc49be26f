// A role as an argument: a Role, a uid, or the name of a built-in role. The name is looked up while the program runs, so that a
// misspelt one is an error of the preview. The engine's side keeps the name, and looks up its uid when it needs it.
import * as pulumi from "@pulumi/pulumi";
import { isUidp } from "../../schema/index.ts";
import { programError } from "./program-error.ts";
import type { BoundRecord } from "./reference.ts";
import { programSession } from "./session.ts";

/** The argument as it is, refused where no built-in role has the name. Secret names are not told. */
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
