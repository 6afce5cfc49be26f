// Generated from schema/ by `npm run generate`; not to be edited.

/** A record that another one refers to. */
export interface BoundRecord {
  /** uid of the record */
  uid: string;
  /** Its name as of the last create, update or refresh; absent if it may be secret */
  name?: string;
}
