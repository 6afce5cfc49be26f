// How a refusal names a record: `role 84bf… "reader"`.
import { resources } from "../../schema/index.ts";
import { quote } from "../quote.ts";
import { NODES, type RecordKind } from "../run/kind.ts";
import { UnreadableFact } from "./facts.ts";
import type { Rests } from "./rests.ts";

/** With the name in the seal, or else in the API. A record without a name has its uid alone. */
export const titleOf = async (rests: Rests, kind: string, uid: string): Promise<string> => {
  const { word } = resources[kind as RecordKind];
  const name = await nameOf(rests, kind, uid);
  return `${word} ${uid}${name === undefined ? "" : ` ${quote(name)}`}`;
};

const nameOf = async ({ change, facts, idOf }: Rests, kind: string, uid: string): Promise<string | undefined> => {
  const id = idOf(kind, uid);
  const nodes = NODES[kind as RecordKind];
  const known = nodes && (change.after[nodes].get(id) ?? change.before[nodes].get(id));
  if (known && "name" in known) return known.name;
  if (kind !== "identity" && kind !== "role" && kind !== "identityProvider") return undefined;
  try {
    const read = await facts.record(kind, uid);
    return (read[NODES[kind]].get(uid) as { name: string } | undefined)?.name;
  } catch (error) {
    // The refusal stands without it.
    if (error instanceof UnreadableFact) return undefined;
    throw error;
  }
};
