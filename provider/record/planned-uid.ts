// The uid that a preview shows for a new record.
import { isPlaceholder, placeholderUid } from "../../client/placeholder-uid.ts";
import { NOT_VISIBLE_YET } from "../../client/preview-marks.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

interface About {
  /** what the update takes over from an interrupted run; `doubt`: it is not certain */
  taken?: { uid?: string; doubt?: string } | undefined;
  /** of the resource */
  urn?: string;
}

/** The uid that a resource new to the stack will have; undefined where it may take over a record, and which one is not known. */
export const plannedUid = (kind: Kind, { parent, adopt }: Json, { taken, urn }: About): string | undefined => {
  // What no read shows yet may not exist: its uid is as little known as that of a new record.
  if (taken && taken.doubt !== NOT_VISIBLE_YET) return taken.doubt === undefined ? taken.uid : undefined;
  if (adopt !== undefined && adopt !== null) return isUidp(adopt) && !isPlaceholder(adopt) ? adopt : undefined;
  const place = parent === undefined || parent === null ? "" : isUidp(parent) ? parent : undefined;
  return kind.list.sharesUid ? place : placeholderUid(place, urn);
};
