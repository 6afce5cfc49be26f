// All commands, each as often as makes for full worlds.
import * as fc from "fast-check";
import {
  createBatch,
  createBinding,
  createGroup,
  createIn,
  get,
  remove,
  type UpdateParams,
  update,
} from "./change-command.ts";
import type { Command } from "./command.ts";
import { type ListParams, list, nextPage } from "./list-command.ts";
import type { Json, Kind } from "./oracle.ts";
import {
  capabilities,
  common,
  description,
  goodRelationship,
  kind,
  type LinkRef,
  link,
  name,
  orderBy,
  pageSize,
  type Ref,
  rarely,
  ref,
  relationship,
  seldom,
  skip,
} from "./value.ts";

const advance = (ms: number): Command => ({
  check: () => true,
  // Not counted: it is no operation of the API.
  run: (oracle, real) => real.advance(oracle, ms),
  toString: () => `advance ${ms} ms`,
});

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const shared = <P>(params: { [K in keyof P]: fc.Arbitrary<P[K]> }) =>
  fc.tuple(fc.record(params) as fc.Arbitrary<P>, common);

export const commands: fc.Arbitrary<Command>[] = [
  shared<{ root: boolean; parent: Ref; fields: Json }>({
    root: seldom,
    parent: ref,
    fields: fc.record({ name, description }),
  }).map(createGroup),
  shared<{ parent: Ref; fields: Json }>({
    parent: ref,
    fields: fc
      .record({ name, description, relationship })
      .map(({ relationship: own, ...rest }) => ({ ...rest, ...own })),
  }).map(createIn("identities")),
  shared<{ parent: Ref; fields: Json }>({
    parent: ref,
    fields: fc.record({ name, description, capabilities }),
  }).map(createIn("roles")),
  shared<{ parent: Ref; link: LinkRef; without: string | undefined }>({
    parent: ref,
    link,
    without: rarely<string | undefined>(12, fc.constant(undefined), fc.constantFrom("identityUid", "roleUid")),
  }).map(createBinding),
  shared<{ parent: Ref; role: Ref; shared: boolean; links: LinkRef[] }>({
    parent: ref,
    role: ref,
    shared: fc.boolean(),
    links: rarely(12, fc.array(link, { maxLength: 4 }), fc.array(link, { minLength: 26, maxLength: 26 })),
  }).map(createBatch),
  shared<{ kind: Kind; record: Ref }>({ kind, record: ref }).map(get),
  shared<{ kind: Kind; record: Ref }>({ kind, record: ref }).map(remove),
  ...[1, 2].map(() =>
    shared<UpdateParams>({
      kind,
      record: ref,
      link,
      fields: fc.record({ name, description, capabilities, relationship: goodRelationship }),
      keys: fc.subarray(["name", "description", "relationship", "capabilities", "identityUid", "roleUid"]),
      mask: fc.constantFrom("none", "none", "keys", "keys", "others", "*", "claimMatch.subject"),
      extra: rarely<UpdateParams["extra"]>(6, fc.constant(""), fc.constantFrom("createTime", "colour")),
    }).map(update),
  ),
  ...[1, 2].map(() =>
    shared<ListParams>({
      kind,
      uids: fc.tuple(ref, ref, ref) as unknown as fc.Arbitrary<Ref[]>,
      descendants: seldom,
      children: seldom,
      ancestors: seldom,
      inRoot: seldom,
      ids: seldom,
      exact: rarely<string | undefined>(4, fc.constant(undefined), fc.constantFrom("a", "b", "web 1", "never")),
      own: seldom,
      orderBy,
      pageSize,
      skip,
      broken: rarely(15, fc.constant(false), fc.constant(true)),
    }).map(list),
  ),
  ...[1, 2, 3].map(() =>
    shared<{ n: number; pageSize: number | undefined; skip: number; foreign: boolean }>({
      n: fc.nat(1000),
      pageSize: fc.constantFrom(undefined, 1, 2, 3, 200),
      skip: fc.constantFrom(0, 0, 0, 1),
      foreign: rarely(12, fc.constant(false), fc.constant(true)),
    }).map(nextPage),
  ),
  fc.constantFrom(0, 1, 1, 1000, HOUR, DAY, 3 * DAY, 3 * DAY + 1).map(advance),
];
