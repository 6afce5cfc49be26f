// Access of those who are no identities: people of an identity provider, members of its external groups, invites, static keys.
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph, type SignIn } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { PeopleReview, Report } from "../../../access/review/report.ts";
import type { Allowance } from "../../../access/review/rules-file.ts";
import {
  addGroup,
  addIdentity,
  addInvite,
  addProvider,
  addRole,
  bind,
  mapGroup,
  OKTA,
  ROOT,
  uidIn,
} from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

const TEAM = uidIn(ROOT, 1);
const SSO = uidIn(ROOT, 2);
const INVITE = uidIn(TEAM, 3);
const DEPLOY = uidIn(TEAM, 4);
const NOW_MS = Date.parse("2026-01-01T00:00:00Z");
const roles = { viewer: "", owner: "" };

/** An organization where people sign in by `acme-sso` and are viewers. */
const start = (): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  addGroup(graph, TEAM, "team", ROOT);
  roles.viewer = addRole(graph, "viewer", ["groups.list"]);
  roles.owner = addRole(graph, "owner", ["groups.list", "role_bindings.create"]);
  addSso(graph, roles.viewer);
  return graph;
};

const addSso = (graph: GraphBuilder, defaultRole: string, signIn?: SignIn | null): void =>
  void addProvider(graph, SSO, "acme-sso", defaultRole, signIn);
const addExternalGroup = (graph: GraphBuilder, externalGroupId: string, role: string): void =>
  mapGroup(graph, `${SSO}/${externalGroupId}`, SSO, externalGroupId, role);

const addKeys = (graph: GraphBuilder, issuerKeys: string, expirationTime: string): void => {
  const staticKeys = { issuer: "https://keys.example", subject: "deploy", issuerKeys, expirationTime };
  const relationship = { staticKeys };
  graph.identities.set(DEPLOY, { id: DEPLOY, uid: DEPLOY, name: "deploy", group: TEAM, relationship });
};

const report = (
  before: GraphBuilder,
  change: (graph: GraphBuilder) => void,
  allow: readonly Allowance[] = [],
): Report => {
  const after = newGraph(before);
  change(after);
  return reviewOf(proposalBetween(before, after), { notVisible: [], nowMs: NOW_MS, deny: [], allow }).report;
};

/** `people of acme-sso: +groups.list at /` */
const rowsOf = (people: readonly PeopleReview[]): string[] =>
  people.map(({ subject, gains, losses }) => {
    const rows = [...gains.map((row) => ({ ...row, sign: "+" })), ...losses.map((row) => ({ ...row, sign: "-" }))];
    return `${subject}: ${rows.map(({ sign, capability, groupName }) => `${sign}${capability} at ${groupName}`).join(", ")}`;
  });

const findingsOf = ({ findings }: Report): string[] => findings.map(({ rule, subject }) => `${rule} ${subject}`);

