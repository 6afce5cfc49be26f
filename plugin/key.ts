// The key of a resource, from its URN: the same as for the dynamic resource of this name (provider/program/form.ts), so that one
// journal serves both. A URN lacks the organization of the stack. Our packages for TypeScript and Python pass it; without it, a backend
// other than Pulumi Cloud has one organization, and there the id of the provider's resource stands in its place. That id is random and in
// the state, so two stacks of the same name never have the same keys.

import type { Env } from "../client/config.ts";
import { backendOf } from "../pulumi/project.ts";
import { shortType, urnFrom } from "../pulumi/urn.ts";

export { keyFrom } from "../pulumi/urn.ts";

/** Type of a resource of ours: `Group`; the token for any other. */
export const typeIn = (urn: string): string => shortType(urnFrom(urn).types.at(-1) as string);

/** What stands for the organization where no package and no state says it. */
export const organizationWithout = (providerId: string, env: Env, cwd: string): string => {
  const backend = backendOf(env, cwd);
  const isCloud = backend === "" || /^https?:/.test(backend);
  return isCloud ? `~${providerId}` : "organization";
};

export const organizationIn = (key: unknown): string | undefined =>
  typeof key === "string" ? key.split("/", 1)[0] : undefined;
