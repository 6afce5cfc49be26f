// What the requests of this run have given and taken: a later one may take the one back, and give the other again.
import type { NodeId } from "../graph/graph.ts";
import type { AccessRow } from "../review/change.ts";

export interface Move {
  gains: readonly AccessRow[];
  losses: readonly AccessRow[];
}

export interface Moves {
  of(subject: NodeId): Move;
  add(subject: NodeId, move: Move): void;
}

export const newMoves = (): Moves => {
  const bySubject = new Map<NodeId, Move>();
  const of = (subject: NodeId): Move => bySubject.get(subject) ?? { gains: [], losses: [] };
  return { of, add: (subject, move) => void bySubject.set(subject, joined(of(subject), move)) };
};

/** Those of one request, besides those before it. They count for others once the request is allowed: `keep`. */
export const movesOfRequest = (before: Moves): Moves & { keep(): void } => {
  const added: [NodeId, Move][] = [];
  return {
    of: (subject) =>
      added.reduce((sum, [own, move]) => (own === subject ? joined(sum, move) : sum), before.of(subject)),
    add: (subject, move) => void added.push([subject, move]),
    keep: () => {
      for (const [subject, move] of added) before.add(subject, move);
    },
  };
};

const joined = (one: Move, other: Move): Move => ({
  gains: [...one.gains, ...other.gains],
  losses: [...one.losses, ...other.losses],
});
