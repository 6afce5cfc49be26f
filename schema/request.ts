// The request messages that every kind shares in shape.
import { fieldMask, type Message, message, plain, required } from "./field.ts";
import { uidp } from "./uidp.ts";

/** Get and delete: by uid. */
export const getRequest = (name: string) => message(name, { uid: required(1, uidp, { text: "uid of the record" }) });

export const createRequest = <F extends string, T extends Message>(name: string, field: F, resource: T) =>
  message(name, {
    parent: required(1, uidp, { text: "uid of the record that holds the new one" }),
    ...({ [field]: required(2, resource, { text: "The new record" }) } as { [K in F]: T }),
  });

/** PATCH: the resource has its own uid; `updateMask` names the fields that change (AIP-134). */
export const updateRequest = <F extends string, T extends Message>(name: string, field: F, resource: T) =>
  message(name, {
    ...({ [field]: required(1, resource, { text: "The record: its uid, and what changes" }) } as { [K in F]: T }),
    updateMask: plain(2, fieldMask, {
      text: "Paths of the fields that change, separated by commas; absent: the fields in the body",
    }),
  });
