// "Where can this act", "who can act here", "who can do this".
import { expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { QuestionError, type QuestionText } from "../../../access/query/question.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

/** Groups `platform`, `platform/registry` and `tools`; `reader` at the root, `publisher` in the registry. */
const organization = () => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  const platform = addGroup(graph, uidIn(ROOT, 1), "platform", ROOT);
  const registry = addGroup(graph, uidIn(platform, 2), "registry", platform);
  const tools = addGroup(graph, uidIn(ROOT, 3), "tools", ROOT);
  const viewer = addRole(graph, "viewer", ["groups.list", "repo.list"]);
  const publisher = addRole(graph, "publisher", ["repo.list", "tag.create"], platform);
  const reader = addIdentity(graph, uidIn(ROOT, 16), "reader", ROOT, MATCH);
  const release = addIdentity(graph, uidIn(platform, 17), "release", platform, MATCH);
  bind(graph, ROOT, reader, viewer);
  bind(graph, registry, release, publisher);
  bind(graph, tools, release, viewer);
  return { graph, platform, registry, tools, reader, release, viewer, publisher };
};

const own = organization();
const live: Live = { graph: own.graph, notVisible: [] };

const answerRows = (question: QuestionText, from: Live = live): string[] => {
  const { graph, held } = answerOf(from, question);
  const name = (id: string) =>
    graph.identities.get(id)?.name ?? graph.groups.get(id)?.name ?? graph.roles.get(id)?.name;
  return held.flatMap(({ identity, group, role, capabilities = [] }) =>
    capabilities.map((one) => `${name(identity)} ${name(group)} ${one} by ${name(role)}`),
  );
};

const refusalOf = (question: QuestionText, from: Live = live): string => {
  try {
    answerOf(from, question);
  } catch (error) {
    if (error instanceof QuestionError) return error.message;
    throw error;
  }
  throw new Error("the question was answered");
};

test("an identity acts where its bindings are, one grant for each binding and capability", () => {
  const expected = [
    "release registry tag.create by publisher",
    "release registry repo.list by publisher",
    "release tools groups.list by viewer",
    "release tools repo.list by viewer",
  ];
  expect(answerRows({ identity: "release" })).toEqual(expected);
  expect(answerRows({ identity: own.release })).toEqual(expected);
});

test("who acts at a group comes from its bindings and those above, not from those below or beside", () => {
  const above = ["reader acme groups.list by viewer", "reader acme repo.list by viewer"];
  const here = ["release registry tag.create by publisher", "release registry repo.list by publisher"];
  for (const group of ["platform/registry", "/platform/registry/", own.registry])
    expect(answerRows({ group })).toEqual([...here, ...above]);
  expect(answerRows({ group: "platform" })).toEqual(above);
  expect(answerRows({ group: "/" })).toEqual(above);
});

test("who can do something: a friendly name or that of the API", () => {
  for (const capability of ["tag.create", "CAP_TAG_CREATE"])
    expect(answerRows({ capability })).toEqual(["release registry tag.create by publisher"]);
});

test("questions combine, and without any all access is the answer", () => {
  expect(answerRows({ identity: "release", group: "tools", capability: "repo.list" })).toEqual([
    "release tools repo.list by viewer",
  ]);
  expect(answerRows({ identity: "reader", capability: "tag.create" })).toEqual([]);
  expect(answerRows({})).toHaveLength(6);
});

test("two bindings that grant the same are two grants", () => {
  const { graph, tools, release, publisher } = organization();
  bind(graph, tools, release, publisher);
  expect(
    answerRows({ identity: "release", group: "tools", capability: "repo.list" }, { graph, notVisible: [] }),
  ).toEqual(["release tools repo.list by publisher", "release tools repo.list by viewer"]);
});

test.each(["nobody", uidIn(ROOT, 99)])(
  "of an identity without a near name, the error says which command prints them: %s",
  (identity) => {
    const where = "npx pulumi-irm access prints each identity that has a role";
    expect(refusalOf({ identity })).toBe(`there is no identity "${identity}"; ${where}`);
  },
);

