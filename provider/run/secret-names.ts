// The uids of records whose names the program marks as secret. A plugin runs one process for each explicit provider, and each may show a
// name that the API has: none of them shows a name that another one was given as a secret.
import type { Operation } from "../log/operation.ts";

export type SecretNames = ReturnType<typeof secretNames>;

export const secretNames = (operation: Operation, service: string) => {
  const uids = new Set<string>();
  const { append, refresh } = operation.share(`secret names ${service}`, (uid: string) => void uids.add(uid));
  return {
    add: (uid: string): void => {
      if (!uids.has(uid)) append(uid);
    },
    has: (uid: string): boolean => {
      refresh?.();
      return uids.has(uid);
    },
  };
};
