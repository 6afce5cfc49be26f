// Errors for the person who wrote the program: the SDK prints a message and nothing else.
import * as pulumi from "@pulumi/pulumi";

/**
 * The SDK prints the stack of a RunError too where an input rejects, unless it is empty, and writes the name of the input
 * into the message. It reports each error object once, so that one error for several callers is one message.
 */
export const programError = (text: string): pulumi.RunError =>
  Object.defineProperties(new pulumi.RunError(text), {
    message: { get: () => text, set: () => undefined, configurable: true },
    stack: { value: "", writable: true, configurable: true },
  });
