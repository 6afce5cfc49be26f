// When NOT_FOUND proves a deletion. A service at a wrong address, or one that does not know the organisation, answers NOT_FOUND
// to everything. So a record is gone only when the group above it can be read, or is gone by the same rule.
import { advised, hasCode } from "../../client/errors.ts";
import { getRecord } from "../../client/records.ts";
import { isRoot, parentOf } from "../../schema/index.ts";
import { group } from "../kind/group.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf } from "../kind/record.ts";
import type { Session } from "../session/session.ts";

export const NOT_DELETED = "A record that may not be read is not taken for deleted.";

/**
 * After a NOT_FOUND: throws where it is no proof. Nothing holds a root group: a read that does not find it proves nothing, a
 * delete has done what was asked for, since an engine that was killed after it must be able to go on.
 */
export const confirmGone = async (
  kind: Kind,
  session: Session,
  uid: string,
  action: "get" | "delete",
): Promise<void> => {
  const place = placeOf(kind, uid);
  if (place === "") {
    if (action === "get") throw unknownOrganization(kind, uid, uid);
    return;
  }
  // Of a tag, the group of its repo: what is gone with the repo is gone.
  const above = kind.parent === "Group" ? place : parentOf(place);
  for (let parent = above; ; parent = parentOf(parent)) {
    try {
      await getRecord(session, group, parent);
      return;
    } catch (error) {
      // Who is not authorised is told so before anything is looked for (AIP-211): the NOT_FOUND of the delete came from a
      // service that knows the organisation.
      if (action === "delete" && hasCode(error, "PERMISSION_DENIED")) return;
      if (!hasCode(error, "NOT_FOUND")) throw advised(error, "PERMISSION_DENIED", NOT_DELETED);
      if (isRoot(parent)) throw unknownOrganization(kind, uid, parent);
    }
  }
};

const unknownOrganization = (kind: Kind, uid: string, organization: string): Error => {
  const unknown = uid === organization ? "it is not known" : `neither it nor its organisation ${organization} is known`;
  return new Error(
    `${kind.word} ${uid}: ${unknown} to the service; is irm:baseUrl the right ` +
      "address? If the organisation is really gone, take its resources out of the state: pulumi state delete URN.",
  );
};
