// Entries whose record cannot be read. A server without a database loses its organizations in a restart, and then answers like one that
// denies access (AIP-211). An entry of such an organization is dropped if its record cannot belong to the resource; otherwise a person
// decides, since the record may exist.
import { apiErrorOf, hasCode, sessionErrorOf, withSection } from "../../client/errors.ts";
import { getOrInsert, isLoopbackUrl, isUidp, rootOf } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { type Absence, absenceOf } from "./not-found.ts";

const absences = perSession(() => new Map<string, Promise<Absence | undefined>>());

/**
 * Why the entry, whose record gave this error, cannot belong to a resource in the group `parent` ("" at the root); undefined if it may.
 * Evidence that the service does not have the organization is not enough: other credentials may see it. So the resource must be in another
 * organization by now, or be an organization itself, at a server on the caller's machine.
 */
export const absentOrganization = async (
  session: Session,
  parent: string,
  entry: Entry,
  error: unknown,
): Promise<string | undefined> => {
  const organization = rootOf(entry.parent === "" ? (entry.uid ?? entry.answered ?? "") : entry.parent);
  if (!isUidp(organization) || !hasCode(apiErrorIn(error), "PERMISSION_DENIED")) return undefined;
  const isElsewhere = entry.parent !== "" && (parent === "" || rootOf(parent) !== organization);
  if (!isElsewhere && !(entry.parent === "" && isLoopbackUrl(session.service))) return undefined;
  const absence = getOrInsert(absences(session), organization, () => absenceOf(session, organization));
  const found = await absence.catch(() => undefined);
  return found === undefined
    ? undefined
    : `the organization ${organization} is not at ${session.service}: ${found.evidence}`;
};

/** The error with the journal's name and what to do, if the API refused to show the record of an entry. */
export const unreadableEntry = (session: Session, { key, uid, answered = uid }: Entry, error: unknown): unknown => {
  if (apiErrorIn(error) === undefined) return error;
  const { journal } = session;
  const what = answered === undefined ? "has a create of an interrupted run for it" : `names ${answered} for it`;
  const text =
    `${key}: the intent journal ${journal.pathFor(key)} ${what}, and the record cannot be read: ${(error as Error).message}\n` +
    "Use credentials that may read it. If it is gone, or belongs to somebody else: " +
    `${journal.cleanCommand(key)}. Until then nothing is created.`;
  return new Error(withSection(text, "unreadable-entry"), { cause: error });
};

/** The refusal of one request; undefined if every request would fail. */
const apiErrorIn = (error: unknown): Error | undefined => {
  if (!(error instanceof Error) || sessionErrorOf(error)) return undefined;
  return apiErrorOf(error) ?? apiErrorIn(error.cause);
};
