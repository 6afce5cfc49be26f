// The rules about what an identity may do and who owns: each fires on what the change brings, and not on what was there.
import { describe, expect, test } from "vitest";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { allowanceFrom, ruleFrom } from "../../../access/review/rules-file.ts";
import type { Json } from "../../../schema/index.ts";
import { addIdentity, addProvider, addRole, bind, mapGroup, ROOT } from "../graphs.ts";
import { CI, exactly, findings, foundSubjects, NEW, OPTIONS, OWNER, proposal, role, start, TEAM } from "./rules.ts";

describe("gains-owner", () => {
  test("fires on a capability that lets one give access", () => {
    const found = findings(start(), (graph) => bind(graph, TEAM, CI, role("owner")));
    expect(found.filter(({ rule: name }) => name === "gains-owner")).toEqual([
      {
        rule: "gains-owner",
        subject: CI,
        name: "ci",
        message: "can give access to itself and others at team: it gains role_bindings.create",
      },
    ]);
  });
  test.each([
    ["role_bindings.create", true],
    ["role_bindings.update", true],
    ["roles.update", true],
    ["identity.update", true],
    ["identity_providers.create", true],
    ["identity_providers.update", true],
    ["group_invites.create", true],
    ["role_bindings.delete", false],
    ["roles.create", false],
    ["identity.create", false],
    ["groups.update", false],
  ])("on %s: %s", (capability, fires) => {
    const grant = (graph: GraphBuilder) => bind(graph, TEAM, CI, addRole(graph, "own", [capability], TEAM));
    const found = foundSubjects(start(), grant).filter((text) => !text.startsWith("opens-path"));
    expect(found).toEqual(fires ? [`gains-owner ${CI}`] : []);
  });
  test("is silent where the identity has it already, and on other capabilities", () => {
    const before = start();
    bind(before, ROOT, CI, role("owner"));
    expect(foundSubjects(before, (graph) => bind(graph, TEAM, CI, role("owner")))).toEqual([]);
    expect(foundSubjects(start(), (graph) => bind(graph, TEAM, CI, role("publisher")))).toEqual([]);
  });
});

