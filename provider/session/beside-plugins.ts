// Ownership in the process of the dynamic provider. A stack that moves from dynamic to native resources has both in one operation: what
// one of them takes, the other must not delete.
import { joinPlugins } from "../operation/join.ts";
import type { Engine } from "../operation/place.ts";
import { createOwnership, type Ownership } from "./ownership.ts";

/** `engine`: that of the dynamic provider. Without a plugin in the operation nothing is shared. */
export const besidePlugins = (own: Ownership, engine: Engine | undefined, service: string): Ownership => {
  if (engine === undefined) return own;
  let found: Ownership | undefined;
  // The plugin may begin later than this process.
  const shared = (): Ownership | undefined => {
    const operation = found ? undefined : joinPlugins(engine);
    if (operation) found = createOwnership(operation, service);
    return found;
  };
  return {
    ...own,
    take: (uid, key, origin) => {
      shared()?.take(uid, key, origin);
      own.take(uid, key, origin);
    },
    isHeld: (uid) => own.isHeld(uid) || (shared()?.isHeld(uid) ?? false),
    release: (uid, isOwn) => own.release(uid, isOwn) && (shared()?.release(uid, isOwn) ?? true),
  };
};
