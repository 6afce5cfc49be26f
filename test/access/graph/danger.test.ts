// The one order of a review: the worst first, in the report itself and so in every format.
import { describe, expect, test } from "vitest";
import { findingsInOrder, rowsInOrder, subjectsInOrder } from "../../../access/graph/danger.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import type { Finding, IdentityReview, PeopleReview, Row } from "../../../access/review/report.ts";
import { reviewBetween } from "../format/reviews.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const row = (capability: string, groupName = "team"): Row => ({
  group: groupName,
  groupName,
  capability,
  role: "some",
});

const identity = (name: string, parts: Partial<IdentityReview> = {}): IdentityReview => ({
  uid: name,
  name,
  groupName: "team",
  change: "none",
  gains: [],
  losses: [],
  assumableBefore: null,
  assumableAfter: null,
  before: null,
  after: null,
  ...parts,
});

const finding = (subject: string, parts: Partial<Finding> = {}): Finding => ({
  rule: "root-binding",
  subject,
  name: subject,
  message: "m",
  ...parts,
});

describe("rows", () => {
  test("give access first, then change things, then read; a broader group first, whatever its name", () => {
    const rows = [
      row("repo.list", "/"),
      row("repo.create", "production/a"),
      row("repo.create", "staging"),
      row("role_bindings.create", "a/b/c"),
      row("repo.get", "/"),
      row("repo.create", "/"),
    ];
    expect(rowsInOrder(rows).map(({ capability, groupName }) => `${capability} ${groupName}`)).toEqual([
      "role_bindings.create a/b/c",
      "repo.create /",
      "repo.create staging",
      "repo.create production/a",
      "repo.get /",
      "repo.list /",
    ]);
  });
});

describe("identities", () => {
  test("come by their findings, by who can assume them, by what they gain, and last by what they lose", () => {
    const reassumed = { change: "updated" as const, assumableBefore: { a: 1 }, assumableAfter: { a: 2 } };
    const identities = [
      identity("a-loses-owner", { losses: [row("role_bindings.create")] }),
      identity("b-reads", { gains: [row("repo.list")] }),
      identity("c-writes", { gains: [row("repo.list"), row("repo.create")] }),
      identity("d-owner", { gains: [row("role_bindings.create")] }),
      identity("e-reassumed", reassumed),
      identity("f-found", { gains: [row("repo.list")] }),
      identity("g-denied", { losses: [row("repo.list")] }),
      identity("h-excused", { gains: [row("repo.list")] }),
    ];
    const findings = [
      finding("f-found"),
      finding("g-denied", { denied: true }),
      finding("h-excused", { allowed: true }),
    ];
    expect(subjectsInOrder(identities, findings).map(({ name }) => name)).toEqual([
      "g-denied",
      "f-found",
      "e-reassumed",
      "d-owner",
      "c-writes",
      "b-reads",
      "h-excused",
      "a-loses-owner",
    ]);
  });

  test("that are new are not identities whose workloads change", () => {
    const created = identity("a-new", { change: "created", assumableAfter: { a: 1 }, gains: [row("repo.list")] });
    const other = identity("b", { change: "updated", assumableBefore: { a: 1 }, assumableAfter: null });
    expect(subjectsInOrder([created, other], []).map(({ name }) => name)).toEqual(["b", "a-new"]);
  });
});

test("findings that are denied come first, and those that are allowed last", () => {
  const findings = [finding("a", { allowed: true }), finding("b"), finding("c", { denied: true })];
  expect(findingsInOrder(findings, []).map(({ subject }) => subject)).toEqual(["c", "b", "a"]);
});

test("the report itself has this order", () => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const team = addGroup(before, uidIn(ROOT, 1), "team", ROOT);
  const [reader, editor] = [addRole(before, "a-reader", ["repo.list"]), addRole(before, "editor", ["repo.create"])];
  const match = { issuer: "https://issuer.example", subject: "s" };
  const [one, other] = [
    addIdentity(before, uidIn(ROOT, 16), "alpha", ROOT, match),
    addIdentity(before, uidIn(ROOT, 17), "zulu", ROOT, match),
  ];
  const after = newGraph(before);
  bind(after, team, one, reader);
  bind(after, team, other, reader);
  bind(after, ROOT, other, editor);
  const { identities } = reviewBetween(before, after).report;
  expect(identities.map(({ name, gains }) => [name, gains.map(({ capability }) => capability)])).toEqual([
    ["zulu", ["repo.create", "repo.list"]],
    ["alpha", ["repo.list"]],
  ]);
});

describe("people, external groups and keys", () => {
  const people = (subject: string, parts: Partial<PeopleReview> = {}): PeopleReview => ({
    ...{ subject, uid: null, groupName: "/", gains: [], losses: [], before: "them", after: "them" },
    ...parts,
  });

  test("stand among identities: who may own first, and the organization before what is below", () => {
    const subjects = [
      identity("a-writes", { gains: [row("repo.create", "team")] }),
      people("b-group-owns", { gains: [row("role_bindings.create", "/")] }),
      identity("c-owns-team", { gains: [row("role_bindings.create", "team")] }),
      people("d-people-write", { gains: [row("repo.create", "/")] }),
      people("e-invite-reads", { gains: [row("repo.list", "/")] }),
    ];
    const names = subjectsInOrder(subjects, []).map((one) => ("subject" in one ? one.subject : one.name));
    expect(names).toEqual(["b-group-owns", "c-owns-team", "d-people-write", "a-writes", "e-invite-reads"]);
  });
});

test("who can be assumed by others ranks by what it holds, and as the worst where that is not known", () => {
  const reassumed = { change: "updated" as const, assumableBefore: { a: 1 }, assumableAfter: { a: 2 } };
  const subjects = [
    identity("a-reads", { ...reassumed, effect: "read" }),
    identity("b-writes", { gains: [row("repo.create")] }),
    identity("c-owns", { gains: [row("role_bindings.create")] }),
    identity("d-not-known", reassumed),
  ];
  expect(subjectsInOrder(subjects, []).map(({ name }) => name)).toEqual([
    "d-not-known",
    "c-owns",
    "b-writes",
    "a-reads",
  ]);
});

test("findings come by what their subjects gain, and those about no subject first", () => {
  const subjects = [
    identity("a", { gains: [row("repo.list")] }),
    identity("b", { gains: [row("role_bindings.create", "team")] }),
  ];
  const findings = [finding("a"), finding("b"), finding("review.yaml", { rule: "rules-changed" })];
  expect(findingsInOrder(findings, subjects).map(({ subject }) => subject)).toEqual(["review.yaml", "b", "a"]);
  // What may own, or is possible and not known, is the worst, whatever is gained for certain.
  for (const parts of [{ rule: "gains-owner" as const }, { unknown: true as const }]) {
    const worse = [finding("b", { rule: "new-issuer" }), finding("c", parts)];
    const certain = [identity("b", { gains: [row("repo.create", "/")] }), identity("c", { gains: [row("repo.list")] })];
    expect(findingsInOrder(worse, certain).map(({ subject }) => subject)).toEqual(["c", "b"]);
    expect(subjectsInOrder(certain, worse).map(({ name }) => name)).toEqual(["c", "b"]);
  }
});
