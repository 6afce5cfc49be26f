// What a file of rules requires of an organization after the change.
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Required } from "../../../access/review/rules-file.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

const TEAM = uidIn(ROOT, 1);
const BOSS = uidIn(ROOT, 16);
const APPLY = uidIn(TEAM, 17);
const CLAIMS = { issuer: "https://a.example.com", subject: "x" };

const start = (): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  addGroup(graph, TEAM, "team", ROOT);
  addIdentity(graph, BOSS, "boss", ROOT, CLAIMS);
  addIdentity(graph, APPLY, "apply", TEAM, CLAIMS);
  addRole(graph, "owner", ["role_bindings.create"]);
  bind(graph, ROOT, BOSS, OWNER);
  bind(graph, ROOT, APPLY, OWNER);
  return graph;
};
const OWNER = addRole(newGraph(), "owner", []);

const found = (
  required: Required,
  change: (graph: GraphBuilder) => void = () => undefined,
  hidden: readonly string[] = [],
  before = start(),
): string[] => {
  const after = newGraph(before);
  change(after);
  const notVisible = hidden.map((group) => ({ kind: "roleBinding" as const, group, message: "hidden" }));
  const { report } = reviewOf(proposalBetween(before, after), { notVisible, nowMs: 0, deny: [], allow: [], required });
  return report.findings
    .filter(({ rule }) => rule === "required-owners" || rule === "may-own")
    .map(({ rule, subject, message, denied }) => `${denied ? "denied " : ""}${rule} ${subject}: ${message}`);
};

const unbind = (identity: string) => (graph: GraphBuilder) => {
  for (const { id, identity: held } of graph.bindings.values()) if (held === identity) graph.bindings.delete(id);
};

describe("owners", () => {
  test("is kept, whatever else changes", () => {
    expect(found({ owners: 2 })).toEqual([]);
  });

  test("is broken where fewer are left, and fails the review although no rule is denied", () => {
    expect(found({ owners: 2 }, unbind(APPLY))).toEqual([
      `denied required-owners ${ROOT}: 1 identity has the role owner on acme itself after this change; 2 must`,
    ]);
  });

  test("counts an owner of the organization itself alone, and each identity once", () => {
    const lower = (graph: GraphBuilder) => {
      unbind(APPLY)(graph);
      bind(graph, TEAM, APPLY, OWNER);
      graph.bindings.set("twice", { id: "twice", uid: null, group: ROOT, identity: BOSS, role: OWNER });
    };
    expect(found({ owners: 2 }, lower)).toHaveLength(1);
  });

  test("does not count a custom role that is called owner, nor an identity that is gone", () => {
    const rename = (graph: GraphBuilder) => {
      unbind(APPLY)(graph);
      bind(graph, ROOT, APPLY, addRole(graph, "owner", ["role_bindings.create"], ROOT));
      graph.bindings.set("gone", { id: "gone", uid: null, group: ROOT, identity: uidIn(ROOT, 99), role: OWNER });
    };
    expect(found({ owners: 2 }, rename)).toHaveLength(1);
  });

  test("holds for a state that the change did not make", () => {
    const before = start();
    unbind(APPLY)(before);
    expect(found({ owners: 2 }, undefined, [], before)).toHaveLength(1);
  });

  test("is not taken for kept where the bindings cannot be listed", () => {
    expect(found({ owners: 2 }, unbind(APPLY), [ROOT])[0]).toContain(
      "2 must; you cannot list its role bindings, so there may be others",
    );
  });
});

describe("may-own", () => {
  test("is kept by identities by uid and by path", () => {
    expect(found({ mayOwn: [BOSS, "team/apply"] })).toEqual([]);
    expect(found({ mayOwn: ["/boss", "team/apply"] })).toEqual([]);
  });

  test("names each owner that it does not list, also one that was there", () => {
    expect(found({ mayOwn: ["/boss"] })).toEqual([
      `denied may-own ${APPLY}: has the role owner on acme itself, and may-own does not list it`,
    ]);
  });

  test("names a new identity, also at a path that it lists", () => {
    const create = (graph: GraphBuilder) => {
      unbind(APPLY)(graph);
      addIdentity(graph, "urn:next", "next", TEAM, CLAIMS);
      bind(graph, ROOT, "urn:next", OWNER);
    };
    expect(found({ mayOwn: ["/boss", "team/next"] }, create)).toEqual([
      "denied may-own next: gets the role owner on acme itself, and may-own does not list it; this identity is new, so no path of may-own names it yet",
    ]);
  });

  test("is not taken for kept where the bindings cannot be listed", () => {
    expect(found({ mayOwn: [BOSS, APPLY] }, undefined, [ROOT])).toEqual([
      `denied may-own ${ROOT}: who has the role owner on acme is not visible: you cannot list its role bindings`,
    ]);
  });

  test("takes paths of a new organization, in which nothing exists", () => {
    const create = (graph: GraphBuilder) => {
      addGroup(graph, "urn:org", "new", null);
      addIdentity(graph, "urn:first", "first", "urn:org", CLAIMS);
      bind(graph, "urn:org", "urn:first", OWNER);
    };
    expect(found({ owners: 1, mayOwn: ["/first"] }, create)).toEqual([]);
    expect(found({ mayOwn: ["/boss"] }, create)).toHaveLength(1);
  });
});
