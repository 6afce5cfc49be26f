// "May I do this here?", answered from what the caller holds. What is not known counts as no.
import type { Client } from "../../client/client.ts";
import { isAncestorOrSelf, rootOf } from "../../schema/index.ts";
import { friendlyCapability } from "../capability.ts";
import { findGroup } from "./own-groups.ts";
import { throughText, type WhoAmI } from "./whoami.ts";

/** As the user writes it: a capability by either name, a group by uid, path or `/`. */
export interface CheckText {
  capability: string;
  group: string;
}

export interface CheckAnswer {
  /** friendly name, or the API's name of one that this version does not know */
  capability: string;
  /** uid; null where the caller cannot see which group the path means */
  group: string | null;
  isHeld: boolean;
  /** `yes, through viewer` */
  message: string;
}

/** Throws a QuestionError where there is no such group. */
export const checkOwn = async (
  client: Pick<Client, "call" | "clock">,
  who: WhoAmI,
  { capability: text, group: path }: CheckText,
): Promise<CheckAnswer> => {
  const capability = friendlyCapability(text) ?? text;
  const group = await findGroup(client, path, organizationOf(who));
  if (group === undefined) {
    const message = "not known, which counts as no: you cannot see which group this path means; give its uid";
    return { capability, group: null, isHeld: false, message };
  }
  const roles = who.grants
    .filter((grant) => isAncestorOrSelf(grant.group, group) && grant.capabilities.includes(capability))
    .map(throughText);
  const answer = { capability, group, isHeld: roles.length > 0 };
  if (answer.isHeld) return { ...answer, message: `yes, through ${[...new Set(roles)].join(", ")}` };
  const { notKnown } = who;
  return {
    ...answer,
    message: notKnown.length === 0 ? "no" : `not known, which counts as no: ${notKnown.join("; ")}`,
  };
};

/** Where paths begin: the organization that has the identity, or the only one where it may do something. */
const organizationOf = ({ identity, grants }: WhoAmI): string | null => {
  const own = identity === null ? null : rootOf(identity);
  const organizations = new Set(grants.map(({ group }) => rootOf(group)));
  if (own !== null && organizations.has(own)) return own;
  const [organization = own, ...others] = organizations;
  return others.length === 0 ? organization : own;
};