describe("an identity provider", () => {
  test("that is new gives its default role to its people, and its issuer is new", () => {
    const before = start();
    before.providers.clear();
    const made = report(before, (graph) => addSso(graph, roles.viewer));
    expect(rowsOf(made.people)).toEqual(["people of acme-sso: +groups.list at /"]);
    expect(made.people[0]).toMatchObject({ uid: SSO, before: null, groupName: "/" });
    expect(made.identities).toEqual([]);
    expect(findingsOf(made)).toEqual(["new-issuer people of acme-sso", "root-binding people of acme-sso"]);
  });

  test("that stays as it is changes nothing", () => {
    expect(report(start(), () => {})).toMatchObject({ people: [], findings: [] });
  });

  test("with another default role gives its people more, and rules say so", () => {
    const made = report(start(), (graph) => addSso(graph, roles.owner));
    expect(rowsOf(made.people)).toEqual(["people of acme-sso: +role_bindings.create at /"]);
    expect(findingsOf(made)).toEqual(["gains-owner people of acme-sso", "root-binding people of acme-sso"]);
    expect(made.findings[0]?.message).toContain("role_bindings.create");
  });

  test("with another issuer has other people: these gain all that it gives, and the others lose it", () => {
    const issuer = "https://evil.okta.example";
    const before = start();
    addExternalGroup(before, "sre", roles.owner);
    const made = report(before, (graph) => addSso(graph, roles.viewer, { ...OKTA, issuer }));
    expect(rowsOf(made.people)).toEqual([
      "external group sre of acme-sso: +role_bindings.create at /, +groups.list at /, -role_bindings.create at /, -groups.list at /",
      "people of acme-sso: +groups.list at /, -groups.list at /",
    ]);
    expect(made.people[1]?.before).toContain("https://acme.okta.example");
    expect(made.people[1]?.after).toContain(issuer);
    expect(findingsOf(made)).toContain("new-issuer people of acme-sso");
    expect(findingsOf(made)).toContain("gains-owner external group sre of acme-sso");
    const message = `sign in at an issuer that no identity provider has now: ${issuer}`;
    expect(made.findings).toContainEqual(expect.objectContaining({ rule: "new-issuer", message }));
  });

  test("whose issuer cannot be known counts as one with other people", () => {
    const made = report(start(), (graph) => addSso(graph, roles.viewer, null));
    expect(rowsOf(made.people)).toEqual(["people of acme-sso: +groups.list at /, -groups.list at /"]);
  });

  test("with another client or claim changes who its people are", () => {
    const made = report(start(), (graph) => addSso(graph, roles.viewer, { ...OKTA, clientId: "other" }));
    expect(made.people).toMatchObject([{ subject: "people of acme-sso", gains: [], losses: [] }]);
    expect(made.people[0]?.after).toContain('as client "other"');
  });

  test("that goes takes the access of its external groups with it", () => {
    const before = start();
    addExternalGroup(before, "sre", roles.owner);
    const made = report(before, (graph) => {
      graph.providers.clear();
      graph.externalGroups.clear();
    });
    expect(rowsOf(made.people)).toEqual([
      "external group sre of acme-sso: -role_bindings.create at /, -groups.list at /",
      "people of acme-sso: -groups.list at /",
    ]);
  });

  test("whose name another one has is shown with its uid", () => {
    const before = start();
    const id = uidIn(TEAM, 9);
    before.providers.set(id, { id, uid: id, name: "acme-sso", group: TEAM, signIn: OKTA, defaultRole: roles.viewer });
    const made = report(before, (graph) => addSso(graph, roles.owner));
    expect(made.people.map(({ subject }) => subject)).toEqual([`people of acme-sso (${SSO})`]);
  });
});

test("an external group gains what each of its roles grants, once", () => {
  const made = report(start(), (graph) => {
    addExternalGroup(graph, "Platform-SRE", roles.owner);
    mapGroup(graph, `${SSO}/another`, SSO, "Platform-SRE", roles.viewer);
  });
  expect(rowsOf(made.people)).toEqual([
    "external group Platform-SRE of acme-sso: +role_bindings.create at /, +groups.list at /",
  ]);
  expect(findingsOf(made)).toContain("gains-owner external group Platform-SRE of acme-sso");
});

describe("an invite", () => {
  const withInvite = (expirationTime: string) =>
    report(start(), (graph) => addInvite(graph, INVITE, "ab12", TEAM, roles.owner, { expirationTime }));

  test("that is open gives its role to those who accept it, and one that has ended nothing", () => {
    const made = withInvite("2026-02-01T00:00:00Z");
    expect(rowsOf(made.people)).toEqual(["invite ab12: +role_bindings.create at team, +groups.list at team"]);
    expect(made.people[0]?.after).toBe("anyone who has the code, once, until 2026-02-01T00:00:00Z");
    expect(findingsOf(made)).toEqual(["gains-owner invite ab12"]);
    expect(withInvite("2025-12-31T00:00:00Z").people).toEqual([]);
  });
});

