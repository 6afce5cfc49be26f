// URNs of resources: urn:pulumi:STACK::PROJECT::TYPES::NAME, where TYPES are the types of the resources above it and its own.
import { typeOfToken } from "./kind.ts";

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

/** `Group` for a resource of ours in either form, otherwise the token. */
export const shortType = (token: string): string => typeOfToken(token) ?? token;

/** The resource in its stack, the same in either form: `AccessPolicy$Group::team`. */
export const placeInStack = (types: readonly string[], name: string): string =>
  `${types.map(shortType).join("$")}::${name}`;

/** The key of the resource, as the journal has it: organization/project/stack/type::name. */
export const keyFrom = (urn: string, organization: string): string => {
  const { stack, project, types, name } = urnFrom(urn);
  return `${organization}/${project}/${stack}/${placeInStack(types, name)}`;
};
