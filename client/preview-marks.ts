// What the provider leaves in a preview for its reader, `irm review`.

/** Of inputs and outputs: the address of the service that has the record. The state has it too. */
export const SERVICE = "__service";

/** Of the inputs of a dynamic resource, in a preview alone: what the update takes over from an earlier run. */
export const TAKEN_OVER = "__takenOver";

/** A record that an update takes over from an earlier run. */
export interface TakenOver {
  /** absent where the record cannot be seen yet */
  uid?: string;
  /** when the earlier run created it */
  at: string;
  /** why it is not certain */
  doubt?: string;
}

const BY_EARLIER_RUN = ", created by an earlier run at ";

/** The line that the provider prints. The engine shows a reader no outputs of a native create, so this line is all that a reader sees. */
export const takeoverText = (resource: string, record: string, { at, doubt }: TakenOver): string =>
  doubt === undefined
    ? `${resource} takes over ${record}${BY_EARLIER_RUN}${at}`
    : `${resource} may take over ${record}${BY_EARLIER_RUN}${at}: ${doubt}`;

export const isTakeoverText = (text: string): boolean => text.includes(BY_EARLIER_RUN);
