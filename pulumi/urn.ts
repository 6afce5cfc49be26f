// The URN of a resource: `urn:pulumi:STACK::PROJECT::TYPES::NAME`, where TYPES are the types of the resources above it and its own type,
// separated by `$`.

/** `types` are those of the resources above, then its own. Throws a TypeError for anything else. A name may contain `::`. */
export const urnFrom = (text: string) => {
  const [, stack, project, types, name] = /^urn:pulumi:(.*?)::(.*?)::(.*?)::(.*)$/s.exec(text) ?? [];
  if (stack === undefined || project === undefined || types === undefined || name === undefined)
    throw new TypeError(`"${text}" is not a URN`);
  return { stack, project, types: types.split("$"), name };
};

/** Type and name in any text that a preview shows as a URN. */
export const partsOfUrn = (urn: string): { type: string; name: string } => {
  const [, , types = "", ...name] = urn.split("::");
  return { type: types.split("$").at(-1) ?? "", name: name.join("::") };
};

/** `project/stack`; undefined if there is no URN. */
export const stackOfUrn = (urn: string | undefined): string | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/s.exec(urn ?? "") ?? [];
  return stack && `${project}/${stack}`;
};

// Types of dynamic resources, and of the native plugin.
const TYPE = /^(?:pulumi-nodejs:dynamic\/irm|irm:index(?:\/\w+)?):(.+)$/;

/** `RoleBinding` of a type token, in either form; undefined for one of another provider. */
export const ourType = (token: string): string | undefined => TYPE.exec(token)?.[1];

/** `RoleBinding` of a URN, in either form. */
export const ourTypeOf = (urn: string): string | undefined => ourType(partsOfUrn(urn).type);

/** `RoleBinding`, or the token of another provider. */
export const shortType = (token: string): string => ourType(token) ?? token;

/** The resource in its stack, the same in either form: `AccessPolicy$Group::team`. */
export const placeInStack = (types: readonly string[], name: string): string =>
  `${types.map(shortType).join("$")}::${name}`;

/** The place of a resource in its stack. It does not change when the resource moves from dynamic to native, or back. */
export const placeOfUrn = (urn: string): string => {
  const { types, name } = urnFrom(urn);
  return placeInStack(types, name);
};

/** The key of the resource in the journal: organization/project/stack/type::name. */
export const keyFrom = (urn: string, organization: string): string => {
  const { stack, project, types, name } = urnFrom(urn);
  return `${organization}/${project}/${stack}/${placeInStack(types, name)}`;
};
