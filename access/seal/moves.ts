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
  const bySubject = new Map<NodeId, { gains: AccessRow[]; losses: AccessRow[] }>();
  return {
    of: (subject) => bySubject.get(subject) ?? { gains: [], losses: [] },
    add: (subject, move) => {
      const own = bySubject.get(subject) ?? { gains: [], losses: [] };
      bySubject.set(subject, own);
      for (const row of move.gains) own.gains.push(row);
      for (const row of move.losses) own.losses.push(row);
    },
  };
};

/** Those of one request, beside those before it. They count for others once it has succeeded: `keep`. */
export const movesOfRequest = (before: Moves): Moves & { keep(): void } => {
  const own = newMoves();
  const subjects = new Set<NodeId>();
  return {
    of: (subject) => {
      if (!subjects.has(subject)) return before.of(subject);
      const [old, added] = [before.of(subject), own.of(subject)];
      return { gains: [...old.gains, ...added.gains], losses: [...old.losses, ...added.losses] };
    },
    add: (subject, move) => {
      subjects.add(subject);
      own.add(subject, move);
    },
    keep: () => {
      for (const subject of subjects) before.add(subject, own.of(subject));
    },
  };
};
