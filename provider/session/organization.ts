// Whether the organisation of a state is behind the address, asked once a process and organisation, before its first record is
// compared. Only proof counts: who may see a part of an organisation, or nothing at all of it, previews as before.

import { type Config, serviceOf } from "../../client/config.ts";
import { sessionErrorOf, sessionText } from "../../client/errors.ts";
import { listPage } from "../../client/paginate.ts";
import { isApiError, isLoopbackUrl, isRoot, type Json } from "../../schema/index.ts";
import { RESTARTED } from "./service-address.ts";
import type { Session } from "./session.ts";

type Caller = Pick<Session, "call" | "say">;

/** The reason why the organisation is surely not there; undefined where it is, or may be. */
export const absenceOf = async (
  { call, say }: Caller,
  config: Config,
  organization: string,
): Promise<string | undefined> => {
  try {
    const evidence = await evidenceOf(call, organization);
    return evidence && absent(organization, serviceOf(config.baseUrl), evidence);
  } catch (error) {
    const cause = sessionErrorOf(error) ?? (error as Error);
    const text = `the organisation ${organization} of this stack cannot be looked for: ${sessionText(cause)}`;
    // On loopback the server is the caller's own: a refused token means that the server is a new one.
    if (isApiError(cause) && REFUSALS.includes(cause.code) && isLoopbackUrl(config.authUrl)) return text;
    say(text);
    return undefined;
  }
};

const REFUSALS: readonly string[] = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

/**
 * What says that it is not there. Who is not authorised is denied before anything is looked for (AIP-211), so that a denial
 * alone proves nothing: only of a caller who sees another organisation and no group in this one.
 */
const evidenceOf = async (call: Session["call"], organization: string): Promise<string | undefined> => {
  let isUnknown: boolean;
  try {
    await call("GetGroup", { uid: organization });
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    isUnknown = isApiError(error, "NOT_FOUND");
  }
  if ((await groupsOf(call, { descendantsOf: organization })).length > 0) return undefined;
  if (isUnknown) return "the service does not know it";
  const roots = (await groupsOf(call, { inRoot: true })).map(({ uid }) => uid).filter(isRoot);
  if (roots.length === 0 || roots.includes(organization)) return undefined;
  return `these credentials see nothing of it, but ${roots.slice(0, 3).join(", ")}`;
};

const isRefusal = (error: unknown): boolean =>
  (isApiError(error, "NOT_FOUND") || isApiError(error, "PERMISSION_DENIED")) && !sessionErrorOf(error);

const groupsOf = async (call: Session["call"], uidp: Json): Promise<{ uid: string }[]> => {
  try {
    return (await listPage({ call }, { operation: "ListGroups", plural: "groups" }, { uidp, pageSize: 10 })).records;
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
};

const absent = (organization: string, service: string, evidence: string): string =>
  [
    `wrong service? The records of this stack are in the organisation ${organization}, and it is not at ${service}: ` +
      `${evidence}. Nothing is created, changed or deleted.`,
    "If the address or the credentials are those of another service: set them back.",
    ...(isLoopbackUrl(service)
      ? [RESTARTED]
      : ["If the organisation is gone: pulumi state delete URN for each of its resources, or --all."]),
    `To go on all the same: pulumi config set irm:movedFrom ${organization}, or IRM_MOVED_FROM=${organization} in the environment.`,
  ].join("\n  - ");
