// The key of a resource, from its URN: the same as that of the dynamic resource of that name (provider/program/resource.ts), so that one
// journal serves both. A URN lacks the organisation of the stack. Our packages for TypeScript and Python pass it; without it, a backend
// other than Pulumi Cloud has one organisation, and there the id of the provider's resource stands in its place. That id is random and in
// the state, so two stacks of the same name never have the same keys.

import type { Env } from "../client/config.ts";
import { backendOf } from "../provider/journal/path.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { SET_TOKEN, TOKEN_PREFIX, TYPE_PREFIX } from "../provider/kind/kind.ts";

/** The hidden input of our packages: name of the stack's organisation. */
export const ORGANIZATION = "__organization";

interface Urn {
  stack: string;
  project: string;
  /** of the resources above, then its own */
  types: readonly string[];
  name: string;
}

/** Throws a TypeError for anything else. A name may contain `::`. */
export const urnFrom = (text: string): Urn => {
  const [, stack, project, types, name] = /^urn:pulumi:(.*?)::(.*?)::(.*?)::(.*)$/s.exec(text) ?? [];
  if (stack === undefined || project === undefined || types === undefined || name === undefined)
    throw new TypeError(`"${text}" is not a URN`);
  return { stack, project, types: types.split("$"), name };
};

const OWN_TYPES = new Set([...Object.values(kindRecords).map(({ type }) => type), SET_TOKEN.slice(TYPE_PREFIX.length)]);

/** `Group` for a resource of ours in either form, otherwise the token. */
const shortType = (token: string): string => {
  for (const prefix of [TYPE_PREFIX, TOKEN_PREFIX]) {
    const type = token.startsWith(prefix) ? token.slice(prefix.length) : "";
    if (OWN_TYPES.has(type)) return type;
  }
  return token;
};

/** Type of a resource of ours: `Group`; the token for any other. */
export const typeIn = (urn: string): string => shortType(urnFrom(urn).types.at(-1) as string);

export const keyFrom = (urn: string, organization: string): string => {
  const { stack, project, types, name } = urnFrom(urn);
  return `${organization}/${project}/${stack}/${types.map(shortType).join("$")}::${name}`;
};

/** What stands for the organisation where no package and no state says it. */
export const organizationWithout = (providerId: string, env: Env, cwd: string): string => {
  const backend = backendOf(env, cwd);
  const isCloud = backend === "" || /^https?:/.test(backend);
  return isCloud ? `~${providerId}` : "organization";
};

export const organizationIn = (key: unknown): string | undefined =>
  typeof key === "string" ? key.split("/", 1)[0] : undefined;
