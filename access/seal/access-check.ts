// Whether what one request does to the access of a subject is what the seal shows: by the roles as the API has them now, with no other step
// of the run taken for granted.
import { parentOf } from "../../schema/index.ts";
import { type AccessGraph, type GraphBuilder, type GroupNode, type NodeId, newGraph } from "../graph/graph.ts";
import { textOf } from "../graph/same.ts";
import type { AccessRow } from "../review/change.ts";
import type { Change, IdOf } from "./change.ts";
import { UnreadableFact } from "./facts.ts";
import { lossesBeyond } from "./losses.ts";
import type { Holding, Rests } from "./rests.ts";
import { notShown, rowsBetween } from "./rows.ts";
import type { Write } from "./writes.ts";

/** A role, and what the request makes it grant. */
export interface WrittenRole {
  uid: string;
  capabilities: readonly string[];
}

export interface Effect {
  /** node of the seal */
  subject: NodeId;
  /** in words; asked only for a refusal */
  name: string | (() => Promise<string>);
  now: readonly Holding[];
  next: readonly Holding[];
  written?: WrittenRole;
}

/** What differs from the seal, each a sentence. Undefined: the record gives no access beyond what its step says. */
export type Check = (rests: Rests, write: Write) => Promise<readonly string[] | undefined>;

/** The change itself has created the record. */
export const isOwn = ({ idOf }: Pick<Rests, "idOf">, { kind, uid }: Pick<Write, "kind" | "uid">): boolean =>
  idOf(kind, uid) !== uid;

/** New nodes of the seal. */
export const added = <T extends { id: NodeId }>(before: ReadonlyMap<NodeId, T>, after: ReadonlyMap<NodeId, T>): T[] =>
  [...after.values()].filter(({ id }) => !before.has(id));

export interface Outcome {
  /** what differs from the seal, each a sentence */
  problems: readonly string[];
  gains: readonly AccessRow[];
}

export const outcomeOf = async (rests: Rests, { subject, name, now, next, written }: Effect): Promise<Outcome> => {
  const { change } = rests;
  const [live, later] = [
    await graphOf(rests, subject, now, { known: next }),
    await graphOf(rests, subject, next, { known: now, written }),
  ];
  const { gains, losses } = rowsBetween(live, later)(subject);
  const own = rests.moves.of(subject);
  const shown = [...change.gainsOf(subject), ...own.losses];
  const beyond = notShown(gains, shown, later);
  const taken = beyond.length === 0 ? [] : rowsBetween(beforeNarrowing(live, change), live)(subject).losses;
  const more = notShown(beyond, [...shown, ...taken], later);
  const less = await lossesBeyond(rests, { subject, losses, given: own.gains, now, next, live });
  if (more.length + less.length === 0) {
    rests.moves.add(subject, { gains, losses });
    return { problems: [], gains };
  }
  const who = typeof name === "string" ? name : await name();
  const problems = [
    ...more.map((row) => `${who} would gain ${rowText(change, later, row)}`),
    ...less.map((row) => `${who} would lose ${rowText(change, live, row)}`),
  ];
  return { problems, gains };
};

/** With the roles that the change has narrowed as they were: an earlier run took that, and this one may give it again. */
const beforeNarrowing = (live: AccessGraph, { before, after }: Change): AccessGraph => {
  const graph = newGraph(live);
  for (const [id, now] of live.roles) {
    const [was, is] = [before.roles.get(id), after.roles.get(id)];
    const isDone = was && is && textOf([...is.capabilities].sort()) === textOf([...now.capabilities].sort());
    if (isDone) graph.roles.set(id, { ...now, capabilities: was.capabilities });
  }
  return graph;
};

/** Of what the subject holds: what the seal has neither before nor after the change, nor in between. */
export const heldBeyond = async (
  rests: Rests,
  { subject, holdings }: { subject: NodeId; holdings: readonly Holding[] },
): Promise<string[]> => {
  const { change } = rests;
  const live = await graphOf(rests, subject, holdings, {});
  return change.heldBeyond(live, subject).map((row) => rowText(change, live, row));
};

/** `known`: a role that cannot be read, and that is held before and after, makes no difference. */
const graphOf = async (
  { change, facts, idOf }: Rests,
  subject: NodeId,
  holdings: readonly Holding[],
  { known = [], written }: { known?: readonly Holding[]; written?: WrittenRole | undefined },
): Promise<AccessGraph> => {
  const graph = newGraph();
  for (const [at, { group: uid, role }] of holdings.entries()) {
    const group = idOf("group", uid);
    const id = `${subject} ${at}`;
    graph.bindings.set(id, { id, uid: null, group, identity: subject, role });
    addGroups(graph, change, idOf, group);
    const isNew = idOf("role", role) !== role;
    const node = (await facts.record("role", role, isNew)).roles.get(role);
    if (node) graph.roles.set(role, written?.uid === role ? { ...node, capabilities: written.capabilities } : node);
    else if (!known.some((one) => one.role === role)) throw new UnreadableFact(`role ${role} does not exist any more`);
  }
  return graph;
};

const addGroups = (graph: GraphBuilder, { before, after }: Change, idOf: IdOf, group: NodeId): void => {
  for (let id: NodeId | null = group; id !== null && !graph.groups.has(id); ) {
    const known: GroupNode | undefined = after.groups.get(id) ?? before.groups.get(id);
    const parent: NodeId | null = known ? known.parent : parentOf(id) === "" ? null : idOf("group", parentOf(id));
    graph.groups.set(id, known ?? { id, uid: id, name: id, parent });
    id = parent;
  }
};

/** `repo.list at platform (UID), through reader`, and `(new)` for a group that the change creates */
const rowText = ({ before, after }: Change, live: AccessGraph, { group, capability, role }: AccessRow): string => {
  const nodeOf = (nodes: "groups" | "roles", id: NodeId) =>
    after[nodes].get(id) ?? before[nodes].get(id) ?? live[nodes].get(id);
  const place = nodeOf("groups", group);
  const where = place ? `${place.name} (${place.uid ?? "new"})` : group;
  return `${capability} at ${where}, through ${nodeOf("roles", role)?.name ?? role}`;
};
