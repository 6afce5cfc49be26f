// Resource options that the engine, or the SDK, does not apply to dynamic resources: refused with what to do instead, or made to
// work through an input (docs/limits.md).
import type * as pulumi from "@pulumi/pulumi";
import { REPLACE_ON } from "../state/state.ts";
import { programError } from "./program-error.ts";

/** Throws one sentence for an option that cannot work. */
export const checkOptions = (type: string, name: string, opts: pulumi.CustomResourceOptions): void => {
  if (opts.import !== undefined)
    throw programError(
      `${type} ${name}: the option import does not work for dynamic resources; take the record over with the argument ` +
        "adopt, its uid, instead (docs/limits.md).",
    );
  if (opts.provider !== undefined)
    throw programError(
      `${type} ${name}: the option provider does not work for dynamic resources; the configuration of the stack and the ` +
        "environment say which service it is, so leave the option out and use one stack for each service.",
    );
};

/** The option that the diff has to apply: of a dynamic resource the engine does not know which properties differ. */
export const optionInputs = ({ replaceOnChanges = [] }: pulumi.CustomResourceOptions): pulumi.Inputs =>
  replaceOnChanges.length === 0 ? {} : { [REPLACE_ON]: replaceOnChanges };
