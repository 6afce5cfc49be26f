// The effects of a run on access, from the copy before and after it and from the state of its stack: nothing is predicted.

import { isOrMayBe } from "../../pulumi/value.ts";
import { capabilityFrom, isObject, type Json, printable, rootOf } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import { type AccessGraph, changedNodes, type IdentityNode, type NodeId, newGraph, renamed } from "../graph/graph.ts";
import type { AdoptedRecord, ForcedRecord, HeldRecord, Hidden, Proposal, UnknownPart } from "../review/proposal.ts";
import { findRestored, hasNode } from "./restored.ts";
import { isRecord, type Managed, nodesOf, organizationsOf, recordsOf, wordOf } from "./stack.ts";

export interface RunFacts {
  /** of the copy */
  before: AccessGraph;
  after: AccessGraph;
  /** resources of the stack at this service, before the run and after it */
  stored: readonly Managed[];
  left: readonly Managed[];
  /** repos and account associations of the copy before the run, which may be deleted with their group */
  held: readonly HeldRecord[];
  /** whether a text contains something that the state marks as secret */
  isSecret(text: string): boolean;
  /** bindings whose deletion did not run: each may end, and counts as ended */
  ending: ReadonlySet<string>;
  /** facts that the run did not carry out, or could not know */
  unknown: readonly UnknownPart[];
}

export const proposalFromRun = (run: RunFacts): Proposal => {
  const { before, stored, left } = run;
  const { after: open, unknown } = hideSecrets(run);
  const after = withoutEnding(open, run.ending);
  const made = newIn(before, after);
  /**
   * For a new record, the URN of its resource: the service will assign another uid. A record without a resource keeps the uid as its id.
   */
  const urns = new Map(
    left.flatMap((one) => (isRecord(one) && made.has(one.uid) ? [[one.uid, one.urn] as const] : [])),
  );
  const idOf = (uid: NodeId) => urns.get(uid) ?? uid;

  const names = new Map(left.map(({ urn, name }) => [urn, name]));
  const shown = renamed(withoutMade(after, made, left), idOf, (uid) => {
    if (!made.has(uid)) return {};
    const logicalName = names.get(idOf(uid));
    return {
      uid: null,
      ...(after.groups.has(uid) && logicalName !== undefined && { logicalName }),
      ...(after.invites.has(uid) && { name: nameOfUrn(idOf(uid)), expirationTime: null }),
    };
  });

  /** Identities whose resource has another record after the run. */
  const replaced = stored.flatMap(({ urn, kind, uid }) => {
    const next = left.find((one) => one.urn === urn && one.uid !== uid);
    return kind === "identity" && next && !after.identities.has(uid) ? [[uid, idOf(next.uid)] as const] : [];
  });

  const known = recordsOf(stored);
  const byUid = Map.groupBy(stored.filter(isRecord), ({ uid }) => uid);
  /** It existed before the run, and no resource of the stack had it, or only another one that has not adopted it. */
  const isAdopted = (one: Managed) => {
    const { urn, uid, isRead, inputs } = one;
    if (!isRecord(one) || isRead || !before[nodesOf(one)].has(uid)) return false;
    const olds = byUid.get(uid) ?? [];
    return (
      !known.has(uid) ||
      (inputs.adopt != null && !olds.some((old) => old.urn === urn || old.inputs.adopt === inputs.adopt))
    );
  };
  const adopted = left.filter(isAdopted).map(({ kind, name: resource, uid, inputs, outputs }): AdoptedRecord => {
    // A record that an interrupted run had created belongs to the stack.
    const deletedLater = outputs.adopted !== true || isOrMayBe(inputs.deleteAdopted);
    return { kind: wordOf(kind), uid, resource, deletedLater };
  });

  const wasForced = new Set(stored.flatMap(({ urn, inputs }) => (isOrMayBe(inputs.forceDestroy) ? [urn] : [])));
  const forced = [
    ...stored.flatMap((one): ForcedRecord[] => {
      const { kind, name: resource, uid, inputs, outputs } = one;
      const isGone = isRecord(one) && !after[nodesOf(one)].has(uid);
      if (!isGone || !isOrMayBe(outputs.forceDestroy ?? inputs.forceDestroy)) return [];
      const held = run.held.filter(({ group }) => group === uid || group.startsWith(`${uid}/`));
      return [{ kind: wordOf(kind), resource, uid, node: uid, deletes: true, held }];
    }),
    ...left.flatMap((one): ForcedRecord[] => {
      const { urn, kind, name: resource, uid, inputs } = one;
      if (!isRecord(one) || !isOrMayBe(inputs.forceDestroy) || wasForced.has(urn)) return [];
      const node = idOf(uid);
      return [{ kind: wordOf(kind), resource, uid: node === uid ? uid : null, node, deletes: false }];
    }),
  ];

  const organizations = new Set([
    ...organizationsOf([...stored, ...left]),
    ...changedNodes(before, after).map(({ id }) => rootOf(id)),
  ]);
  const declared = recordsOf(left);
  return {
    before,
    after: shown,
    replaced: new Map(replaced),
    restored: findRestored({ before, after, stored, left, made }).map(({ node }) => idOf(node)),
    adopted,
    forced,
    deleted: new Set([...known].filter((uid) => !hasNode(after, uid))),
    undeclared: [...after.bindings.values()]
      .filter(({ id, group }) => !made.has(id) && !declared.has(id) && organizations.has(rootOf(group)))
      .map(({ id }) => id),
    organizations: new Set([...organizations].map(idOf)),
    unknown: [...run.unknown, ...unknown.map((one) => renamedPart(one, idOf))],
  };
};

