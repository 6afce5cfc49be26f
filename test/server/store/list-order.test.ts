// order_by (docs/contract.md#d14): every field and alias in both directions, ties by uid in the same direction.
import { describe, expect, test } from "vitest";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
import { listAll } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { createRandom } from "../../support/random.ts";
import { expectInvalid } from "../../support/refusal.ts";

/** The field of the answer that each alias means. */
const ALIASES: Record<string, string> = {
  ...{ uid: "uid", id: "uid", name: "name" },
  ...{ create_time: "createTime", createTime: "createTime", created_at: "createTime" },
  ...{ update_time: "updateTime", updateTime: "updateTime", updated_at: "updateTime" },
};
const KINDS = ["groups", "identities", "roles", "roleBindings", "groupInvites"] as const;
/** They have neither a name nor an update, so the one order besides that of the uids is that of their creation. */
const isLink = (kind: string): boolean => kind === "roleBindings" || kind === "groupInvites";
// No upper case, no letter that a locale would sort elsewhere: a byte is a byte.
const NAMES = ["a", "b", "-", "_", "a b", "a-b", "ab", "z.9", "9"];
const COUNT = 24;
const rows: Record<string, Body[]> = {};

const api = await serve({ ids: shuffledIds(2) });
const random = createRandom(3);
const parent = api.organization;
const bodies: Record<(typeof KINDS)[number], () => Body> = {
  groups: () => ({ name: random.pick(NAMES) }),
  identities: () => ({ name: random.pick(NAMES), servicePrincipal: 1 }),
  roles: () => ({ name: random.pick(NAMES), capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  roleBindings: () => ({ identityUid: api.identity, roleUid: viewer }),
  groupInvites: () => ({ roleUid: viewer, ttl: "60s" }),
};
const viewer = await api.role("viewer");
for (const kind of KINDS) {
  const own: Body[] = [];
  for (let i = 0; i < COUNT; i += 1) {
    // Half of the rows are made in the millisecond of the row before.
    api.clock.advance(random.below(2));
    own.push(await api.ok("POST", `${IAM}/${kind}/${parent}`, { body: bodies[kind]() }));
  }
  // Some are changed later, in another order; three in one millisecond.
  for (const { uid } of kind === "groupInvites" ? [] : random.shuffle(own).slice(0, 8)) {
    api.clock.advance(random.below(2));
    await api.ok("PATCH", `${IAM}/${kind}/${uid}`, { body: isLink(kind) ? {} : { description: "changed" } });
  }
  const query = { "uidp.childrenOf": parent, page_size: 200 };
  rows[kind] = (await api.ok("GET", `${IAM}/${kind}`, { query }))[kind];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const expected = (kind: string, field: string, direction: string): string[] =>
  (rows[kind] as Body[])
    .toSorted((a, b) => compare(a[field], b[field]) || compare(a.uid, b.uid))
    .map(({ uid }) => uid as string)
    [direction === "desc" ? "reverse" : "valueOf"]() as string[];

const walk = async (kind: string, order_by: string, page_size: number): Promise<string[]> => {
  const query = { "uidp.childrenOf": api.organization, order_by, page_size };
  return (await listAll(api, `${IAM}/${kind}`, { query })).map(({ uid }) => uid);
};

test("the fixture has ties in every field but the uid, and each order differs", () => {
  for (const kind of KINDS) {
    const own = rows[kind] as Body[];
    const fields = isLink(kind) ? ["createTime"] : ["name", "createTime", "updateTime"];
    for (const field of fields) expect(new Set(own.map((row) => row[field])).size).toBeLessThan(own.length);
    const orders = ["uid", ...fields].map((field) => expected(kind, field, "asc").join());
    expect(new Set(orders).size).toBe(orders.length);
  }
});

const fieldsOf = (kind: string) =>
  Object.entries(ALIASES).filter(([, field]) => !isLink(kind) || ["uid", "createTime"].includes(field));

describe.each(KINDS)("%s", (kind) => {
  const orders = fieldsOf(kind).flatMap(([alias, field]) =>
    ["", " asc", " desc"].map((direction) => [`${alias}${direction}`, field, direction.trim()] as const),
  );

  test.each(orders)("are listed by %j in one page and over pages", async (orderBy, field, direction) => {
    const order = expected(kind, field, direction);
    expect(await walk(kind, orderBy, 200)).toEqual(order);
    expect(await walk(kind, orderBy, 5)).toEqual(order);
  });

  test("are listed by uid without an order; invites by their creation, the newest first", async () => {
    const [field, direction] = kind === "groupInvites" ? ["createTime", "desc"] : ["uid", "asc"];
    expect(await walk(kind, "", 5)).toEqual(expected(kind, field as string, direction as string));
  });
});

const TEXT = "must be one of uid, name, create_time, update_time, optionally followed by asc or desc";

test.each([
  ["two directions", "name asc desc"],
  ["an unknown direction", "name down"],
  ["a name of the prototype", "constructor"],
])("order_by is refused with %s", async (_, orderBy) => {
  expectInvalid(await api.call("GET", `${IAM}/groups`, { query: { order_by: orderBy } }), { orderBy: TEXT });
});

test.each<[path: string, fields: string, refused: string[]]>([
  [`${IAM}/groups`, "uid, name, create_time, update_time", ["group"]],
  [`${IAM}/accountAssociations`, "group, uid, name, create_time, update_time", ["description"]],
  [`${IAM}/roleBindings`, "uid, create_time", ["name", "update_time", "updatedAt"]],
  [`${IAM}/groupInvites`, "uid, create_time", ["name", "update_time", "expiration_time"]],
  [`${IAM}/externalGroupRoleMappings`, "uid, create_time", ["name"]],
  ["/vulnerabilities/v2beta1/advisories", "uid, create_time, update_time", ["name"]],
])("order_by of %s is by %s, and by nothing else", async (path, fields, refused) => {
  for (const order_by of refused) {
    const { json } = await api.call("GET", path, { query: { order_by } });
    const text = `must be one of ${fields}, optionally followed by asc or desc`;
    expect(json).toMatchObject({ code: 3, message: `Invalid argument: orderBy: ${text}` });
  }
});
