// A policy against what the caller can see of an organization.
import { expect, test } from "vitest";
import { type AccessGraph, type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { NotVisible } from "../../../access/graph/live.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { proposalFromPolicy } from "../../../access/review/policy.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const TEAM = uidIn(ROOT, 1);
const CI = uidIn(ROOT, 2);

const start = (): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "dev", null);
  addGroup(graph, TEAM, "team", ROOT);
  addIdentity(graph, CI, "ci", ROOT, { issuer: "https://a.example.com", subject: "ci" });
  return graph;
};

const rowsOf = (live: AccessGraph, wanted: AccessGraph, ...hidden: [NotVisible["kind"], string][]): string[] => {
  const notVisible = hidden.map(([kind, group]) => ({ kind, group, message: "hidden" }));
  const { report } = reviewOf(proposalFromPolicy(wanted, { graph: live, notVisible }), {
    notVisible,
    nowMs: 0,
    deny: [],
    allow: [],
  });
  return report.identities.flatMap(({ name, gains, losses }) => [
    ...gains.map(({ groupName, capability }) => `${name} + ${groupName} ${capability}`),
    ...losses.map(({ groupName, capability }) => `${name} - ${groupName} ${capability}`),
  ]);
};

test("what the policy adds is a gain, and what it lacks a loss", () => {
  const [live, wanted] = [start(), start()];
  for (const graph of [live, wanted]) addRole(graph, "viewer", ["repo.list"]);
  const [viewer] = [...live.roles.keys()];
  bind(live, TEAM, CI, viewer as string);
  bind(wanted, ROOT, CI, viewer as string);
  expect(rowsOf(live, wanted)).toEqual(["ci + / repo.list"]);
  expect(rowsOf(wanted, live)).toEqual(["ci - / repo.list"]);
});

test("an organization that the API does not show is said to be new: its name may be misspelt", () => {
  const wanted = start();
  wanted.groups.set("policy:group:/", { id: "policy:group:/", uid: null, name: "deev", parent: null });
  expect(proposalFromPolicy(wanted, { graph: start(), notVisible: [] }).unknown).toEqual([
    {
      subject: "deev",
      message:
        "the API shows no organization deev, so this review takes all of the policy for new, and nothing for removed; it shows dev",
    },
  ]);
  expect(proposalFromPolicy(start(), { graph: start(), notVisible: [] }).unknown).toEqual([]);
});

test("a binding in a group whose bindings cannot be listed is neither gain nor loss", () => {
  const [live, wanted] = [start(), start()];
  for (const graph of [live, wanted]) addRole(graph, "viewer", ["repo.list"]);
  bind(wanted, TEAM, CI, [...live.roles.keys()][0] as string);
  expect(rowsOf(live, wanted, ["roleBinding", TEAM])).toEqual([]);
  expect(rowsOf(live, wanted)).toEqual(["ci + team repo.list"]);
});

test("a group that cannot be listed is not removed, and one of the policy's in its place is not created", () => {
  const [live, wanted] = [start(), start()];
  for (const graph of [live, wanted]) addRole(graph, "viewer", ["repo.list"]);
  const viewer = [...live.roles.keys()][0] as string;
  const hidden = uidIn(TEAM, 7);
  addGroup(live, hidden, hidden, TEAM);
  bind(live, hidden, CI, viewer);
  const planned = addGroup(wanted, "urn:policy:group:team/inner", "inner", TEAM);
  bind(wanted, planned, CI, viewer);
  expect(rowsOf(live, wanted, ["group", TEAM])).toEqual([]);
  expect(rowsOf(live, wanted)).toEqual(["ci + team/inner repo.list", `ci - team/${hidden} repo.list`]);
});

test("an identity in a group whose identities cannot be listed is not new", () => {
  const [live, wanted] = [start(), start()];
  for (const graph of [live, wanted]) addRole(graph, "viewer", ["repo.list"]);
  const id = "urn:policy:identity:next";
  addIdentity(wanted, id, "next", TEAM, { issuer: "https://b.example.com", subjectPattern: ".*" });
  bind(wanted, ROOT, id, [...live.roles.keys()][0] as string);
  expect(rowsOf(live, wanted, ["identity", TEAM])).toEqual([]);
  expect(rowsOf(live, wanted)).toEqual(["next + / repo.list"]);
});

test("an identity that the policy cannot name, because its group is not seen, keeps what it has", () => {
  const [live, wanted] = [start(), start()];
  for (const graph of [live, wanted]) addRole(graph, "viewer", ["repo.list"]);
  const id = `${TEAM}/00000000000000aa`;
  addIdentity(live, id, "named by its binding", TEAM, {});
  bind(live, ROOT, id, [...live.roles.keys()][0] as string);
  expect(rowsOf(live, wanted, ["identity", TEAM])).toEqual([]);
  expect(rowsOf(live, wanted)).toEqual(["named by its binding - / repo.list"]);
});
