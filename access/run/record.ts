// The record of a run on a copy, except the records that it has left there.

import type { StateResource } from "../../pulumi/state.ts";
import type { Normal } from "../change/write.ts";
import type { Step } from "../review/report.ts";
import type { NotRun } from "./not-run.ts";

export interface RunRecord {
  /** resources of this package in the stack, before the run and after it */
  stored: readonly StateResource[];
  left: readonly StateResource[];
  /** creates that an earlier run has begun, and whose outcome the stack does not record */
  begun: readonly StateResource[];
  steps: readonly Step[];
  /** failures besides the steps */
  errors: readonly string[];
  notRun: readonly NotRun[];
  /** the requests that it has sent */
  normal: Normal;
}
