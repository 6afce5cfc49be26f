// A policy that changes at random, with every option of AccessPolicy.
import { capabilityName, type Json } from "../../../schema/index.ts";
import type { Random } from "../../support/random.ts";
import type { HandMade } from "../program/hand-made.ts";
import { someCapabilities, someClaims } from "../program/some.ts";
import type { Described } from "./described.ts";

interface Node {
  key: string;
  /** key of the group that holds it; undefined: the organization */
  in?: string | undefined;
  was?: string;
  /** the record, where it is not the key */
  name?: string;
  content: Json;
}

/** what the name of the file of uids ends with */
export const UIDS = "adopt.json";

interface Options {
  /** it adopts some of what was made by hand */
  adopts: boolean;
  mayBeExclusive: boolean;
  /** it may come to be one that the update refuses */
  mayFail: boolean;
}

export const randomPolicy = (random: Random, made: HandMade, { adopts, mayBeExclusive, mayFail }: Options) => {
  const chance = (one: number): boolean => random.below(one) === 0;
  let count = 0;
  let changes = 0;
  let groups: Node[] = [];
  let identities: Node[] = [];
  let roles: Node[] = [];
  let access: { group: string | undefined; role: string; identity: string }[] = [];
  let people: Record<string, string[]> = {};
  let name = `${made.prefix}policy`;
  let options: Json = {};
  const args: Json = {
    ...(mayBeExclusive && chance(3) && { exclusive: true }),
    ...(chance(4) && { deleteAdopted: true }),
    ...(chance(4) && { allowDuplicate: true }),
    ...(chance(4) && { maxRemovals: 5 }),
    allowReplace: true,
  };
  const none = (): Record<string, string> => ({});
  const uids = { groups: none(), identities: none(), roles: none() };
  const fresh = (word: string): string => `${made.prefix}p-${word}-${++count}`;
  const somewhere = (): string | undefined => (chance(4) ? undefined : random.pick(groups)?.key);
  const can = (): string[] => someCapabilities(random).map(capabilityName);

  const addGroup = (): void => {
    const parent = somewhere();
    groups.push({ key: fresh("group"), in: parent, content: { description: random.hex(4) } });
  };
  const addIdentity = (): void => {
    identities.push({ key: fresh("identity"), in: somewhere(), content: { claimMatch: someClaims(random) } });
  };
  const addRole = (): void => void roles.push({ key: fresh("role"), content: { can: can() } });
  const addAccess = (): void => {
    const identity = random.pick(identities)?.key;
    const role = random.pick([...roles.map(({ key }) => key), "viewer", "editor"]);
    const group = chance(6) ? undefined : random.pick(groups)?.key;
    const isThere = access.some((one) => one.group === group && one.role === role && one.identity === identity);
    if (identity !== undefined && !isThere) access.push({ group, role, identity });
  };
  const addPeople = (): void => {
    people[`x-${random.hex(3)}`] = [random.pick([...roles.map(({ key }) => key), "viewer"])];
  };

  if (adopts) {
    const isByFile = chance(2);
    args.adopt = isByFile ? { file: `${made.prefix}${UIDS}` } : "match";
    for (const { kind, uid, inputs } of made.adoptable) {
      if (!chance(2) || !["group", "identity", "role"].includes(kind)) continue;
      if (kind !== "role" && inputs.parent !== made.home) continue;
      const own = inputs.name as string;
      const key = isByFile && chance(2) ? fresh("taken") : own;
      const node = { key, ...(key !== own && { name: own }), in: kind === "role" ? undefined : "home" };
      if (kind === "group") groups.push({ ...node, content: {} });
      else if (kind === "identity") identities.push({ ...node, content: { claimMatch: inputs.claimMatch } });
      else roles.push({ ...node, content: { can: (inputs.capabilities as string[]).map(capabilityName) } });
      uids[kind === "group" ? "groups" : kind === "identity" ? "identities" : "roles"][key] = uid;
    }
    groups.unshift({ key: "home", content: {} });
    uids.groups.home = made.home;
  }
  addGroup();
  addGroup();
  addIdentity();
  addIdentity();
  addRole();
  for (let left = 3; left > 0; left -= 1) addAccess();

  const all = (): Node[] => [...groups, ...identities, ...roles].filter(({ key }) => key !== "home");
  const isGroup = (node: Node): boolean => groups.includes(node);

  const rename = (node: Node, keeps: boolean): void => {
    const [before, after] = [node.key, fresh("renamed")];
    node.key = after;
    node.name ??= before;
    if (keeps) node.was = before;
    for (const one of [...groups, ...identities, ...roles]) if (one.in === before) one.in = after;
    for (const one of access) {
      if (one.group === before) one.group = after;
      if (one.role === before) one.role = after;
      if (one.identity === before) one.identity = after;
    }
    for (const [group, held] of Object.entries(people))
      people[group] = held.map((role) => (role === before ? after : role));
  };

  const drop = (node: Node): void => {
    if (isGroup(node) && [...groups, ...identities].some((one) => one.in === node.key)) return;
    const [others, key] = [(one: Node) => one !== node, node.key];
    groups = groups.filter(others);
    identities = identities.filter(others);
    roles = roles.filter(others);
    access = access.filter((one) => ![one.group, one.role, one.identity].includes(key));
    people = Object.fromEntries(Object.entries(people).filter(([, held]) => !held.includes(key)));
  };

  const alter = (node: Node): void => {
    if (isGroup(node)) node.content = { description: random.hex(4) };
    else if (identities.includes(node)) {
      if (chance(2)) node.in = random.pick(groups)?.key;
      else node.content = { claimMatch: someClaims(random) };
    } else node.content = { can: can() };
  };

  const OPERATIONS: (() => void)[] = [
    addGroup,
    addIdentity,
    addRole,
    addAccess,
    addAccess,
    addAccess,
    addPeople,
    () => void access.splice(random.below(access.length + 1), 1),
    () => drop(random.pick(all())),
    () => alter(random.pick(all())),
    () => alter(random.pick(all())),
    () => rename(random.pick(all()), true),
    () => rename(random.pick(all()), random.below(2) === 0),
    () => {
      random.pick(all()).name = fresh("name");
    },
    () => {
      args.exclusive = mayBeExclusive && args.exclusive !== true;
    },
    () => {
      const aliases = [{ name }];
      name = fresh("policy");
      const isLost = chance(3) && (mayFail || args.adopt === "match" || args.allowDuplicate === true);
      options = isLost ? {} : { aliases };
    },
    () => {
      if (mayFail || changes > 1) delete args.adopt;
    },
  ];

  const treeOf = (parent: string | undefined): Json =>
    Object.fromEntries(
      groups
        .filter((one) => one.in === parent)
        .map(({ key, was, name: own, content }) => [
          key,
          { ...content, ...(was && { was }), ...(own && { name: own }), groups: treeOf(key) },
        ]),
    );
  const pathOf = (key: string | undefined): string => {
    if (key === undefined) return "/";
    const parent = groups.find((one) => one.key === key)?.in;
    return parent === undefined ? key : `${pathOf(parent)}/${key}`;
  };
  const listOf = (nodes: readonly Node[]): Json =>
    Object.fromEntries(
      nodes.map(({ key, was, name: own, in: place, content }) => {
        const at = place !== undefined && { in: pathOf(place) };
        return [key, { ...at, ...(was && { was }), ...(own && { name: own }), ...content }];
      }),
    );

  return {
    current: (): Described["policies"][number] => {
      const rows: Record<string, Record<string, string[]>> = {};
      for (const { group, role, identity } of access) {
        const path = pathOf(group);
        rows[path] = { ...rows[path], [role]: [...(rows[path]?.[role] ?? []), identity] };
      }
      const policy: Json = {
        organization: { uid: made.organization },
        groups: treeOf(undefined),
        identities: listOf(identities),
        roles: listOf(roles),
        access: rows,
        ...(Object.keys(people).length > 0 && { people: { [`${made.prefix}people`]: { externalGroups: people } } }),
      };
      return { name, args: { ...args, policy }, options };
    },
    /** the file of `adopt`; undefined: there is none */
    uids: (): Json | undefined => {
      const groups = Object.fromEntries(Object.entries(uids.groups).map(([key, uid]) => [pathOf(key), uid]));
      return typeof args.adopt === "object" ? { ...uids, groups } : undefined;
    },
    change: (times: number): void => {
      changes += 1;
      // A former key counts for one update.
      for (const node of all()) delete node.was;
      for (let left = times; left > 0; left -= 1) random.pick(OPERATIONS)();
    },
  };
};
