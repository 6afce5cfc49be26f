// What the file of a change has of a run on twins.
import type { ChangeContent } from "../../access/change/change.ts";
import type { Origin } from "../../access/review/report.ts";
import { restoredWrites } from "../../access/run/restored.ts";
import type { Client } from "../../client/client.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import { stackOfUrn } from "../../pulumi/urn.ts";
import { originOf } from "../origin.ts";
import { firstOf } from "../services.ts";
import { accessOfChange } from "../twin/sides.ts";
import type { UpdateRun } from "./on-twins.ts";

interface Run {
  run: Pick<UpdateRun, "stored" | "left">;
  /** as the user named it */
  stack: string | undefined;
  /** by address */
  clients: ReadonlyMap<string, Client>;
}

/** Of the program of this folder. */
export const originOfRun = ({ run: { left, stored }, stack, clients }: Run): Origin =>
  originOf({
    stack: stackOfUrn([...left, ...stored][0]?.urn) ?? stack,
    service: [...clients.keys()].join(", "),
    folder: process.cwd(),
    nowMs: firstOf(clients).clock.today(),
  });

interface ContentParts {
  run: UpdateRun;
  origin: Origin;
  engine: readonly string[];
  operation: RunOperation;
  /** not of a policy alone, beside which the change edits other files */
  isWhole: boolean;
  created: string;
  expires: string;
}

/** A program whose folder differs from its commit has none in the change. */
export const contentOf = ({ run, origin, engine, operation, isWhole, ...life }: ContentParts): ChangeContent => ({
  ...{ version: 1, operation, arguments: [...engine], stack: origin.stack ?? "" },
  // The first one is that of the identity which applies it: its writes name no service.
  services: run.services.map(({ address }) => address),
  ...(origin.commit !== undefined && !origin.isModified && isWhole && { commit: origin.commit }),
  ...{ ...life, as: run.as.uid ?? "", writes: run.normal.writes },
  ...accessOfChange(run.services, run.normal),
  restored: restoredWrites(run.services, run),
});