describe("transient-access", () => {
  const rename = (graph: GraphBuilder, id: string, capabilities: string[]): void => {
    const node = graph.roles.get(id);
    if (node) graph.roles.set(id, { ...node, capabilities });
  };
  const messagesOf = (name: string, before: GraphBuilder, change: (graph: GraphBuilder) => void) =>
    findings(before, change).flatMap(({ rule: own, subject, message }) => (own === name ? [[subject, message]] : []));
  const another = { issuer: "https://ci.example.com", subject: "another" };
  /** sso, where people sign in at this issuer */
  const [SSO, ADMINS] = [`${ROOT}/idp`, `${ROOT}/idp/admins`];
  const signInAt = (graph: GraphBuilder, issuer: string): void =>
    void addProvider(graph, SSO, "sso", role("viewer"), { issuer, clientId: "people", groupsClaim: "" });
  const mapAdmins = (graph: GraphBuilder): void => mapGroup(graph, ADMINS, SSO, "admins", role("owner"));
  const during = "while the update runs, or after one that ends early";

  test("fires where a role is widened and its holder loses it", () => {
    const before = start();
    const own = addRole(before, "own", ["repo.list"], TEAM);
    bind(before, TEAM, CI, own);
    const change = (graph: GraphBuilder): void => {
      rename(graph, own, ["repo.list", "role_bindings.create"]);
      for (const { id, role: held } of graph.bindings.values()) if (held === own) graph.bindings.delete(id);
    };
    expect(messagesOf("transient-access", before, change)).toEqual([
      [CI, `may hold role_bindings.create at team ${during}`],
    ]);
    expect(messagesOf("gains-owner", before, change)).toEqual([
      [CI, `can give access to itself and others at team ${during}: it may hold role_bindings.create`],
    ]);
  });

  test("fires where a role is narrowed and gets a new holder", () => {
    const before = start();
    const own = addRole(before, "own", ["repo.list", "repo.create"], TEAM);
    const change = (graph: GraphBuilder): void => {
      rename(graph, own, ["repo.list"]);
      bind(graph, TEAM, CI, own);
    };
    expect(messagesOf("transient-access", before, change)).toEqual([[CI, `may hold repo.create at team ${during}`]]);
  });

  test("fires where another workload is to assume an identity that loses something", () => {
    const before = start();
    bind(before, TEAM, CI, addRole(before, "own", ["repo.create"], TEAM));
    const change = (graph: GraphBuilder): void => {
      addIdentity(graph, CI, "ci", ROOT, another);
      graph.bindings.clear();
    };
    const [[subject, message] = []] = messagesOf("transient-access", before, change);
    expect([subject, message]).toEqual([CI, expect.stringContaining("repo.create")]);
  });

  test("fires where another workload is to assume an identity that gains something: the former one may get there first", () => {
    const before = start();
    const change = (graph: GraphBuilder): void => {
      addIdentity(graph, CI, "ci", ROOT, another);
      bind(graph, TEAM, CI, addRole(graph, "own", ["role_bindings.create"], TEAM));
    };
    expect(messagesOf("transient-access", before, change)).toEqual([
      [CI, `who can assume it before the change may hold role_bindings.create at team ${during}`],
    ]);
  });

  test("is silent about the former workload where it is one of the new ones", () => {
    const before = start();
    const [issuer, wide] = ["https://ci.example.com", "repo:acme/.*"];
    addIdentity(before, CI, "ci", ROOT, { issuer, subject: "repo:acme/a" });
    const own = addRole(before, "own", ["repo.create"], TEAM);
    const open = (relationship: Record<string, unknown>) => (graph: GraphBuilder) => {
      addIdentity(graph, CI, "ci", ROOT, relationship);
      bind(graph, TEAM, CI, own);
    };
    expect(messagesOf("transient-access", before, open({ issuer, subjectPattern: wide }))).toEqual([]);
    for (const narrow of [
      { issuer, subjectPattern: "repo:acme/b.*" },
      { issuer, subjectPattern: wide, claims: { ref: "main" } },
      { issuer, subjectPattern: wide, audience: "another" },
      { issuer: "https://other.example", subjectPattern: wide },
    ])
      expect(messagesOf("transient-access", before, open(narrow)), JSON.stringify(narrow)).toHaveLength(1);
  });

  test.each([
    ["loses its role", true, expect.any(String)],
    ["gains a role", false, "external group admins of sso"],
  ])("fires for people who sign in elsewhere, where an external group %s", (_, hadRole, subject) => {
    const before = start();
    signInAt(before, "https://people.example");
    if (hadRole) mapAdmins(before);
    const change = (graph: GraphBuilder): void => {
      signInAt(graph, "https://others.example");
      if (hadRole) graph.externalGroups.clear();
      else mapAdmins(graph);
    };
    expect(messagesOf("transient-access", before, change)).toEqual([
      [subject, expect.stringContaining("role_bindings.create")],
    ]);
  });

  test("is silent where pairs come, go and move", () => {
    const before = start();
    bind(before, TEAM, CI, role("viewer"));
    const move = (graph: GraphBuilder): void => {
      graph.bindings.clear();
      bind(graph, TEAM, CI, role("publisher"));
      bind(graph, ROOT, CI, role("viewer"));
    };
    expect(messagesOf("transient-access", before, move)).toEqual([]);
  });
});