const withoutEnding = (graph: AccessGraph, ending: RunFacts["ending"]) => ({
  ...graph,
  bindings: new Map([...graph.bindings].filter(([id]) => !ending.has(id))),
});

/** uids of the nodes that only `after` has: the service will assign others. */
const newIn = (before: AccessGraph, after: AccessGraph) =>
  new Set(
    (Object.keys(after) as (keyof AccessGraph)[]).flatMap((kind) =>
      [...after[kind].keys()].filter((id) => !before[kind].has(id)),
    ),
  );

const renamedPart = ({ hides, about, ...one }: UnknownPart, idOf: (uid: NodeId) => NodeId): UnknownPart => ({
  ...one,
  ...(hides && {
    hides: Object.fromEntries(
      Object.entries(hides).map(([name, value]) => [name, typeof value === "string" ? idOf(value) : value]),
    ) as Hidden,
  }),
  ...(about !== undefined && { about: idOf(about) }),
});

/** Replaces the uid of a new record in texts: the service will assign another one. Removes ends that the service chooses. */
const withoutMade = (graph: AccessGraph, made: ReadonlySet<string>, left: readonly Managed[]): AccessGraph => {
  const shown = newGraph(graph);
  // The uid of a record begins with the uid of its group.
  const longest = [...made].toSorted((a, b) => b.length - a.length);
  const withoutUids = (text: string) =>
    longest.reduce((all, uid) => all.replaceAll(uid, `[uid of ${nameOf(uid)}]`), text);
  const nameOf = (uid: string) =>
    [graph.groups, graph.identities, graph.roles].flatMap((nodes) => nodes.get(uid)?.name ?? [])[0] ?? "a new record";
  const inputs = new Map(left.map(({ uid, inputs: own }) => [uid, own]));
  for (const node of graph.identities.values()) {
    const relationship = made.has(node.id) ? withoutChosenEnd(node, inputs.get(node.id)) : node.relationship;
    const text = JSON.stringify(relationship);
    const isOld = relationship === node.relationship && ![...made].some((uid) => text.includes(uid));
    if (!isOld) shown.identities.set(node.id, { ...node, relationship: JSON.parse(withoutUids(text)) });
  }
  return shown;
};

/** The service chooses when static keys end if the program does not set it. */
const withoutChosenEnd = ({ relationship }: IdentityNode, inputs: Json = {}) => {
  const { expirationTime, ...staticKeys } = (relationship?.staticKeys ?? {}) as Json;
  const isChosen = expirationTime && isObject(inputs.staticKeys) && !inputs.staticKeys.expirationTime;
  return isChosen ? { ...relationship, staticKeys } : relationship;
};

