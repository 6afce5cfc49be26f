// Whether a seal contains what a run is about to do. A step is a resource with its inputs; a write is a request. A write of access is
// compared with the API as it is then: with the roles, the claims and the role bindings that it rests on.
import { type Json, type OperationName, parentOf } from "../../schema/index.ts";
import { lineageOf, newGraph } from "../graph/graph.ts";
import { addBinding, addGroup } from "../graph/live-record.ts";
import { type Check, isOwn } from "./access-check.ts";
import { ACCESS_CHECKS } from "./access-write.ts";
import { changeIn, type IdOf } from "./change.ts";
import type { Facts } from "./facts.ts";
import { claimProblems } from "./identity-check.ts";
import { differingInputs, inputNames, parentIn } from "./inputs.ts";
import { movesOfRequest, newMoves } from "./moves.ts";
import { ownedPlace, ownersAt } from "./owners.ts";
import { signInProblems } from "./people-check.ts";
import { PEOPLE_CHECKS } from "./people-write.ts";
import type { Rests } from "./rests.ts";
import { isNew, type Seal, type Step } from "./seal.ts";
import { titleOf } from "./title.ts";
import { type Write, writesOf } from "./writes.ts";

export interface Judge {
  /**
   * What differs from the seal in a step: `resource` is `project/stack/type::name`, as in the keys of the provider. `replaced`: uids of the
   * records that the resource has, and that a create replaces.
   */
  step(resource: string, op: "create" | "update", inputs: Json, replaced?: readonly string[]): readonly string[];
  /** The same in a request, which is about to be sent. `keep` is for one that has succeeded. */
  request(operation: OperationName, request: Json): Promise<Verdict>;
  /** The same in a record that a resource adopts. */
  adoption(kind: string, uid: string): Promise<readonly string[]>;
  /** What comes after reads the facts again. Default: all of them. */
  forget: Facts["forget"];
}

export interface SealedRecords {
  idOf: IdOf;
  /** The program of this run declares the resource that has created the record: it may go again, as an invite whose code was lost. */
  isDeclared(kind: string, uid: string): boolean;
}

export interface Verdict {
  problems: readonly string[];
  /** What comes after may rest on it. */
  keep(): void;
}

const unconditional = (...problems: readonly string[]): Verdict => ({ problems, keep: () => undefined });