describe("opens-path", () => {
  const found = (before: GraphBuilder, change: (graph: GraphBuilder) => void) =>
    findings(before, change).filter(({ rule: name }) => name === "opens-path");
  const addAdmin = (graph: GraphBuilder): void => {
    const admin = addRole(graph, "admin", ["identity.update"], ROOT);
    bind(graph, ROOT, addIdentity(graph, NEW, "next", ROOT, exactly), admin);
  };
  const trusting = (): GraphBuilder => {
    const graph = start();
    const other = "d".repeat(40);
    graph.groups.set(other, { id: other, uid: other, name: "partner", parent: null });
    bind(graph, other, CI, addRole(graph, "pusher", ["tag.create"], other));
    return graph;
  };

  test("fires on an identity that may change one that another organization trusts, and says by which requests", () => {
    const change = (graph: GraphBuilder): void => {
      addAdmin(graph);
      for (const { id, identity, group } of graph.bindings.values())
        if (identity === CI && group === TEAM) graph.bindings.delete(id);
    };
    expect(found(trusting(), change)).toEqual([
      {
        rule: "opens-path",
        subject: "next",
        name: "next",
        message: expect.stringContaining(
          "could come to hold tag.create at / (strict): next may change identity ci, and lets the workload assume it; the workload assumes identity ci",
        ),
        list: {
          lead: "could come to hold tag.create at / (strict):",
          items: [
            "next may change identity ci, and lets the workload assume it",
            "the workload assumes identity ci",
            "2 more of its paths open",
          ],
        },
      },
    ]);
  });

  test("is silent on a path that was there, and on access that leads to nothing", () => {
    const before = trusting();
    addAdmin(before);
    expect(found(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    expect(found(start(), (graph) => bind(graph, TEAM, CI, role("publisher")))).toEqual([]);
  });

  test("an excused finding stays, and the review has the paths that open and close", () => {
    const change = (graph: GraphBuilder) => bind(graph, TEAM, CI, role("owner"));
    const verdict = { deny: ["opens-path" as const], allow: [{ rule: "opens-path" as const, subject: CI }] };
    const { report } = reviewOf(proposal(start(), change), { ...OPTIONS, ...verdict });
    expect(report.findings.filter(({ rule }) => rule === "opens-path")).toMatchObject([{ subject: CI, allowed: true }]);
    expect(report.opens).toMatchObject([{ from: { identity: CI, name: "ci" }, assumes: "cautious" }]);
    expect(report.closes).toEqual([]);
    const given = start();
    change(given);
    const end = (graph: GraphBuilder) => void graph.bindings.clear();
    expect(reviewOf(proposal(given, end), OPTIONS).report.closes).toContainEqual(
      expect.objectContaining({ from: { identity: CI, name: "ci" } }),
    );
  });
});

describe("root-binding", () => {
  test("fires on a role on an organization, also of an identity that does not exist yet", () => {
    expect(foundSubjects(start(), (graph) => bind(graph, ROOT, CI, role("viewer")))).toEqual([`root-binding ${CI}`]);
    const create = (graph: GraphBuilder) =>
      bind(graph, ROOT, addIdentity(graph, NEW, "next", ROOT, exactly), role("viewer"));
    expect(foundSubjects(start(), create)).toEqual(["root-binding next"]);
  });
  test("is silent on a group below, and on a new binding of the same pair", () => {
    expect(foundSubjects(start(), (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const replace = (graph: GraphBuilder) => {
      graph.bindings.clear();
      graph.bindings.set(NEW, { id: NEW, uid: null, group: ROOT, identity: OWNER, role: role("owner") });
    };
    expect(foundSubjects(start(), replace)).toEqual([]);
  });
});

describe("last-owner-goes", () => {
  test("fires when the last binding of owner on the organization goes, or its identity", () => {
    expect(foundSubjects(start(), (graph) => graph.bindings.clear())).toEqual([`last-owner-goes ${ROOT}`]);
    expect(foundSubjects(start(), (graph) => void graph.identities.delete(OWNER))).toContain(`last-owner-goes ${ROOT}`);
  });
  test("is silent when another owner is left, and when there was none", () => {
    const before = start();
    bind(before, ROOT, CI, role("owner"));
    const drop = (graph: GraphBuilder) => void graph.bindings.delete(`${ROOT}/b ${OWNER} ${role("owner")}`);
    expect(foundSubjects(before, drop)).toEqual([]);
    const none = start();
    none.bindings.clear();
    expect(foundSubjects(none, () => {})).toEqual([]);
  });
  test("is silent on an organization that goes itself", () => {
    const go = (graph: GraphBuilder) => {
      graph.groups.delete(ROOT);
      graph.bindings.clear();
    };
    expect(foundSubjects(start(), go)).toEqual([]);
  });
});

describe("identity-replaced", () => {
  test("fires when an identity goes and one of its name comes, also in another group", () => {
    const move = (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, NEW, "ci", TEAM, exactly);
    };
    expect(findings(start(), move)).toEqual([
      {
        rule: "identity-replaced",
        subject: CI,
        name: "ci",
        message:
          'is replaced by one with another uid, in team instead of /; workflows that name its uid stop working: a workload whose token has issuer "https://token.actions.githubusercontent.com" and subject "repo:acme/images:ref:refs/heads/main"',
      },
    ]);
  });
  test("fires when the engine or the same workloads replace it under another name, and is silent on one that only goes", () => {
    const renameTo = (match: Json) => (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, NEW, "other", ROOT, match);
    };
    const rename = renameTo({ ...exactly, subject: "repo:acme/charts:ref:refs/heads/main" });
    expect(foundSubjects(start(), rename)).toEqual([]);
    expect(foundSubjects(start(), renameTo(exactly))).toEqual([`identity-replaced ${CI}`]);
    expect(foundSubjects(start(), rename, { replaced: new Map([[CI, NEW]]) })).toEqual([`identity-replaced ${CI}`]);
    expect(foundSubjects(start(), (graph) => void graph.identities.delete(CI))).toEqual([]);
  });
});

describe("regrants-removed", () => {
  test("fires on what was removed by hand and is created again", () => {
    const grant = (graph: GraphBuilder) =>
      void graph.bindings.set(NEW, { id: NEW, uid: null, group: TEAM, identity: CI, role: role("viewer") });
    expect(foundSubjects(start(), grant)).toEqual([]);
    expect(findings(start(), grant, { restored: [NEW] })).toEqual([
      {
        rule: "regrants-removed",
        subject: CI,
        name: "ci",
        message: "gets viewer at team again, which was removed by hand",
      },
    ]);
  });
});

describe("--deny and --allow", () => {
  const judgedWith = (deny: string, ...allow: string[]) =>
    reviewOf(
      proposal(start(), (graph) => bind(graph, TEAM, CI, role("owner"))),
      { ...OPTIONS, deny: [ruleFrom(deny) as never], allow: allow.map((one) => allowanceFrom(one) as never) },
    )
      .report.findings.filter(({ rule }) => rule !== "opens-path")
      .map(({ allowed, denied }) => ({ allowed, denied }));

  test("a finding of a denied rule is marked, and an allowed one stays, marked, by uid or name", () => {
    expect(judgedWith("gains-owner")).toEqual([{ denied: true }]);
    expect(judgedWith("gains-owner", "gains-owner@ci")).toEqual([{ allowed: true }]);
    expect(judgedWith("gains-owner", `gains-owner@${CI}`)).toEqual([{ allowed: true }]);
    expect(judgedWith("gains-owner", "root-binding@ci", "gains-owner@other")).toEqual([{ denied: true }]);
    expect(judgedWith("root-binding")).toEqual([{}]);
  });
  test("a text that names no rule is refused with the nearest", () => {
    expect(ruleFrom("gain-owner")).toEqual({ problem: 'there is no rule "gain-owner"; did you mean gains-owner?' });
    expect(allowanceFrom("gains-owner")).toEqual({
      problem: '"gains-owner" is not RULE@SUBJECT, such as gains-owner@platform/release',
    });
  });
});
