// The names of the arguments that the program marks as secret: the preview of a dynamic resource describes its record, and its provider
// gets values without their marks.
import * as pulumi from "@pulumi/pulumi";
import { SECRET_ARGUMENTS } from "../record/state.ts";

/** The input that a preview adds. */
export const secretArguments = (given: pulumi.Inputs): pulumi.Inputs => {
  if (!pulumi.runtime.isDryRun()) return {};
  const names = Promise.all(
    Object.entries(given).map(async ([name, value]) => ((await pulumi.isSecret(pulumi.output(value))) ? [name] : [])),
  ).then((found) => found.flat());
  // What an input rejects with is reported where it is read.
  names.catch(() => undefined);
  return { [SECRET_ARGUMENTS]: names };
};
