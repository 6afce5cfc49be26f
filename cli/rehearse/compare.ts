// Compares the change in access that a review computes with the one that the twin's own authorisation shows: by identity, capability and
// group. What people may do is left out: a twin has no sign-in for them.
import { compare } from "../../access/graph/compare.ts";
import { lineageOf, type NodeId } from "../../access/graph/graph.ts";
import type { Difference, IdentityRow } from "../../access/rehearsal/report.ts";
import { accessChange } from "../../access/review/change.ts";
import { rowsInOrder } from "../../access/review/danger.ts";
import type { Hidden, Proposal } from "../../access/review/proposal.ts";
import { groupNameOf, nameOf } from "../../access/review/rule/rule.ts";
import { rowsBetween, type TwinAccess } from "../twin/access.ts";

/** A row with the nodes of the review's graphs. */
interface Placed {
  change: Difference["change"];
  identity: NodeId;
  group: NodeId;
  capability: string;
  row: IdentityRow;
}

export interface Compared {
  gains: IdentityRow[];
  losses: IdentityRow[];
  differences: Difference[];
  undecided: Difference[];
}

export interface CompareInput {
  /** what the review shows */
  proposal: Proposal;
  /** the same of the steps that the run has carried out; all of them: the review's own */
  carried: Proposal;
  /** uids of identities and groups about which the run may have done a part of a step */
  unsure: ReadonlySet<string>;
  /** uids of the identities that the run acts as */
  actors: ReadonlySet<string | null>;
  before: TwinAccess;
  after: TwinAccess;
  /** URN of the resource of a record that the run has created, by uid */
  urns: ReadonlyMap<string, string>;
}

export const compareAccess = (input: CompareInput): Compared => {
  const { proposal, carried, before, after } = input;
  const twin = [
    ...rowsBetween(after, before).map((one) => placed(input, "gain", one)),
    ...rowsBetween(before, after).map((one) => placed(input, "loss", one)),
  ];
  const [review, part] = [reviewRows(proposal), reviewRows(carried)];
  const [ofTwin, ofReview, ofPart] = [twin, review, part].map((rows) => new Set(rows.map(keyOf))) as Sets;
  const apart = [
    ...twin
      .filter((one) => !ofPart.has(keyOf(one)) && !isOfCreator(one, input))
      .map((one) => ({ one, where: "twin" as const })),
    ...part.filter((one) => !ofTwin.has(keyOf(one))).map((one) => ({ one, where: "review" as const })),
  ];
  const [open, wrong] = [apart.filter((own) => isOpen(own, input)), apart.filter((own) => !isOpen(own, input))];
  // What the run did not reach is no error of the review.
  const missing = review.filter((one) => !ofPart.has(keyOf(one)) && !ofTwin.has(keyOf(one)));
  const early = part.filter((one) => !ofReview.has(keyOf(one)) && ofTwin.has(keyOf(one)));
  return {
    gains: rowsOf(twin, "gain"),
    losses: rowsOf(twin, "loss"),
    differences: wrong.map(({ one, where }) => differenceIn(where, one)),
    undecided: [
      ...open.map(({ one, where }) => differenceIn(where, one)),
      ...early.map((one) => differenceIn("twin", one)),
      ...missing.map((one) => differenceIn("review", one)),
    ],
  };
};

type Sets = [twin: Set<string>, review: Set<string>, part: Set<string>];

/** The creator of an organization owns it (docs/contract.md#authorization), and a review does not know who that will be. */
const isOfCreator = ({ change, identity, group }: Placed, { carried, actors }: CompareInput): boolean => {
  const { uid, parent } = carried.after.groups.get(group) ?? {};
  return change === "gain" && actors.has(identity) && uid === null && parent === null;
};

/** The review does not know the row, or a step that failed may have done a part of its work. */
const isOpen = (
  { one, where }: { one: Placed; where: Difference["in"] },
  { proposal, unsure }: CompareInput,
): boolean =>
  unsure.has(one.identity) ||
  [proposal.before, proposal.after].some((graph) => lineageOf(graph, one.group).some((group) => unsure.has(group))) ||
  (where === "twin" && proposal.unknown.some(({ hides }) => hides && mayHide(hides, one, proposal)));

const keyOf = ({ change, identity, group, capability }: Placed): string =>
  [change, identity, group, capability].join(" ");

const differenceIn = (where: Difference["in"], { change, row }: Placed): Difference => ({ change, in: where, row });

const rowsOf = (all: readonly Placed[], change: Difference["change"]): IdentityRow[] => {
  const rows = all.flatMap((one) => (one.change === change ? [one.row] : []));
  const byIdentity = Map.groupBy(rows, ({ uid, name }) => `${name} ${uid}`);
  return [...byIdentity].sort(([a], [b]) => compare(a, b)).flatMap(([, own]) => rowsInOrder(own));
};

const reviewRows = ({ before, after }: Proposal): Placed[] =>
  accessChange(before, after).flatMap(({ identity, gains, losses }) =>
    [["gain", gains, after] as const, ["loss", losses, before] as const].flatMap(([change, rows, graph]) =>
      rows.map(({ group, capability, role }) => ({
        ...{ change, identity, group, capability },
        row: rowOf({ before, after }, change, { identity, group, capability, role: nameOf(graph.roles, role) }),
      })),
    ),
  );

const placed = (
  { proposal, urns }: Pick<CompareInput, "proposal" | "urns">,
  change: Difference["change"],
  { identity, group, capability, role }: ReturnType<typeof rowsBetween>[number],
): Placed => {
  // In the original, a record that the run creates has no uid yet.
  const nodeOf = (uid: string): NodeId => urns.get(uid) ?? uid;
  const nodes = { identity: nodeOf(identity), group: nodeOf(group), capability };
  return { change, ...nodes, row: rowOf(proposal, change, { ...nodes, role }) };
};

const rowOf = (
  { before, after }: Pick<Proposal, "before" | "after">,
  change: Difference["change"],
  { identity, group, capability, role }: { identity: NodeId; group: NodeId; capability: string; role: string },
): IdentityRow => {
  const graph = change === "gain" ? after : before;
  const who = after.identities.get(identity) ?? before.identities.get(identity);
  const place = graph.groups.get(group);
  return {
    ...{ group: place ? place.uid : group, groupName: groupNameOf(graph, group), capability, role },
    ...{ uid: who ? who.uid : identity, name: who?.name ?? identity },
  };
};

/** Whether something that the review does not know may be this row. */
const mayHide = (hides: Hidden, { identity, group }: Placed, { before, after }: Proposal): boolean => {
  const isAt = (place: NodeId | undefined): boolean =>
    place === undefined || [before, after].some((graph) => lineageOf(graph, group).includes(place));
  switch (hides.of) {
    case "binding":
      return (hides.identity ?? identity) === identity && isAt(hides.group);
    case "bindings":
      return isAt(hides.group);
    case "capabilities":
    case "takeover":
    case "anything":
      return true;
    default:
      return false;
  }
};
