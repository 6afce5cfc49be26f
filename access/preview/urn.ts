// The URN of a resource: `urn:pulumi:STACK::PROJECT::PARENT_TYPES$TYPE::NAME`.

// Types of dynamic resources, and of the native plugin.
const TYPE = /^(?:pulumi-nodejs:dynamic\/irm|irm:index(?:\/\w+)?):(.+)$/;

/** A name may contain `::`. */
export const partsOfUrn = (urn: string): { type: string; name: string } => {
  const [, , types = "", ...name] = urn.split("::");
  return { type: types.split("$").at(-1) ?? "", name: name.join("::") };
};

/** `RoleBinding` of a type token; undefined for one of another provider. */
export const ourType = (token: string): string | undefined => TYPE.exec(token)?.[1];

/** The same of a URN. */
export const ourTypeOf = (urn: string): string | undefined => ourType(partsOfUrn(urn).type);

/** `project/stack`; undefined where there is no URN. */
export const stackOfUrn = (urn: string | undefined): string | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/s.exec(urn ?? "") ?? [];
  return stack && `${project}/${stack}`;
};