/** `resourceOf` is the same of a URN. */
export const judgeWith = (
  seal: Seal,
  facts: Facts,
  { idOf, isDeclared }: SealedRecords,
  resourceOf: (urn: string) => string,
): Judge => {
  const change = changeIn(seal);
  const steps = new Map(seal.steps.map((step) => [resourceOf(step.urn), step]));
  const deletes = new Set(seal.deletes);

  const byUid = new Map(
    seal.steps.flatMap((step) => (step.uid === undefined ? [] : [[`${step.kind} ${step.uid}`, step] as const])),
  );
  const byUrn = new Map(seal.steps.map((step) => [step.urn, step]));
  /** What the seal does with the record: by its uid, or as the one that a resource has created. */
  const stepOf = (kind: string, uid: string): Step | undefined =>
    byUid.get(`${kind} ${uid}`) ?? byUrn.get(idOf(kind, uid));

  const moves = newMoves();
  const rests: Rests = { change, facts, idOf, moves };

  /** Tags go with their repo. */
  const isDeleted = ({ kind, uid }: Write): boolean =>
    deletes.has(`${kind} ${uid}`) || isDeclared(kind, uid) || (kind === "tag" && deletes.has(`repo ${parentOf(uid)}`));

  const writeProblems = async (rests: Rests, write: Write): Promise<readonly string[]> => {
    const { kind, verb, uid, word } = write;
    if (verb === "delete" && !isDeleted(write)) return [`${await titleOf(rests, kind, uid)} would be deleted`];
    if (verb === "update") {
      const step = stepOf(kind, uid);
      const isShown = step && (step.op === "update" || isOwn(rests, write) || isNew(step));
      if (!isShown) return [`${await titleOf(rests, kind, uid)} would be changed: ${changedFields(write).join(", ")}`];
    }
    const own = await CHECKS[kind]?.(rests, write);
    if (own) return own;
    if (verb !== "create") return [];
    const place = placeId(idOf, write.parent);
    const isShown = seal.steps.some((step) => step.kind === kind && isNew(step) && parentIn(step.inputs) === place);
    return isShown ? [] : [`a ${word} would be created in ${await titleOf(rests, "group", write.parent)}`];
  };

  return {
    step: (resource, op, inputs, replaced = []) => {
      const step = steps.get(resource);
      const name = resource.split("/").slice(2).join("/").replace("::", " ");
      if (!step?.inputs) return [`${name} is no resource that the review shows`];
      if (op === "create" && !isNew(step)) return [`${name} would be created, and the review shows that it exists`];
      // Its deletion would be refused, after the create.
      const other = replaced.find((uid) => uid !== step.replaced && !isDeclared(step.kind, uid));
      if (other !== undefined) return [`${name} would be replaced, and the review does not show that ${other} goes`];
      const pointers = differingInputs(step.inputs, inputs, (uid) => idOf(undefined, uid));
      return inputNames(pointers).map((input) => `${name}: ${input} is not what the review shows`);
    },
    request: async (operation, request) => {
      const writes = writesOf(operation, request);
      if (writes === undefined) return unconditional();
      if (writes === "unknown") return unconditional(`${operation} is not a method that a seal can contain`);
      const own = movesOfRequest(moves);
      const problems = await Promise.all(writes.map((write) => writeProblems({ ...rests, moves: own }, write)));
      return { problems: problems.flat(), keep: own.keep };
    },
    forget: facts.forget,
    adoption: async (kind, uid) => {
      const { [uid]: owners } = seal.owners;
      if (!owners) return [`${await titleOf(rests, kind, uid)} would be adopted`];
      return [...(await ownerProblems(rests, kind, uid, owners)), ...(await adoptedProblems(rests, kind, uid))];
    },
  };
};

const CHECKS: Readonly<Record<string, Check>> = { ...ACCESS_CHECKS, ...PEOPLE_CHECKS };

const changedFields = ({ record, touches }: Write): string[] =>
  Object.keys(record).filter((field) => field !== "uid" && touches(field));

const placeId = (idOf: IdOf, parent: string): string => (parent === "" ? "" : idOf(undefined, parent));

/** Who may change an adopted record must be those who could when it was reviewed. */
const ownerProblems = async (rests: Rests, kind: string, uid: string, owners: readonly string[]): Promise<string[]> => {
  const { facts } = rests;
  const place = ownedPlace(kind, uid);
  const graph = newGraph();
  addGroup(graph, place);
  for (const group of lineageOf(graph, place))
    for (const record of await facts.bindingsAt(group)) addBinding(graph, record);
  for (const { role } of graph.bindings.values()) {
    const node = (await facts.record("role", role)).roles.get(role);
    if (node) graph.roles.set(role, node);
  }
  const others = ownersAt(graph, place).filter((one) => !owners.includes(one));
  const record = others.length === 0 ? "" : await titleOf(rests, kind, uid);
  return Promise.all(
    others.map(async (one) => {
      const owner = await titleOf(rests, "identity", one);
      return `${owner} may give access where ${record} is, and could not when it was reviewed`;
    }),
  );
};

/** What an adopted record gives must be what the review shows. Whatever a role grants, its update is judged by itself. */
const adoptedProblems = async (rests: Rests, kind: string, uid: string): Promise<readonly string[]> => {
  const { change, facts } = rests;
  switch (kind) {
    case "identity":
      return claimProblems(change, facts, uid, uid);
    case "roleBinding": {
      const now = (await facts.record("roleBinding", uid)).bindings.get(uid);
      const shown = change.before.bindings.get(uid);
      const isSame = now && shown && now.identity === shown.identity && now.role === shown.role;
      return !now || isSame ? [] : [`role binding ${uid} grants something else than the review shows`];
    }
    case "identityProvider":
      return signInProblems(rests, uid);
    default:
      return [];
  }
};
