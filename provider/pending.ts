// What a run that was killed left in the engine's state: operations that it had begun and not ended. Beside each create of
// ours stands what the service has that may be of it: the same parent and name (of a role binding: the same identity and
// role), and in no resource of the state.
import { isUidp, type Json, parentOf } from "../schema/index.ts";
import { kindRecords } from "./kind/index.ts";
import type { Kind } from "./kind/kind.ts";
import type { Session } from "./session.ts";
import { walk } from "./walk.ts";

export interface PendingCreate {
  urn: string;
  kind: Kind;
  inputs: Json;
  candidates: Json[];
}

const TYPE_PREFIX = "pulumi-nodejs:dynamic/irm:";

interface Deployment {
  resources?: { id?: string }[];
  pending_operations?: { type: string; resource: { urn: string; type: string; inputs?: Json } }[];
}

/** `exported` is what `pulumi stack export` prints. Errors: TypeError for anything else. */
export const pendingCreates = async (session: Session, exported: unknown): Promise<PendingCreate[]> => {
  const { deployment } = (exported ?? {}) as { deployment?: Deployment };
  if (!deployment) throw new TypeError("is not what pulumi stack export prints");
  const known = new Set(deployment.resources?.map(({ id }) => id));
  const creates = (deployment.pending_operations ?? []).filter(({ type }) => type === "creating");
  const ours = creates.flatMap(({ resource: { urn, type, inputs = {} } }) => {
    const kind = Object.values(kindRecords).find((one) => TYPE_PREFIX + one.type === type);
    return kind ? [{ urn, kind, inputs }] : [];
  });
  return Promise.all(
    ours.map(async (one) => ({ ...one, candidates: await candidatesOf(one.kind, session, one.inputs, known) })),
  );
};

const candidatesOf = async (
  kind: Kind,
  session: Session,
  inputs: Json,
  known: ReadonlySet<string | undefined>,
): Promise<Json[]> => {
  const { operation, plural, filters } = kind.list;
  const { parent = "" } = inputs;
  const uidp = parent === "" ? { inRoot: true } : { childrenOf: parent };
  const found: Json[] = [];
  for await (const record of walk<Json & { uid: string }>(session, operation, plural, { ...filters(inputs), uidp })) {
    const isMeant = isUidp(record.uid) && parentOf(record.uid) === parent && !known.has(record.uid);
    if (isMeant && (inputs.name === undefined || record.name === inputs.name)) found.push(record);
  }
  return found;
};
