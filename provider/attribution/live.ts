// The records of an open stack as they are now. The engine asks to compare one at a time, so the first request reads all of them together,
// in a few lists.

import { SERVICE } from "../../client/preview-marks.ts";
import type { EngineState } from "../../pulumi/state.ts";
import { getOrInsert, type Json } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import { readInBatch } from "../reconcile/read-batch.ts";
import { recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";

export type LiveRecords = ReturnType<typeof liveRecords>;

export const liveRecords = (session: Session, state: EngineState | undefined) => {
  const found = new Map<string, Promise<Json | undefined>>();
  const begin = (kind: Kind, uid: string, stored: Json) => {
    const reading = getOrInsert(found, recordId(kind.field, uid), () =>
      readInBatch(kind, session, uid, () => readUnlessDeleted(kind, session, uid, stored)),
    );
    // The caller that asks for a record gets the error.
    reading.catch(() => undefined);
    return reading;
  };
  const skipped = new Set<string>();
  let hasBegun = false;
  return {
    /** Undefined if it is deleted. `stored` are the outputs in the state. */
    read: (kind: Kind, uid: string, stored: Json) => {
      const reading = begin(kind, uid, stored);
      if (hasBegun) return reading;
      hasBegun = true;
      for (const { type, id, external, inputs, outputs } of state?.resources ?? []) {
        const kind = kindOfToken(type);
        const service = outputs[SERVICE] ?? inputs[SERVICE] ?? session.service;
        if (!kind || !id || external || service !== session.service) continue;
        if (!skipped.has(recordId(kind.field, id))) begin(kind, id, outputs);
      }
      return reading;
    },
    /** A refresh has read it. */
    skip: (kind: Kind, uid: string): void => void skipped.add(recordId(kind.field, uid)),
  };
};
