// Marks that the provider writes into a preview for `irm review` and `irm drift`, and into the state.
import { bulleted, type Json } from "../schema/index.ts";

/** Key of inputs and outputs: the address of the service that holds the record. The state has it too. */
export const SERVICE = "__service";

/**
 * Key of the inputs, in place of that, since an update has checked the resource for the first time: the address, a space, and when that was
 * (provider/record/id.ts). One member has fewer bytes than two.
 */
export const AT = "__at";

/** The address in inputs or outputs; undefined in those of another version. */
export const serviceIn = ({ [SERVICE]: service, [AT]: at }: Json): string | undefined => {
  const text = typeof at === "string" ? at.split(" ", 1)[0] : service;
  return typeof text === "string" ? text : undefined;
};

/** The member of outputs, from inputs of either form. */
export const withService = (inputs: Json): Json => {
  const service = serviceIn(inputs);
  return service === undefined ? {} : { [SERVICE]: service };
};

/** A record that an update adopts from an earlier run. */
export interface PlannedAdoption {
  /** absent where the record cannot be seen yet */
  uid?: string;
  /** when the earlier run created it */
  at: string;
  /** why the takeover is not certain */
  doubt?: string;
}

/** The doubt about a record that a request of the earlier run may have created, and that no read shows yet. */
export const NOT_VISIBLE_YET = "it may not be visible yet";

const BY_EARLIER_RUN = ", created by an earlier run at ";

/** The line that the provider prints. A preview shows no outputs of a native create, so a reader sees only this line. */
export const plannedAdoptionText = (resource: string, record: string, { at, doubt }: PlannedAdoption): string =>
  doubt === undefined
    ? `${resource} adopts ${record}${BY_EARLIER_RUN}${at}`
    : `${resource} may adopt ${record}${BY_EARLIER_RUN}${at}: ${doubt}`;

const IS_OPEN = " is open: ";

/** The line about a stack that a run without checkpoints left open. */
export const openStackText = (stack: string, why: string): string => `warning: stack ${stack}${IS_OPEN}${why}`;

const UNDECLARED = " what a run without checkpoints created, and this program does not declare:";

/** What the update does with such records, one in each line. */
export const undeclaredText = (verb: string, lines: readonly string[]): string =>
  bulleted(`the update ${verb}${UNDECLARED}`, ...lines);

/**
 * A variable that `irm drift` sets for its preview and its run on a copy. With it, an `adopt` that names no record is a line of the
 * report. An error would hide all else. In an update that has it, such a resource fails all the same.
 */
export const DRIFT_PREVIEW = "IRM_DRIFT_PREVIEW";

const NAMES_NO_RECORD = " names no record: ";

/** `resource`: `Group::team` */
export const missingText = (resource: string, reason: string): string =>
  `adopt of ${resource}${NAMES_NO_RECORD}${reason}`;

/** Whether a line of a preview says that something is not known: one of those about an open stack, or of `missingText`. */
export const isDoubt = (text: string): boolean =>
  (text.startsWith("adopt of ") && text.includes(NAMES_NO_RECORD)) ||
  (text.startsWith("warning: stack ") && text.includes(IS_OPEN)) ||
  (text.startsWith("the update ") && text.includes(UNDECLARED));
