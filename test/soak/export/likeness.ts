// Whether two organizations are alike: the same records, which refer to each other in the same way, whatever their uids. Colours of a
// record follow from its own fields and those of what it is connected with (the method of Weisfeiler and Leman).
import { createHash } from "node:crypto";
import { equalityKey } from "../../../access/canonical.ts";
import { type Contents, type ExportKind, KINDS } from "../../../access/export/read.ts";
import type { Listed } from "../../../access/graph/live-record.ts";
import { type Json, parentOf } from "../../../schema/index.ts";

interface Shape {
  /** what the record says itself */
  own(record: Listed): unknown;
  /** what it refers to: kind, uid, and how */
  refers?(record: Listed): [kind: ExportKind, uid: unknown, how: string][];
}

const pick =
  (...names: string[]) =>
  (record: Listed): Json =>
    Object.fromEntries(names.map((name) => [name, record[name]]));

const uidIn = (value: unknown): unknown => (value as Json | undefined)?.uid;
const inside =
  (kind: ExportKind) =>
  (record: Listed): [ExportKind, unknown, string] => [kind, parentOf(record.uid), "in"];

const SHAPES: Readonly<Record<ExportKind, Shape>> = {
  group: { own: pick("name", "description"), refers: (record) => [inside("group")(record)] },
  role: { own: pick("name", "description", "capabilities"), refers: (record) => [inside("group")(record)] },
  identity: {
    own: (record) => {
      const { expirationTime: _, ...keys } = (record.staticKeys ?? {}) as Json;
      return {
        ...pick("name", "description", "company", "claimMatch", "awsIdentity", "servicePrincipal")(record),
        keys,
      };
    },
    refers: (record) => [inside("group")(record)],
  },
  identityProvider: {
    own: pick("name", "description", "oidc"),
    refers: (record) => [inside("group")(record), ["role", record.defaultRole, "default"]],
  },
  externalGroupRoleMapping: {
    own: pick("externalGroupId"),
    refers: (record) => [
      inside("identityProvider")(record),
      ["role", record.roleUid, "role"],
      ["group", record.scope, "scope"],
    ],
  },
  roleBinding: {
    own: () => ({}),
    refers: (record) => [
      inside("group")(record),
      ["identity", uidIn(record.identity), "identity"],
      ["role", uidIn(record.role), "role"],
    ],
  },
  groupInvite: {
    own: (record) => ({
      ...pick("email", "singleUse")(record),
      ttlMs: Date.parse(String(record.expirationTime)) - Date.parse(String(record.createTime)),
    }),
    refers: (record) => [inside("group")(record), ["role", uidIn(record.role), "role"]],
  },
  accountAssociation: {
    own: pick("name", "description", "amazon", "google", "azure", "github"),
    refers: ({ uid, chainguard }) => [
      ["group", uid, "of"],
      ...Object.entries(((chainguard as Json)?.serviceBindings ?? {}) as Json).map(
        ([service, identity]): [ExportKind, unknown, string] => ["identity", identity, `service ${service}`],
      ),
    ],
  },
  repo: {
    own: ({ sync_config, ...record }) => ({
      ...pick(
        "name",
        "description",
        "catalogTier",
        "bundles",
        "aliases",
        "activeTags",
        "customOverlay",
      )(record as Listed),
      ...pick("google", "amazon", "azure")((sync_config ?? {}) as Listed),
    }),
    refers: (record) => [inside("group")(record), ["repo", (record.sync_config as Json | undefined)?.source, "source"]],
  },
  tag: { own: pick("name", "digest", "deprecated", "bundles"), refers: (record) => [inside("repo")(record)] },
};

/** Colours of all records, and what a reader is shown of them. */
export const coloursOf = (records: Contents["records"]): Map<string, string[]> => {
  const nodes = KINDS.flatMap((kind) =>
    records[kind].map((record) => ({ kind, record, key: `${kind} ${record.uid}` })),
  );
  const known = new Set(nodes.map(({ key }) => key));
  const edges = nodes.flatMap(({ kind, record, key }) =>
    (SHAPES[kind].refers?.(record) ?? []).flatMap(([other, uid, how]) =>
      known.has(`${other} ${uid}`) ? [{ from: key, to: `${other} ${uid}`, how }] : [],
    ),
  );
  /** of what is outside, such as a built-in role, the uid counts */
  const outside = ({ kind, record }: (typeof nodes)[number]): string[] =>
    (SHAPES[kind].refers?.(record) ?? [])
      .filter(([other, uid, how]) => how !== "in" && !known.has(`${other} ${uid}`))
      .map(([, uid, how]) => `${how} ${uid ?? ""}`);
  const labels = new Map(
    nodes.map((node) => [
      node.key,
      `${node.kind} ${equalityKey(SHAPES[node.kind].own(node.record))} ${outside(node).join()}`,
    ]),
  );
  const around = Map.groupBy(
    edges.flatMap(({ from, to, how }) => [
      { at: from, other: to, how: `> ${how}` },
      { at: to, other: from, how: `< ${how}` },
    ]),
    ({ at }) => at,
  );
  let colours = labels;
  for (let distinct = 0, before = -1; distinct !== before; ) {
    const next = new Map(
      nodes.map(({ key }) => {
        const near = (around.get(key) ?? []).map(({ other, how }) => `${how} ${colours.get(other)}`).sort();
        return [
          key,
          createHash("sha1")
            .update(JSON.stringify([colours.get(key), near]))
            .digest("hex"),
        ];
      }),
    );
    [before, distinct] = [distinct, new Set(next.values()).size];
    colours = next;
  }
  const shown = nodes.map(({ key }) => [`${colours.get(key)}`, labels.get(key) as string] as const);
  return new Map(
    [...Map.groupBy(shown, ([colour]) => colour)].map(([colour, all]) => [colour, all.map(([, label]) => label)]),
  );
};

/** What differs; empty where they are alike. */
export const differencesBetween = (one: Contents["records"], other: Contents["records"]): string[] => {
  const [a, b] = [coloursOf(one), coloursOf(other)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((colour) => {
    const [here, there] = [a.get(colour) ?? [], b.get(colour) ?? []];
    if (here.length === there.length) return [];
    return [`${here.length} and ${there.length} of ${here[0] ?? there[0]}`];
  });
};
