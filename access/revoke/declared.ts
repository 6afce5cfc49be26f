// The resources of a stack that would create role bindings again.
import { COMPONENT, type Resource, resourcesFrom } from "../policy/stack.ts";
import { ourType, partsOfUrn } from "../preview/urn.ts";
import { valuesIn } from "../preview/value.ts";

/** `text` is what `pulumi stack export` prints. `RoleBinding release-edits`, or the component that declares it: `AccessPolicy acme`. */
export const declarationsIn = (text: string, bindings: ReadonlySet<string>): string[] => {
  const resources = resourcesFrom(text).filter((one) => one.delete !== true);
  const components = new Map(resources.filter(({ type }) => type === COMPONENT).map((one) => [one.urn, one]));
  const found = resources.filter((one) => uidsOf(one).some((uid) => bindings.has(uid)));
  const names = found.map((one) => {
    const component = components.get(one.parent ?? "");
    return component
      ? `AccessPolicy ${partsOfUrn(component.urn).name}`
      : `${ourType(one.type)} ${partsOfUrn(one.urn).name}`;
  });
  return [...new Set(names)];
};

const uidsOf = ({ id, type, outputs }: Resource): string[] => {
  const kind = ourType(type);
  if (kind === "RoleBinding") return id ? [id] : [];
  if (kind !== "RoleBindingSet") return [];
  const { bindings } = valuesIn(outputs);
  return Array.isArray(bindings) ? bindings.flatMap((one) => (typeof one?.uid === "string" ? one.uid : [])) : [];
};
