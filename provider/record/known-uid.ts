// The uid of a new resource, where it is known before the update.
import type { TakenOver } from "../../client/preview-marks.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

/** Undefined where the update makes the record, or which one it takes over is not known. `taken`: from an interrupted run. */
export const knownUid = (kind: Kind, { parent, adopt }: Json, taken: TakenOver | undefined): string | undefined => {
  if (taken) return taken.doubt === undefined ? taken.uid : undefined;
  const uid = adopt ?? (kind.list.sharesUid ? parent : undefined);
  return isUidp(uid) ? uid : undefined;
};
