// Whether a run has done to access only what its review shows, by what the server itself decides (test/soak/access/authorization.ts), and by
// its records. Shares no line with access/seal.
import type { AccessGraph } from "../../../access/graph/graph.ts";
import { accessIn } from "../../../access/graph/holds.ts";
import type { Live } from "../../../access/graph/live.ts";
import { textOf } from "../../../access/graph/same.ts";
import { accessChange } from "../../../access/review/change.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { ancestorsOf } from "../../../schema/index.ts";
import { type Authorization, expectedRows } from "../access/authorization.ts";
import { renameRecords } from "../access/renamed.ts";

export interface Moment {
  live: Live;
  authorization: Authorization;
}

/** What the review shows, with the uids that its new records have got. `idOf` is the uid of a URN. */
export const shownBy = ({ before, after }: Proposal, idOf: (id: string) => string) => {
  const later = renameRecords(after, idOf);
  const most = unionOf(before, later);
  const [shown, possible] = [new Set<string>(), new Set<string>()];
  for (const { identity, gains, losses } of accessChange(before, later)) {
    for (const { group, capability } of gains) shown.add(`${identity} + ${group} ${capability}`);
    for (const { group, capability } of losses) shown.add(`${identity} - ${group} ${capability}`);
  }
  for (const { identity, gains } of accessChange(before, most))
    for (const { group, capability } of gains) possible.add(`${identity} + ${group} ${capability}`);
  for (const { identity, losses } of accessChange(before, sectionOf(before, later)))
    for (const { group, capability } of losses) possible.add(`${identity} - ${group} ${capability}`);
  return { before, later, after, most, shown, possible, idOf };
};

/** What may be there when only some steps are done: every pair of both, and what each role grants in one of them. */
const unionOf = (before: AccessGraph, later: AccessGraph): AccessGraph => {
  const roles = new Map([...before.roles, ...later.roles]);
  for (const [id, role] of roles) {
    const both = [before, later].flatMap((graph) => graph.roles.get(id)?.capabilities ?? []);
    roles.set(id, { ...role, capabilities: [...new Set(both)] });
  }
  const bindings = [before, later].flatMap((graph) => [...graph.bindings.values()]);
  return {
    ...later,
    groups: new Map([...before.groups, ...later.groups]),
    identities: new Map([...before.identities, ...later.identities]),
    bindings: new Map(bindings.map((one) => [`${one.group} ${one.identity} ${one.role}`, one])),
    roles,
  };
};

/** What is there whatever is done: the bindings that stay as they are, and what their roles keep. */
const sectionOf = (before: AccessGraph, later: AccessGraph): AccessGraph => ({
  ...before,
  bindings: new Map(
    [...before.bindings].filter(([id, { identity, role }]) => {
      const now = later.bindings.get(id);
      return now?.identity === identity && now.role === role;
    }),
  ),
  roles: new Map(
    [...before.roles].map(([id, role]) => {
      const kept = later.roles.get(id)?.capabilities ?? [];
      return [id, { ...role, capabilities: role.capabilities.filter((one) => kept.includes(one)) }];
    }),
  ),
});

export type Shown = ReturnType<typeof shownBy>;

export interface Caused {
  rows: number;
  /** rows of access that the review does not show, and people that it does not show */
  problems: string[];
}

/** `olds`: what was there right before the run. `isWhole`: it has done all that the review shows, and so nothing in between counts. */
export const causedBeyond = (shown: Shown, olds: Moment, news: Moment, isWhole: boolean): Caused => {
  const rows = expectedRows(olds.authorization, news.authorization);
  const gained = new Set<string>();
  const problems = rows.flatMap((row) => {
    const [identity, sign, group, capability] = row.split(" ") as [string, string, string, string];
    if (sign === "+") gained.add(identity);
    const places = [group, ...ancestorsOf(group)];
    const allowed = isWhole ? shown.shown : shown.possible;
    return places.some((place) => allowed.has(`${identity} ${sign} ${place} ${capability}`)) ? [] : [row];
  });
  for (const uid of gained) problems.push(...assumedBeyond(shown, uid, news.live.graph));
  problems.push(...changedClaims(shown, olds.live.graph, news.live.graph));
  problems.push(...heldByOthers(shown, olds.live.graph, news.live.graph));
  problems.push(...peopleBeyond(shown, olds.live.graph, news.live.graph));
  return { rows: rows.length, problems };
};

