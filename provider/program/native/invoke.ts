// Functions of the plugin, as a program calls them.
import * as pulumi from "@pulumi/pulumi";
import { TOKEN_PREFIX } from "../../kind/kind.ts";
import { sharedProgramError } from "../session.ts";

/** The result of a function of the plugin; `name` is without the token's prefix. */
export const invoked = async <T>(name: string, args: object, opts?: pulumi.InvokeOptions): Promise<T> => {
  try {
    return await pulumi.runtime.invoke(TOKEN_PREFIX + name, args as pulumi.Inputs, opts);
  } catch (error) {
    // What the engine says first is where the function was called.
    throw sharedProgramError((error as Error).message.replace(/^invocation of \S+ returned an error: /i, ""));
  }
};

/** `ListGroups` to `listGroups`. */
export const listFunction = (operation: string): string => operation.charAt(0).toLowerCase() + operation.slice(1);
