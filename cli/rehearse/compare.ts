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
  proposal: Proposal;
  before: TwinAccess;
  after: TwinAccess;
  /** URN of the resource of a record that the run has created, by uid */
  urns: ReadonlyMap<string, string>;
  /** every step of the program was carried out */
  isComplete: boolean;
}

export const compareAccess = (input: CompareInput): Compared => {
  const { proposal, before, after, isComplete } = input;
  const twin = [
    ...rowsBetween(after, before).map((one) => placed(input, "gain", one)),
    ...rowsBetween(before, after).map((one) => placed(input, "loss", one)),
  ];
  const review = reviewRows(proposal);
  const [ofTwin, ofReview] = [new Set(twin.map(keyOf)), new Set(review.map(keyOf))];
  const onlyTwin = twin.filter((one) => !ofReview.has(keyOf(one)));
  const onlyReview = review.filter((one) => !ofTwin.has(keyOf(one)));
  const isExpected = (one: Placed): boolean =>
    proposal.unknown.some(({ hides }) => hides && mayHide(hides, one, proposal)) ||
    (!isComplete && isCovered(one, review, proposal));
  const [expected, wrong] = [onlyTwin.filter(isExpected), onlyTwin.filter((one) => !isExpected(one))];
  // What an unfinished run lacks is no error of the review.
  const missing = onlyReview.map((one) => differenceIn("review", one));
  return {
    gains: rowsOf(twin, "gain"),
    losses: rowsOf(twin, "loss"),
    differences: [...wrong.map((one) => differenceIn("twin", one)), ...(isComplete ? missing : [])],
    undecided: [...expected.map((one) => differenceIn("twin", one)), ...(isComplete ? [] : missing)],
  };
};

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

/** A row of the review above it, which the run did not reach, would have covered it. */
const isCovered = (one: Placed, review: readonly Placed[], { before, after }: Proposal): boolean => {
  const above = lineageOf(one.change === "gain" ? after : before, one.group);
  return review.some(
    ({ change, identity, capability, group }) =>
      change === one.change && identity === one.identity && capability === one.capability && above.includes(group),
  );
};