test("all unknown names are reported at once, each with the nearest", () => {
  expect(refusalOf({ identity: "relaese", group: "platform/registri", capability: "CAP_TAG_CRAETE" })).toBe(
    [
      'there is no identity "relaese"; did you mean release?',
      'there is no group "platform/registri"; did you mean platform/registry?',
      'no role has the capability "CAP_TAG_CRAETE"',
    ].join("\n"),
  );
});

test("a path begins below the organization", () => {
  expect(refusalOf({ group: "acme/platform/registry" })).toBe(
    'there is no group "acme/platform/registry"; a path begins below the organization: platform/registry',
  );
  expect(refusalOf({ group: "acme" })).toBe('there is no group "acme"; / is the organization itself');
});

test("an empty group is refused: it is no way to write the organization", () => {
  expect(refusalOf({ group: "" })).toBe("a group is a uid or a path, and this is empty; / is the organization itself");
});

test("an ambiguous name lists its uids", () => {
  const { graph, tools } = organization();
  const second = addIdentity(graph, uidIn(tools, 18), "release", tools, MATCH);
  expect(refusalOf({ identity: "release" }, { graph, notVisible: [] })).toBe(
    `2 identities have the name "release"; give a uid:\n  ${own.release} in platform\n  ${second} in tools`,
  );
});

test("of several organizations, a path that several have needs its organization", () => {
  const { graph } = organization();
  const other = addGroup(graph, "f".repeat(40), "zenith", null);
  const tools = addGroup(graph, uidIn(other, 1), "tools", other);
  bind(graph, tools, own.release, own.viewer);
  const both = { graph, notVisible: [] };
  expect(answerRows({ group: "platform" }, both)).toHaveLength(2);
  expect(refusalOf({ group: "tools" }, both)).toBe(
    `2 groups have the path "tools"; give the path with its organization, such as "tools of acme", or a uid:\n  ${own.tools} tools of acme\n  ${tools} tools of zenith`,
  );
  expect(answerRows({ group: "tools of zenith" }, both)).toEqual([
    "release tools groups.list by viewer",
    "release tools repo.list by viewer",
  ]);
  expect(refusalOf({ group: "/" }, both)).toBe(
    `2 groups have the path "/"; give the path with its organization, such as "/ of acme", or a uid:\n  ${ROOT} / of acme\n  ${other} / of zenith`,
  );
  expect(answerRows({ group: "/ of acme" }, both)).toHaveLength(2);
  expect(answerRows({ group: "/ of zenith" }, both)).toEqual([]);
  expect(refusalOf({ group: "acme/platform" }, both)).toContain("a path begins below the organization: platform");
});

test("a name that may be hidden is not reported as absent without saying so", () => {
  const notVisible = [{ kind: "identity" as const, group: ROOT, message: "identities of this group cannot be listed" }];
  expect(refusalOf({ identity: "deploy" }, { graph: own.graph, notVisible })).toBe(
    'there is no identity "deploy"; you cannot list all groups and identities, so it may be among the others',
  );
});

test("a binding whose role cannot be read is unknown, not without access", () => {
  const { graph, platform, release } = organization();
  const hidden = addRole(graph, "hidden", [], platform);
  bind(graph, platform, release, hidden);
  const notVisible = [{ kind: "role" as const, group: platform, message: "roles of this group cannot be listed" }];
  const rolesNotRead = (hides: Live["notVisible"], question: QuestionText) =>
    answerOf({ graph, notVisible: hides }, question).held.flatMap(({ role, capabilities }) =>
      capabilities ? [] : role,
    );
  expect(rolesNotRead(notVisible, { identity: "release", capability: "tag.create" })).toEqual([hidden]);
  expect(rolesNotRead([], { identity: "release" })).toEqual([]);
});
