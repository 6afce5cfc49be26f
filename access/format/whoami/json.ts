// Who the caller is, as JSON: uids of groups, names of roles.
import type { CheckAnswer } from "../../query/own-check.ts";
import type { OwnGrant, WhoAmI } from "../../query/whoami.ts";

export interface WhoAmIJson {
  /** uid */
  identity: string | null;
  name: string | null;
  /** RFC 3339 */
  expires: string | null;
  grants: Pick<OwnGrant, "group" | "role" | "capabilities">[];
  /** what could not be read of the grants; absent where all of them are known */
  notKnown?: readonly string[];
  /** one for each --check; `group` is a uid, or null where the path cannot be resolved */
  checks?: { capability: string; group: string | null; held: boolean; message: string }[];
}

export const whoAmIAsJson = (who: WhoAmI, checks: readonly CheckAnswer[]): string => {
  const { identity, name, expires, grants, notKnown } = who;
  const json: WhoAmIJson = {
    identity,
    name,
    expires,
    grants: grants.map(({ group, role, capabilities }) => ({ group, role, capabilities })),
    ...(notKnown.length > 0 && { notKnown }),
    ...(checks.length > 0 && {
      checks: checks.map(({ capability, group, isHeld, message }) => ({ capability, group, held: isHeld, message })),
    }),
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
};
