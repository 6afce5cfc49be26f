// What a create or update of a set knows, and what it has done so far.
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import type { Session } from "../run/session.ts";
import type { Live } from "./live.ts";
import type { Binding, DeclaredPair } from "./pair.ts";
import type { Plan } from "./plan.ts";
import { keptBy } from "./protect.ts";

/** A declared pair by its uids. */
export interface Pair {
  declared: DeclaredPair;
  desired: Desired;
  /** `"ci" as "viewer"` */
  text: string;
}

export interface Work {
  session: Session;
  name: string;
  group: string;
  pairs: readonly Pair[];
  /** what the preview has shown */
  plan: Plan;
  /** by uid: its removals */
  shown: ReadonlyMap<string, Binding>;
  /** uid of the identity that the run acts as */
  identity: string | undefined;
  /** all bindings of the group, as far as this run knows */
  live: Live[];
  /** by uid: what interrupted runs have created, and the state lacks */
  recovered: ReadonlyMap<string, Entry>;
  /** by key: the binding of a declared pair */
  managed: Map<string, Live>;
  /** uids of the bindings in the state */
  known: ReadonlySet<string>;
  /** the same, with those that this set has created or taken over */
  own: Set<string>;
  /** something was created, taken over or removed */
  hasChanged: boolean;
}

/** Of the group's bindings, those that no declared pair has. */
export const undeclaredIn = ({ live, managed }: Work): Live[] => {
  const chosen = new Set([...managed.values()].map(({ uid }) => uid));
  return live.filter(({ uid }) => !chosen.has(uid));
};

/** Why each of them must stay, by uid. */
export const keptIn = (work: Work, news: Json): ReadonlyMap<string, string> =>
  keptBy(news, work.group, work.live, undeclaredIn(work), work.identity);
