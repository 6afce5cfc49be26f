// Static keys that begin or end: their holder gains or loses what the identity holds, whatever happens to its bindings. Of a new
// identity, and of one that goes, this is what the identity itself gains or loses.
import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import type { AccessGraph, BindingNode, IdentityNode, NodeId } from "../graph/graph.ts";
import { distinctName, type PeopleGraph, type Subject } from "../graph/people.ts";
import { assumptionOf } from "./assume.ts";

type Keys = Json & { expirationTime?: string };

/** The keys of an identity that have not ended. */
const validKeys = (identity: IdentityNode | undefined, nowMs: number): Keys | undefined => {
  const { staticKeys } = (identity?.relationship ?? {}) as { staticKeys?: Keys };
  return staticKeys && !(Date.parse(staticKeys.expirationTime ?? "") <= nowMs) ? staticKeys : undefined;
};

/**
 * A text for each key of a set, the same for the same key. A set that two parsers may read as different keys is one key, which is its text:
 * one that is not JSON, is empty, names a member twice or has a member beside `keys`.
 */
export const keysIn = (issuerKeys: string): string[] => {
  const compact = (json: string) => json.replace(/\s/g, "");
  try {
    const set = JSON.parse(issuerKeys);
    const isPlain = Object.keys(set).join() === "keys" && compact(JSON.stringify(set)) === compact(issuerKeys);
    if (isPlain && Array.isArray(set.keys) && set.keys.length > 0) return set.keys.map(equalityKey);
  } catch {
    // The API stores any text (docs/contract.md#issuer-key-text).
  }
  return [issuerKeys];
};

const keyText = (keys: Keys | undefined): string => {
  const { expirationTime: _, ...own } = keys ?? {};
  return equalityKey(own);
};

/** `one` with the holders of keys that `other` lacks, where both have the identity. */
export const withKeyHolders = (view: PeopleGraph, one: AccessGraph, other: AccessGraph, nowMs: number): PeopleGraph => {
  const holders = new Map<NodeId, Subject>();
  for (const identity of one.identities.values()) {
    const keys = validKeys(identity, nowMs);
    const twin = other.identities.get(identity.id);
    if (!keys || !twin || keyText(validKeys(twin, nowMs)) === keyText(keys)) continue;
    holders.set(identity.id, holderOf(one, identity, keys));
  }
  if (holders.size === 0) return view;
  const bindings = new Map<NodeId, BindingNode>(view.bindings);
  for (const binding of one.bindings.values()) {
    const holder = holders.get(binding.identity);
    if (holder) bindings.set(`${binding.id} keys`, { ...binding, id: `${binding.id} keys`, identity: holder.id });
  }
  const entries = [...holders.values()].map((holder) => [holder.id, holder] as const);
  return { ...view, identities: new Map([...view.identities, ...entries]), bindings };
};

const holderOf = ({ identities }: AccessGraph, identity: IdentityNode, keys: Keys): Subject => {
  const { id, uid, group } = identity;
  return {
    id: `${id} ${keyText(keys)}`,
    people: `${id} ${keyText(keys)}`,
    record: `${id} keys`,
    uid: null,
    recordUid: uid,
    name: `static keys of ${distinctName(identities, identity)}`,
    group,
    relationship: null,
    who: assumptionOf({ staticKeys: keys })?.text ?? "",
  };
};