const nameOfUrn = (urn: string) => urn.split("::").slice(3).join("::") || "a new invite";

// A review never shows values that the state of the stack marks as secret. If such a value decides access, the access that the change gives
// is unknown.

/** The service lists unchanged values to everyone who may read them. */
const hideSecrets = ({ before, after, isSecret }: RunFacts): { after: AccessGraph; unknown: UnknownPart[] } => {
  const shown = newGraph(after);
  const unknown: UnknownPart[] = [];
  const hasSecret = (value: unknown): boolean => {
    if (typeof value === "string") return isSecret(value);
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, one]) => isSecret(key) || hasSecret(one));
  };
  const changed = <K extends keyof AccessGraph>(kind: K) => {
    const nodes = after[kind] as ReadonlyMap<NodeId, { id: NodeId; name?: string }>;
    return [...nodes.values()]
      .filter((node) => equalityKey(node) !== equalityKey(before[kind].get(node.id) ?? null))
      .flatMap((node) => shown[kind].get(node.id) ?? []);
  };
  const hide = (subject: string, property: string, what: string, hides: Hidden, about?: NodeId) =>
    void unknown.push({ subject, property, message: `${printable(subject)}: ${what} is secret`, hides, about });

  for (const kind of ["groups", "identities", "roles", "providers"] as const)
    for (const node of changed(kind))
      if (isSecret(node.name)) (shown[kind] as Map<NodeId, object>).set(node.id, { ...node, name: SECRET_NAME });
  for (const { id } of changed("identities")) {
    const node = shown.identities.get(id) as NonNullable<ReturnType<typeof shown.identities.get>>;
    if (!hasSecret(node.relationship)) continue;
    shown.identities.set(id, { ...node, relationship: null });
    hide(node.name, "", "who can assume it", { of: "assumable", identity: id }, id);
  }
  for (const { id, name, ...node } of changed("roles")) {
    // The state uses the names of the API.
    const open = node.capabilities.filter((one) => !isSecret(one) && !isSecret(capabilityFrom(one) ?? one));
    if (open.length === node.capabilities.length) continue;
    // A hidden capability may be one that the role grants now: it is not reported as a loss.
    const held = before.roles.get(id)?.capabilities.filter((one) => node.capabilities.includes(one)) ?? [];
    shown.roles.set(id, { ...node, id, name, capabilities: [...new Set([...open, ...held])].sort() });
    hide(name, "capabilities", "what the role grants", { of: "capabilities", role: id }, id);
  }
  for (const { id, identity, role, group } of changed("bindings")) {
    const parts = Object.entries({ identity, role, group }).filter(([, uid]) => !isSecret(uid));
    if (parts.length === 3) continue;
    shown.bindings.delete(id);
    hide("role binding", "", "a part of it", { of: "binding", ...Object.fromEntries(parts) });
  }
  for (const { id, name, signIn, defaultRole, group, ...node } of changed("providers")) {
    const [hidesSignIn, hidesRole] = [hasSecret(signIn), hasSecret(defaultRole)];
    shown.providers.set(id, {
      ...{ ...node, id, name, group },
      ...{ signIn: hidesSignIn ? null : signIn, defaultRole: hidesRole ? null : defaultRole },
    });
    if (hidesSignIn) hide(name, "oidc", "where people sign in", { of: "issuer" }, id);
    if (hidesRole) hide(name, "defaultRole", "the role of its people", { of: "people", group }, id);
  }
  for (const node of changed("externalGroups"))
    if (hasSecret(node)) {
      shown.externalGroups.delete(node.id);
      hide("external group", "", "a part of it", { of: "people" });
    }
  for (const node of changed("invites"))
    if (hasSecret(node.email) || hasSecret(node.role)) {
      const role = hasSecret(node.role) ? null : node.role;
      shown.invites.set(node.id, { ...node, role, email: hasSecret(node.email) ? "" : node.email });
      hide("invite", "", "who can accept it, or the role that they get,", { of: "people", group: node.group }, node.id);
    }
  return { after: shown, unknown };
};

const SECRET_NAME = "[secret]";
