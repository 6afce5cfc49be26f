// The uids of records whose names the program marks as secret. A plugin runs one process for each explicit provider, and each may show a
// name that the API has: none of them shows a name that another one was given as a secret.
import type { Operation } from "../log/operation.ts";

export interface SecretNames {
  add(uid: string): void;
  has(uid: string): boolean;
}

export const secretNames = (operation: Operation, service: string): SecretNames => {
  const uids = new Set<string>();
  const { append, refresh } = operation.share(`secret names ${service}`, (uid: string) => void uids.add(uid));
  return {
    add: (uid) => {
      if (!uids.has(uid)) append(uid);
    },
    has: (uid) => {
      refresh?.();
      return uids.has(uid);
    },
  };
};
