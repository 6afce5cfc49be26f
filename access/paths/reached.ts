// What a search has found: that somebody can come to hold capabilities at a group, and by which requests.
import type { NodeId } from "../graph/graph.ts";
import { inOrder, type Request, type Subject } from "./request.ts";
import type { World } from "./world.ts";

/** `who` holds the capabilities at the group and below. */
export interface Held {
  who: NodeId;
  group: NodeId;
  capabilities: ReadonlySet<string>;
  role: NodeId;
  binding: Subject;
  /** all requests that lead here, in order */
  requests: readonly Request[];
  /** what has to be so, beside what the requests do */
  assumptions: readonly string[];
}

/** What identities hold so far, and the shortest way to it. */
export class Holdings {
  readonly world: World;
  readonly #held = new Map<NodeId, { all: Held[]; capabilities: Map<NodeId, ReadonlySet<string>> }>();

  constructor(world: World) {
    this.world = world;
  }

  of(who: NodeId): readonly Held[] {
    return this.#held.get(who)?.all ?? [];
  }

  identities(): NodeId[] {
    return [...this.#held.keys()];
  }

  add(held: Held): void {
    const own = this.#held.get(held.who) ?? { all: [], capabilities: new Map<NodeId, ReadonlySet<string>>() };
    this.#held.set(held.who, own);
    const { all, capabilities } = own;
    all.push(held);
    const known = capabilities.get(held.group);
    capabilities.set(held.group, known ? new Set([...known, ...held.capabilities]) : held.capabilities);
  }

  /** What gives `who` the capability at the group: of several, the one that took the fewest requests. */
  find(who: NodeId, capability: string, group: NodeId): Held | undefined {
    if (!this.hasAll(who, [capability], group)) return undefined;
    const lineage = this.world.lineage(group);
    let best: Held | undefined;
    for (const held of this.of(who))
      if (held.capabilities.has(capability) && lineage.includes(held.group))
        if (best === undefined || held.requests.length < best.requests.length) best = held;
    return best;
  }

  hasAll(who: NodeId, capabilities: Iterable<string>, group: NodeId): boolean {
    const own = this.#held.get(who)?.capabilities;
    const here = own ? this.world.lineage(group).flatMap((one) => own.get(one) ?? []) : [];
    for (const capability of capabilities) if (!here.some((held) => held.has(capability))) return false;
    return true;
  }
}

/** The requests of several ways, each once. */
export const join = (...ways: readonly (Pick<Held, "requests" | "assumptions"> | undefined)[]) => {
  const known = ways.filter((way) => way !== undefined);
  return {
    requests: inOrder(known.flatMap(({ requests }) => requests)),
    assumptions: [...new Set(known.flatMap(({ assumptions }) => assumptions))],
  };
};
