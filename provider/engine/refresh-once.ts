// A refresh reads every resource, whatever fails (`ignoreErrors` in
// github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/deployment_executor.go), and then fails if one did. Where each read would fail
// for one reason of the whole run, the first one reports it. The others are not tried: the engine keeps what the state has of them.
import { sessionErrorOf } from "../../client/errors.ts";
import { SERVICE } from "../../client/preview-marks.ts";
import { quoting } from "../../client/recovery.ts";
import type { Json } from "../../schema/index.ts";
import type { ReadResult } from "../reconcile/index.ts";

export const refreshOnce = () => {
  let hasFailed = false;
  const unread = new Set<string>();
  const asStored = (id: string, stored: Json): ReadResult => {
    unread.add(id);
    return { id, props: stored };
  };
  return {
    /** `isRefresh`: nothing but a refresh reads before the program declares its first resource. */
    read: async (
      id: string,
      stored: Json,
      isRefresh: boolean,
      work: () => Promise<ReadResult>,
    ): Promise<ReadResult> => {
      // What an import or the program reads has no state to keep.
      const canKeep = isRefresh && stored[SERVICE] !== undefined;
      if (hasFailed && canKeep) return asStored(id, stored);
      try {
        return await work();
      } catch (error) {
        if (!canKeep || !sessionErrorOf(error)) throw error;
        if (hasFailed) return asStored(id, stored);
        hasFailed = true;
        throw new Error(
          quoting([(error as Error).message], ([text]) => `${text}\n${KEPT}`),
          { cause: error },
        );
      }
    },
    /** The record was not read, so the engine compares the state with itself. */
    isUnread: (id: string): boolean => unread.has(id),
  };
};

const KEPT =
  "The refresh ends here, since every other read would fail in the same way. It does not change the state of what it has not read.";
