// The map of who may do what where: its rows, its columns and its cells, without and with a change.
import { expect, test } from "vitest";
import { mapSection } from "../../../access/format/html/map.ts";
import { type AccessMap, type MapGroup, mapOf, type Side } from "../../../access/format/html/map-model.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import type { AccessGraph, GraphBuilder } from "../../../access/graph/graph.ts";
import { peopleGraph } from "../../../access/graph/people.ts";
import {
  addGroup,
  addInvite,
  addProvider,
  addRole,
  bind,
  changed,
  graphOf,
  mapGroup,
  OKTA,
  roleUid,
  uid,
} from "../graphs.ts";
import { largeReview, reviewBetween } from "./reviews.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

const sideOf = (graph: AccessGraph): Side => ({ graph, people: peopleGraph(graph, 0) });

const flatten = (tree: MapGroup): MapGroup[] => [tree, ...tree.children.flatMap(flatten)];

/** `release: . W+ w`: small letters are inherited, and a sign follows what changes. */
const textOf = (map: AccessMap): string[] => {
  const groups = map.trees.flatMap(flatten);
  return map.rows.map((row) => {
    const cells = groups.map(({ id }) => {
      const { level, isInherited, gains, loses } = map.cellOf(row, id);
      const letter = level === null ? "." : level === "unknown" ? "?" : level.slice(0, 1).toUpperCase();
      return `${isInherited ? letter.toLowerCase() : letter}${gains ? "+" : ""}${loses ? "-" : ""}`;
    });
    return `${row.name}: ${cells.join(" ")}`;
  });
};

/** acme, with platform, platform/registry and team. */
const start = (access: Parameters<typeof graphOf>[0]["access"] = {}): GraphBuilder => {
  const names = Object.values(access).flatMap((given) => Object.values(given).flat());
  return graphOf({
    groups: ["platform", "platform/registry", "team"],
    roles: {
      ...{ reader: ["repo.list"], user: ["mcp.tool.call"], publisher: ["repo.create", "repo.list"] },
      ...{ "/giver": ["roles.update"], owner: ["role_bindings.create"], "/hidden": [] },
    },
    identities: Object.fromEntries(names.map((name) => [name, MATCH])),
    access,
  });
};
const [platform, team, reader, owner] = [uid("platform"), uid("team"), roleUid("reader"), roleUid("owner")];

const mapBetween = (before: GraphBuilder, after: GraphBuilder, ids: string[] = []): AccessMap =>
  mapOf({ before: sideOf(before), after: sideOf(after), changed: ids });

test("without a change, a map has the tree's order, the worst rows first, the strongest in each cell", () => {
  const graph = start({
    "/": { reader: ["a-reads"], owner: ["f-owns"] },
    platform: { reader: ["c-writes-below"], publisher: ["d-writes"] },
    "platform/registry": { publisher: ["c-writes-below"], "/hidden": ["g-hidden"] },
    team: { user: ["b-uses"], "/giver": ["e-gives"] },
  });
  const map = mapOf({ after: sideOf(graph) });
  expect(map.trees.flatMap(flatten).map(({ path }) => path)).toEqual(["/", "platform", "platform/registry", "team"]);
  expect(textOf(map)).toEqual([
    "f-owns: O o o o",
    "e-gives: . . . G",
    "g-hidden: . . ? .",
    "d-writes: . W w .",
    "c-writes-below: . R W .",
    "b-uses: . . . U",
    "a-reads: R r r r",
  ]);
});

test("without a change, a map has people, external groups, invites and pull tokens as rows like identities", () => {
  const graph = start({ "/": { reader: ["a-reads"] } });
  const [token, expirationTime] = [uid("team/laptop"), "2030-01-01T00:00:00Z"];
  const issuer = "https://pulltoken.issuer.chainguard.dev";
  const relationship = { staticKeys: { issuer, subject: "pull-token-1", issuerKeys: "{}", expirationTime } };
  graph.identities.set(token, { id: token, uid: token, name: "laptop", group: team, relationship });
  bind(graph, team, token, roleUid("publisher"));
  mapGroup(graph, uid("sso/admins"), addProvider(graph, uid("sso"), "sso", reader), "admins", owner);
  addInvite(graph, uid("team/k1"), "k1", team, roleUid("/giver"), { expirationTime });
  const map = mapOf({ after: sideOf(graph) });
  expect(textOf(map)).toEqual([
    "external group admins of sso: O o o o",
    "invite k1: . . . G",
    "laptop: . . . W",
    "a-reads: R r r r",
    "people of sso: R r r r",
  ]);
  expect(map.rows.find(({ name }) => name === "laptop")?.kind).toBe("pull token");
});

test("with a change, a map marks gains and losses in each cell, and has those who change first", () => {
  const before = start({ "/": { owner: ["owner"] }, platform: { reader: ["ci"] }, team: { publisher: ["ci"] } });
  const ci = uid("ci");
  const after = changed(before, (graph) => {
    addGroup(graph, "urn:new", "zone", platform);
    graph.bindings.delete(`${team}/b ${ci} ${roleUid("publisher")}`);
    bind(graph, platform, ci, roleUid("publisher"));
    graph.groups.delete(team);
  });
  const map = mapBetween(before, after, [ci]);
  const marks = map.trees.flatMap(flatten).flatMap(({ id, mark }) => (mark === "same" ? [] : [[id, mark]]));
  expect(marks).toEqual([
    ["urn:new", "new"],
    [team, "gone"],
  ]);
  // A group that is new, or goes, changes nothing for who holds the same above.
  expect(textOf(map)).toEqual(["ci: . W+ w+ w+ .-", "owner: O o o o ."]);
});

