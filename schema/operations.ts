// The table of methods: every method that is served, by name. The server binds it, the client calls it, tests walk it.
import type { z } from "zod";
import { groupOperations } from "./group.ts";
import { identityOperations } from "./identity.ts";
import type { Operations } from "./operation.ts";
import { repoOperations } from "./repo.ts";
import { roleOperations } from "./role.ts";
import { roleBindingOperations } from "./role-binding.ts";
import { tokenOperations } from "./token.ts";
import { v1Operations } from "./v1.ts";

/** Version segments that serve the same table; the first is what our client speaks (contract, head). */
export const VERSIONS = ["v2beta1", "v2"] as const;
export const VERSION = VERSIONS[0];

/** Root of every protobuf package, and of the services' error domains. */
export const PACKAGE = "chainguard.platform";

export const operations = {
  ...groupOperations,
  ...identityOperations,
  ...roleOperations,
  ...roleBindingOperations,
  ...repoOperations,
  ...v1Operations,
  ...tokenOperations,
} satisfies Operations;

export type OperationName = keyof typeof operations;
export type RequestOf<N extends OperationName> = z.input<(typeof operations)[N]["request"]>;
export type ResponseOf<N extends OperationName> = z.infer<(typeof operations)[N]["response"]>;

/** Domain of ErrorInfo: the service that the method belongs to (contract, decision 30). */
export const domainOf = (service: string): string => {
  const [domain] = service.split(".");
  return `${domain === "registry" || domain === "vulnerabilities" ? domain : "iam"}.chainguard.dev`;
};