describe("static keys", () => {
  const withDeploy = (expirationTime = "2026-06-01T00:00:00Z"): GraphBuilder => {
    const graph = start();
    addKeys(graph, "old", expirationTime);
    bind(graph, TEAM, DEPLOY, roles.owner);
    return graph;
  };
  const ALL = "role_bindings.create at team, +groups.list at team";

  test("that are other ones give their holder what the identity has, and take it from the holder of the old ones", () => {
    const made = report(withDeploy(), (graph) => addKeys(graph, "new", "2026-06-01T00:00:00Z"));
    expect(rowsOf(made.people)).toEqual([
      `static keys of deploy: +${ALL}, -role_bindings.create at team, -groups.list at team`,
    ]);
    expect(findingsOf(made)).toContain("gains-owner static keys of deploy");
  });

  test("that had ended begin when they last longer", () => {
    const made = report(withDeploy("2025-12-31T00:00:00Z"), (graph) => addKeys(graph, "old", "2026-06-01T00:00:00Z"));
    expect(rowsOf(made.people)).toEqual([`static keys of deploy: +${ALL}`]);
  });

  test("that last longer or shorter, and have not ended, are the same keys", () => {
    expect(report(withDeploy(), (graph) => addKeys(graph, "old", "2026-07-01T00:00:00Z")).people).toEqual([]);
  });

  test("end when the identity is assumed in another way", () => {
    const made = report(withDeploy(), (graph) => {
      addIdentity(graph, DEPLOY, "deploy", TEAM, { issuer: "https://issuer.example", subject: "deploy" });
    });
    expect(rowsOf(made.people)).toEqual(["static keys of deploy: -role_bindings.create at team, -groups.list at team"]);
  });

  test("of a new identity are what the identity gains", () => {
    const made = report(start(), (graph) => {
      addKeys(graph, "new", "2026-06-01T00:00:00Z");
      bind(graph, TEAM, DEPLOY, roles.owner);
    });
    expect(made.people).toEqual([]);
    expect(made.identities.map(({ name, gains }) => `${name} ${gains.length}`)).toEqual(["deploy 2"]);
  });
});

describe("an allowance", () => {
  const findings = (before: GraphBuilder, change: (graph: GraphBuilder) => void, subject: string) =>
    report(before, change, [{ rule: "gains-owner", subject }]).findings.filter(({ rule }) => rule === "gains-owner");

  test("excuses people who exist, by the name of the subject", () => {
    const change = (graph: GraphBuilder) => addSso(graph, roles.owner);
    expect(findings(start(), change, "people of acme-sso")).toMatchObject([{ allowed: true }]);
    expect(findings(start(), change, "people of other")).toMatchObject([{ rule: "gains-owner" }]);
    expect(findings(start(), change, "people of other")[0]).not.toHaveProperty("allowed");
    const group = (graph: GraphBuilder) => addExternalGroup(graph, "sre", roles.owner);
    expect(findings(start(), group, "external group sre of acme-sso")).toMatchObject([{ allowed: true }]);
  });

  test("does not excuse other people of the same name", () => {
    const change = (graph: GraphBuilder) =>
      addSso(graph, roles.owner, { ...OKTA, issuer: "https://evil.okta.example" });
    const [found] = findings(start(), change, "people of acme-sso");
    expect(found).not.toHaveProperty("allowed");
    expect(found?.message).toContain("gains-owner@people of acme-sso does not excuse it: they are new");
  });
});

test("a role that cannot be read is not known, and named with the people who get it", () => {
  const made = report(start(), (graph) => addSso(graph, uidIn(ROOT, 99)));
  expect(made.unknown.map(({ message }) => message)).toContain(
    `the capabilities of role ${uidIn(ROOT, 99)} cannot be read, so what people of acme-sso gains with it at / is not known`,
  );
});
