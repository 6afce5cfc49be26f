// What a create or update of a set knows and has done so far, and the outputs that follow from it.
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import type { Session } from "../run/session.ts";
import type { Live } from "./live.ts";
import { hiddenNames, outputsOf } from "./outputs.ts";
import type { Binding, DeclaredPair } from "./pair.ts";
import type { Plan } from "./plan.ts";
import { keptBy } from "./protect.ts";

/** A declared pair by its uids. */
export interface Pair {
  declared: DeclaredPair;
  desired: Desired;
  /** `"ci" as "viewer"` */
  text: string;
  /** its binding, once it is found or created */
  live?: Live;
  /** why it has none */
  problem?: string;
}

/** What a create or update of a set knows, and what it has done so far. */
export interface Work {
  session: Session;
  name: string;
  set: string;
  group: string;
  /** the outputs so far */
  olds: Json;
  /** the inputs */
  news: Json;
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
  /** uids of the bindings in the state */
  known: ReadonlySet<string>;
  /** the same, with those that this set has created or taken over */
  own: Set<string>;
  /** something was created, taken over or removed */
  hasChanged: boolean;
}

/** The bindings of the group that no declared pair has. */
export const undeclaredBindings = ({ live, pairs }: Work): Live[] => {
  const chosen = new Set(pairs.map((pair) => pair.live?.uid));
  return live.filter(({ uid }) => !chosen.has(uid));
};

/** Why each of these must stay, by uid. */
export const keptReasons = (work: Work): ReadonlyMap<string, string> =>
  keptBy(work.news, work.group, work.live, undeclaredBindings(work), work.identity);

export const outputsOfWork = (work: Work): Json => {
  const { group, own, olds, news } = work;
  const kept = keptReasons(work);
  const chosen = work.pairs.flatMap(({ live, declared }) => (live ? [{ one: live, declared }] : []));
  // One that could not be removed yet is still managed.
  const isManaged = ({ uid }: Live) => own.has(uid) && !kept.has(uid);
  const others = undeclaredBindings(work);
  const managed = [...chosen.map(({ one }) => one), ...others.filter(isManaged)];
  const unmanaged = others.filter((one) => !isManaged(one));
  return outputsOf({ group, managed, unmanaged, kept }, news, hiddenNames(chosen, olds));
};
