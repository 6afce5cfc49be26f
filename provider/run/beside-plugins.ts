// Ownership in the process of the dynamic provider. A stack that moves from dynamic to native resources has both in one operation: what
// one of them takes or keeps, the other must not delete.

import { joinBegun, joinOperation } from "../log/join.ts";
import type { Operation } from "../log/operation.ts";
import type { Engine } from "../log/place.ts";
import { createOwnership, type Ownership } from "./ownership.ts";

/** `engine`: that of the dynamic provider. Nothing is shared without a plugin, but what is adopted: a plugin may begin later to delete it. */
export const besidePlugins = (own: Ownership, engine: Engine | undefined, service: string): Ownership => {
  if (engine === undefined) return own;
  let found: Ownership | undefined;
  /** what the plugin has to know, once there is one */
  const early: ((to: Ownership) => void)[] = [];
  const join = (operation: Operation | undefined): Ownership | undefined => {
    if (!operation) return undefined;
    found = createOwnership(operation, service);
    for (const tell of early.splice(0)) tellIfFree(tell, found);
    return found;
  };
  const shared = () => found ?? join(joinBegun(engine));
  const tellBoth = (tell: (to: Ownership) => void): void => {
    const other = shared();
    tell(own);
    if (other) tell(other);
    else early.push(tell);
  };
  return {
    ...own,
    inState: (...about) => tellBoth((to) => to.inState(...about)),
    keep: (uid, adopted) => tellBoth((to) => to.keep(uid, adopted)),
    take: (uid, key, origin) => {
      const other = shared() ?? (origin === "adopted" ? join(joinOperation(engine)) : undefined);
      other?.take(uid, key, origin);
      own.take(uid, key, origin);
    },
    isHeld: (uid) => own.isHeld(uid) || (shared()?.isHeld(uid) ?? false),
    release: (...about) => own.release(...about) && (shared()?.release(...about) ?? true),
  };
};

// The plugin has reported the conflict, if it was first.
const tellIfFree = (tell: (to: Ownership) => void, to: Ownership): void => {
  try {
    tell(to);
  } catch {
    // Nothing of this process depends on it.
  }
};