const claimsIn = (graph: AccessGraph, uid: string): string[] => {
  const node = graph.identities.get(uid);
  return node ? [textOf(node.relationship)] : [];
};

/** Of an identity that gained: a workload that the review does not name. */
const assumedBeyond = ({ before, later }: Shown, uid: string, now: AccessGraph): string[] => {
  const shown = [...claimsIn(before, uid), ...claimsIn(later, uid)];
  return claimsIn(now, uid)
    .filter((one) => !shown.includes(one))
    .map((one) => `${uid} gained, and ${one} can assume it`);
};

/** Of an identity that another workload than before can assume. */
const changedClaims = ({ later }: Shown, olds: AccessGraph, news: AccessGraph): string[] =>
  [...olds.identities.keys()].flatMap((uid) => {
    const [was, is] = [claimsIn(olds, uid)[0], claimsIn(news, uid)[0]];
    if (is === undefined || was === is || claimsIn(later, uid).includes(is)) return [];
    return [`the run lets ${is} assume ${uid}`];
  });

/** Of an identity that another workload than before can assume: what it holds, and the review shows at no moment. */
const heldByOthers = ({ most }: Shown, olds: AccessGraph, news: AccessGraph): string[] => {
  const [held, shown] = [accessIn(news), accessIn(most)];
  return [...olds.identities.keys()].flatMap((uid) => {
    const [was, is] = [claimsIn(olds, uid)[0], claimsIn(news, uid)[0]];
    if (is === undefined || was === is) return [];
    return held
      .topmostOf(uid)
      .filter(({ group, capability }) => !shown.holds(uid, capability, [group, ...ancestorsOf(group)]))
      .map(({ group, capability }) => `another workload gets ${capability} at ${group} by ${uid}`);
  });
};

/** What gives a role to people: each as what they are, where they get it, and what it grants. */
const peopleIn = (
  graph: AccessGraph,
  idOf: (id: string) => string,
  others: readonly AccessGraph[] = [],
): Map<string, { text: string; grants: Set<string> }> => {
  const roleOf = (role: string | null) =>
    new Set([graph, ...others].flatMap(({ roles }) => roles.get(role ?? "")?.capabilities ?? []));
  const found = new Map<string, { text: string; grants: Set<string> }>();
  for (const { id, signIn, defaultRole, group } of graph.providers.values())
    found.set(idOf(id), { text: textOf([signIn, idOf(group)]), grants: roleOf(defaultRole) });
  for (const { id, provider, externalGroupId, role, group } of graph.externalGroups.values())
    found.set(idOf(id), { text: `${idOf(provider)} ${externalGroupId} ${idOf(group)}`, grants: roleOf(role) });
  for (const { id, group, role, email, singleUse } of graph.invites.values())
    found.set(idOf(id), { text: `${idOf(group)} ${email} ${singleUse}`, grants: roleOf(role) });
  return found;
};

const peopleBeyond = ({ before, after, idOf }: Shown, olds: AccessGraph, news: AccessGraph): string[] => {
  const same = (id: string): string => id;
  const [was, is, shownBefore, shownAfter] = [
    peopleIn(olds, same),
    peopleIn(news, same),
    peopleIn(before, same, [after]),
    peopleIn(after, idOf, [before]),
  ];
  return [...is].flatMap(([uid, now]) => {
    const old = was.get(uid);
    // An invite whose code was lost is created a second time, before the first one is deleted.
    const twin = [...shownAfter].find(([id, one]) => !shownBefore.has(id) && one.text === now.text)?.[1];
    const [shown, shownOld] = [shownAfter.get(uid) ?? twin, shownBefore.get(uid)];
    const problems: string[] = [];
    if (old?.text !== now.text && shown?.text !== now.text)
      problems.push(`the people of ${uid} are ${now.text}, and the review shows ${shown?.text ?? "none"}`);
    for (const capability of now.grants) {
      // Other people than before get all of it.
      const isNew = !old?.grants.has(capability) || old.text !== now.text;
      if (isNew && !shown?.grants.has(capability) && !shownOld?.grants.has(capability))
        problems.push(`the people of ${uid} get ${capability}`);
    }
    return problems;
  });
};