test("with a change, a map has other people where their issuer changes: they share nothing with those before", () => {
  const before = start();
  const sso = addProvider(before, uid("sso"), "sso", reader);
  const evil = { ...OKTA, issuer: "https://evil.example" };
  const after = changed(before, (graph) => addProvider(graph, sso, "sso", reader, evil));
  expect(reviewBetween(before, after).report.people).toMatchObject([{ subject: "people of sso" }]);
  expect(textOf(mapBetween(before, after))).toEqual(["people of sso: R+- r+- r+- r+-"]);
});

test("with a change, a map a role that grants more is a gain of all that have it", () => {
  const before = start({ team: { reader: ["ci"] } });
  const after = changed(before, (graph) => addRole(graph, "reader", ["repo.list", "role_bindings.create"]));
  expect(textOf(mapBetween(before, after))).toEqual(["ci: . . . G+"]);
});

test("with a change, a map marks a cell where the review gains or loses a row, and no other (seeds)", () => {
  for (const seed of [1, 2, 3]) {
    const size = { groups: 12, identities: 20, bindings: 60, changes: 12 };
    const { before, after, people, report } = largeReview(seed, size);
    const map = mapOf({
      before: { graph: before, people: people.before },
      after: { graph: after, people: people.after },
    });
    const marked = map.rows.flatMap((row) =>
      map.trees.flatMap(flatten).flatMap(({ id }) => {
        const { gains, loses } = map.cellOf(row, id);
        return [...(gains ? [`${row.id} + ${id}`] : []), ...(loses ? [`${row.id} - ${id}`] : [])];
      }),
    );
    const groups = [...after.groups.values()];
    const isAtOrBelow = (id: string, top: string | null): boolean =>
      top !== null && (id === top || id.startsWith(`${top}/`));
    const expected = report.identities.flatMap(({ uid, gains, losses }) =>
      groups.flatMap(({ id }) => [
        ...(gains.some(({ group }) => isAtOrBelow(id, group)) ? [`${uid} + ${id}`] : []),
        ...(losses.some(({ group }) => isAtOrBelow(id, group)) ? [`${uid} - ${id}`] : []),
      ]),
    );
    // A gain at a group above may be none below, where it was held already, so a row says at most where to look.
    expect(marked.filter((one) => !expected.includes(one))).toEqual([]);
    const tops = report.identities.flatMap(({ uid, gains, losses }) => [
      ...gains.map(({ group }) => `${uid} + ${group}`),
      ...losses.map(({ group }) => `${uid} - ${group}`),
    ]);
    expect(tops.filter((one) => !marked.includes(one))).toEqual([]);
  }
});

test("on a page, a map stands before everything else, is a table, and says in words what changes", () => {
  const before = start({ team: { reader: ["ci"] } });
  const after = changed(before, (graph) => bind(graph, team, uid("ci"), owner));
  const html = reviewAsHtml(reviewBetween(before, after));
  expect(/<main>\s*<section aria-labelledby="(\w+)"/.exec(html)?.[1]).toBe("map");
  expect(html).toContain('<th scope="col"><div><bdi>team</bdi></div>');
  expect(html).toContain('<th scope="row"><a href="#identities-1"><bdi>ci</bdi></a>');
  expect(html).toContain('<td class="O gain"><b>+</b>O<span class="said">: gains, before: reads</span>');
});

test("on a page, a map folds a large organization by group, with counts, and leaves out no row", () => {
  const review = largeReview(7, { groups: 60, identities: 200, bindings: 800, changes: 20 });
  const html = reviewAsHtml(review);
  expect(html).toMatch(
    /<details class="fold"[^>]*><summary><bdi>[^<]+<\/bdi> <small>\d+ groups, \d+ with access of their own/,
  );
  expect(html).toMatch(/<summary>\d+ more: (\d+ give, )?\d+ write/);
  const names = new Set([...html.matchAll(/<th scope="row">.*?<bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name));
  const holders = new Set(
    [...review.before.bindings.values(), ...review.after.bindings.values()].map((one) => one.identity),
  );
  expect(names.size).toBe(holders.size);
});

test("on a page, a map counts what it leaves out of a map that is too large, and keeps those who change", () => {
  const review = largeReview(7, { groups: 200, identities: 1_500, bindings: 4_500, changes: 20 });
  const { before, after, people, report } = review;
  const changed = report.identities.flatMap(({ uid }) => uid ?? []);
  const sides = { before: { graph: before, people: people.before }, after: { graph: after, people: people.after } };
  const map = mapOf({ ...sides, changed });
  const html = mapSection(map, { linkOf: () => undefined }).body.text;
  expect(html).toMatch(/\d+ more are left out of this map; the lists below have all/);
  for (const uid of changed) expect(html).toContain(map.rows.find(({ id }) => id === uid)?.name);
  expect(Buffer.byteLength(html)).toBeLessThan(1_500_000);
});
