// Ownership in the process of the dynamic provider. A stack that moves from dynamic to native resources has both in one operation: what
// one of them takes or keeps, the other must not delete.

import { joinerOf, joinOperation } from "../log/join.ts";
import type { Operation } from "../log/operation.ts";
import type { Engine } from "../log/place.ts";
import { createOwnership, type Ownership } from "./ownership.ts";

/** `engine` runs the dynamic provider. Without a plugin only adoptions are shared: a plugin may begin later to delete the record. */
export const besidePlugins = (ownership: Ownership, engine: Engine | undefined, service: string): Ownership => {
  if (engine === undefined) return ownership;
  let joined: Ownership | undefined;
  /** what the plugin has to know, once there is one */
  const early: ((to: Ownership) => void)[] = [];
  const join = (operation: Operation | undefined): Ownership | undefined => {
    if (!operation) return undefined;
    joined = createOwnership(operation, service);
    for (const note of early.splice(0)) noteIfFree(note, joined);
    return joined;
  };
  const joinBegun = joinerOf(engine);
  const pluginOwnership = () => joined ?? join(joinBegun());
  const noteInBoth = (note: (to: Ownership) => void): void => {
    const other = pluginOwnership();
    note(ownership);
    if (other) note(other);
    else early.push(note);
  };
  return {
    ...ownership,
    inState: (...about) => noteInBoth((to) => to.inState(...about)),
    keep: (uid, adopted) => noteInBoth((to) => to.keep(uid, adopted)),
    take: (uid, key, origin) => {
      const other = pluginOwnership() ?? (origin === "adopted" ? join(joinOperation(engine)) : undefined);
      other?.take(uid, key, origin);
      ownership.take(uid, key, origin);
    },
    ownerOf: (uid) => ownership.ownerOf(uid) ?? pluginOwnership()?.ownerOf(uid),
    isHeld: (uid) => ownership.isHeld(uid) || (pluginOwnership()?.isHeld(uid) ?? false),
    release: (...about) => ownership.release(...about) && (pluginOwnership()?.release(...about) ?? true),
  };
};

// The plugin has reported the conflict, if it was first.
const noteIfFree = (note: (to: Ownership) => void, to: Ownership): void => {
  try {
    note(to);
  } catch {
    // Nothing of this process depends on it.
  }
};
