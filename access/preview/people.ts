// What gives access to people: an invite to those who accept it, an identity provider to those who sign in first. They have no identity
// yet that could gain anything, so a review lists them as unknown.
import { printable } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import type { NodeId } from "../graph/graph.ts";
import type { Unknown } from "../review/report.ts";
import { type Reference, referenceOf, roleReferenceOf } from "./reference.ts";
import { ourTypeOf, partsOfUrn } from "./resource.ts";
import type { Preview } from "./shape.ts";
import { valuesIn } from "./value.ts";
import type { Work } from "./work.ts";

interface Door {
  words: string;
  who: string;
  /** the argument that names the role */
  role: string;
}

const DOORS: Readonly<Record<string, Door>> = {
  GroupInvite: { words: "group invite", who: "each person who accepts it", role: "role" },
  IdentityProvider: { words: "identity provider", who: "each person who signs in with it first", role: "defaultRole" },
};

const OPENS = ["create", "create-replacement", "replace", "update", "import", "import-replacement"];

export const openedToPeople = ({ records, after }: Work, { steps }: Preview): Unknown[] => {
  const unknown = new Map<string, Unknown>();
  for (const { urn, op, newState } of steps) {
    const door = DOORS[ourTypeOf(urn) ?? ""];
    if (!door || !OPENS.includes(op)) continue;
    const inputs = valuesIn(newState?.inputs);
    const { [door.role]: value } = inputs;
    const group = referenceOf(records, inputs.parent, "group");
    const role = roleReferenceOf(records, after, value);
    const place = named(group, after.groups, "a group that is not known");
    const subject = partsOfUrn(urn).name;
    const message = `${door.words} ${printable(subject)}: ${door.who} gets ${named(role, after.roles, "a role that is not known")} at ${place} and below; people without an identity are in neither gains nor findings`;
    unknown.set(urn, { subject, message });
  }
  return [...unknown.values()].sort((a, b) => compare(a.message, b.message));
};

const named = (part: Reference, nodes: ReadonlyMap<NodeId, { name: string }>, otherwise: string): string =>
  "id" in part ? printable(nodes.get(part.id)?.name ?? part.id) : otherwise;
