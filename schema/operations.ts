// The table of methods: every served method, by name. The server binds it, the client calls it, tests iterate over it.
import type { z } from "zod";
import type { OperationName } from "./generated/message.ts";
import type { Operations } from "./operation.ts";
import { authOperations, pingOperations, tokenOperations } from "./resource/token.ts";
import { v1Operations } from "./resource/v1.ts";
import { v1IamOperations } from "./resource/v1-iam.ts";
import { resourceMethods } from "./resources.ts";

/** Version segments that serve the same table; our client uses the first (docs/internals/contract.md#wire). */
export const VERSIONS = ["v2beta1", "v2"] as const;
export const VERSION = VERSIONS[0];

/** Root of every protobuf package, and of the services' error domains. */
export const PACKAGE = "chainguard.platform";

export const operations = {
  ...resourceMethods,
  ...pingOperations,
  ...v1Operations,
  ...v1IamOperations,
  ...tokenOperations,
  ...authOperations,
} satisfies Operations;

/** Generated from the rows, so that the published types name every method without zod. */
export type { OperationName };
export type RequestOf<N extends OperationName> = z.input<(typeof operations)[N]["request"]>;
export type ResponseOf<N extends OperationName> = z.infer<(typeof operations)[N]["response"]>;

/** Domain of ErrorInfo: the service that the method belongs to (docs/internals/contract.md#d30). */
export const domainOf = (service: string): string => {
  const [domain] = service.split(".");
  return `${domain === "registry" || domain === "vulnerabilities" ? domain : "iam"}.chainguard.dev`;
};
