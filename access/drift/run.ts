// What drift reads: the run of the unchanged program on a copy, and what was there before.

import type { Preview } from "../../pulumi/preview.ts";
import type { Copy } from "../copy/copy.ts";
import type { Live } from "../graph/live.ts";
import type { Proposal } from "../review/proposal.ts";
import type { LockedRoles } from "../roles/lock.ts";
import type { RunRecord } from "../run/record.ts";
import type { IsHere } from "../run/service.ts";

/** A service of the run. */
export interface DriftService {
  address: string;
  /** the first one has the writes that name no service */
  isFirst: boolean;
  copy: Copy;
  /** the copy before the run */
  live: Live;
  proposal: Pick<Proposal, "undeclared" | "organizations" | "unknown">;
  isHere: IsHere;
  /** the built-in roles that are written down for it */
  recorded: LockedRoles;
  missing?: string | undefined;
}

export interface DriftFacts {
  run: RunRecord;
  /** names what the run could not carry out */
  preview: Preview;
}
