// Reports pending operations in the engine's state: a killed run began them and did not finish them. With each create come the records
// that it may have produced. They have the same parent and name (a role binding: the same identity and role), and no resource of the
// state has them.
import { listChildren } from "../../client/paginate.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { kindOfToken, kindRecords } from "../kind/index.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { isMatch, recordId } from "../record/id.ts";
import { type Kind, SET_TYPE, typeOfToken } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import { argumentOf } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { listLive } from "../set/live.ts";
import { grants, pairsIn } from "../set/pair.ts";

export interface PendingCreate {
  urn: string;
  kind: Kind;
  inputs: Json;
  candidates: Json[];
  /** of a set of role bindings, which takes over the candidates by itself */
  isSet?: true;
}

interface Deployment {
  resources?: { id?: string; type?: string }[];
  pending_operations?: { type: string; resource: { urn: string; type: string; inputs?: Json } }[];
}

// How the engine marks a secret in what it exports (github.com/pulumi/pulumi/sdk/go/common/resource/sig).
const SECRET = "4dabf18193072939515e22adb298388d";

/** The inputs that a record is matched by, in clear text. */
const plainInputs = (kind: Kind, urn: string, inputs: Json): Json => {
  const names = kind.matchedBy.flatMap((field) => [field, argumentOf(kind, field)]);
  const plain = ["parent", ...new Set(names)].flatMap((name) => {
    const value = inputs[name] as Json | string | undefined;
    if (typeof value !== "object" || !(SECRET in value)) return [[name, value]];
    if (typeof value.plaintext === "string") return [[name, JSON.parse(value.plaintext)]];
    throw new TypeError(`${name} of ${urn} is a secret: use pulumi stack export --show-secrets`);
  });
  return Object.fromEntries(plain.filter(([, value]) => value !== undefined)) as Json;
};

/** `exported` is what `pulumi stack export` prints. Errors: TypeError for anything else, and for secrets that are needed. */
export const pendingCreates = async (session: Session, exported: unknown): Promise<PendingCreate[]> => {
  const { deployment } = (exported ?? {}) as { deployment?: Deployment };
  if (!deployment) throw new TypeError("is not what pulumi stack export prints");
  const known = new Set(
    deployment.resources?.flatMap(({ id, type }) => {
      const kind = kindOfToken(type);
      return id === undefined ? [] : [kind ? recordId(kind.field, id) : id];
    }),
  );
  const creates = (deployment.pending_operations ?? []).filter(({ type }) => type === "creating");
  const sets = creates.flatMap(({ resource: { urn, type, inputs = {} } }) =>
    typeOfToken(type) === SET_TYPE ? [{ urn, inputs, kind: kindRecords.roleBinding, isSet: true as const }] : [],
  );
  const ours = creates.flatMap(({ resource: { urn, type, inputs = {} } }) => {
    const kind = kindOfToken(type);
    return kind ? [{ urn, kind, inputs: plainInputs(kind, urn, inputs) }] : [];
  });
  return Promise.all([
    ...ours.map(async (one) => ({ ...one, candidates: await candidatesOf(one.kind, session, one.inputs, known) })),
    ...sets.map(async (one) => ({ ...one, candidates: await bindingsOf(session, one.inputs) })),
  ]);
};

/** The bindings in the group of a set that grant one of its pairs. */
const bindingsOf = async (session: Session, inputs: Json): Promise<Json[]> => {
  const pairs = pairsIn(inputs);
  const live = isUidp(inputs.parent) ? await listLive(session, inputs.parent) : [];
  return live.filter((one) => pairs.some((pair) => grants(one, pair))).map(({ record }) => record);
};

const candidatesOf = async (
  kind: Kind,
  session: Session,
  inputs: Json,
  known: ReadonlySet<string>,
): Promise<Json[]> => {
  const { parent = "" } = inputs;
  const found: Json[] = [];
  const { args } = await withUids(session, desiredFrom(kind, inputs));
  for await (const record of listChildren(session, kind.list, parent as string, kind.filters(args)))
    if (!known.has(recordId(kind.field, record.uid)) && isMatch(kind, observe(kind, record), args)) found.push(record);
  return found;
};
