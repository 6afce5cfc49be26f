// The one order of a review: the worst first, in the report itself and so in every format.
import { expect, test } from "vitest";
import { findingsInOrder, rowsInOrder, subjectsInOrder } from "../../../access/graph/danger.ts";
import type { Finding, IdentityReview, PeopleReview, Row } from "../../../access/review/report.ts";
import { IDENTITY, reviewBetween } from "../format/reviews.ts";
import { graphOf } from "../graphs.ts";

const row = (capability: string, groupName = "team"): Row => ({ group: groupName, groupName, capability, role: "r" });

const identity = (name: string, parts: Partial<IdentityReview> = {}): IdentityReview => ({
  ...{ ...IDENTITY, uid: name, name, change: "none", gains: [] },
  ...parts,
});
const gaining = (name: string, ...rows: Row[]): IdentityReview => identity(name, { gains: rows });
const people = (subject: string, gained: Row): PeopleReview => ({
  ...{ subject, uid: null, groupName: "/", gains: [gained], losses: [], before: "them", after: "them" },
});
const finding = (subject: string, parts: Partial<Finding> = {}): Finding => ({
  ...{ rule: "root-binding", subject, name: subject, message: "m", ...parts },
});
const reassumed = { change: "updated" as const, assumableBefore: { a: 1 }, assumableAfter: { a: 2 } };

test("rows give access first, then change things, then read; a broader group first, whatever its name", () => {
  const rows = [row("repo.list", "/"), row("repo.create", "production/a"), row("repo.create", "staging")];
  rows.push(row("role_bindings.create", "a/b/c"), row("repo.get", "/"), row("repo.create", "/"));
  expect(rowsInOrder(rows).map(({ capability, groupName }) => `${capability} ${groupName}`)).toEqual([
    "role_bindings.create a/b/c",
    "repo.create /",
    "repo.create staging",
    "repo.create production/a",
    "repo.get /",
    "repo.list /",
  ]);
});

test.each<[what: string, subjects: (IdentityReview | PeopleReview)[], findings: Finding[], names: string[]]>([
  [
    "by their findings, by who can assume them, by what they gain, and last by what they lose",
    [
      identity("a-loses-owner", { losses: [row("role_bindings.create")] }),
      gaining("b-reads", row("repo.list")),
      gaining("c-writes", row("repo.list"), row("repo.create")),
      gaining("d-owner", row("role_bindings.create")),
      identity("e-reassumed", reassumed),
      gaining("f-found", row("repo.list")),
      identity("g-denied", { losses: [row("repo.list")] }),
      gaining("h-excused", row("repo.list")),
    ],
    [finding("f-found"), finding("g-denied", { denied: true }), finding("h-excused", { allowed: true })],
    ["g-denied", "f-found", "e-reassumed", "d-owner", "c-writes", "b-reads", "h-excused", "a-loses-owner"],
  ],
  [
    "and those that are new are not identities whose workloads change",
    [
      identity("a-new", { change: "created", assumableAfter: { a: 1 }, gains: [row("repo.list")] }),
      identity("b", { ...reassumed, assumableAfter: null }),
    ],
    [],
    ["b", "a-new"],
  ],
  [
    "people, external groups and keys among them: who may own first, and the organization before what is below",
    [
      gaining("a-writes", row("repo.create", "team")),
      people("b-group-owns", row("role_bindings.create", "/")),
      gaining("c-owns-team", row("role_bindings.create", "team")),
      people("d-people-write", row("repo.create", "/")),
      people("e-invite-reads", row("repo.list", "/")),
    ],
    [],
    ["b-group-owns", "c-owns-team", "d-people-write", "a-writes", "e-invite-reads"],
  ],
  [
    "and who can be assumed by others by what it holds, as the worst where that is not known",
    [
      identity("a-reads", { ...reassumed, effect: "read" }),
      gaining("b-writes", row("repo.create")),
      gaining("c-owns", row("role_bindings.create")),
      identity("d-not-known", reassumed),
    ],
    [],
    ["d-not-known", "c-owns", "b-writes", "a-reads"],
  ],
])("subjects come %s", (_, subjects, findings, names) => {
  expect(subjectsInOrder(subjects, findings).map((one) => ("subject" in one ? one.subject : one.name))).toEqual(names);
});

test("the report itself has this order", () => {
  const MATCH = { issuer: "https://issuer.example", subject: "s" };
  const graph = { groups: ["team"], roles: { "a-reader": ["repo.list"], editor: ["repo.create"] } };
  const identities = { alpha: MATCH, zulu: MATCH };
  const access = { team: { "a-reader": ["alpha", "zulu"] }, "/": { editor: ["zulu"] } };
  const { report } = reviewBetween(graphOf({ ...graph, identities }), graphOf({ ...graph, identities, access }));
  expect(report.identities.map(({ name, gains }) => [name, ...gains.map(({ capability }) => capability)])).toEqual([
    ["zulu", "repo.create", "repo.list"],
    ["alpha", "repo.list"],
  ]);
});

test("findings that are denied come first, and those that are allowed last", () => {
  const findings = [finding("a", { allowed: true }), finding("b"), finding("c", { denied: true })];
  expect(findingsInOrder(findings, []).map(({ subject }) => subject)).toEqual(["c", "b", "a"]);
});

test("findings come by what their subjects gain, and those about no subject first", () => {
  const subjects = [gaining("a", row("repo.list")), gaining("b", row("role_bindings.create", "team"))];
  const findings = [finding("a"), finding("b"), finding("review.yaml", { rule: "rules-changed" })];
  expect(findingsInOrder(findings, subjects).map(({ subject }) => subject)).toEqual(["review.yaml", "b", "a"]);
  // What may own, or is possible and not known, is the worst, whatever is gained for certain.
  for (const parts of [{ rule: "gains-owner" as const }, { unknown: true as const }]) {
    const worse = [finding("b", { rule: "new-issuer" }), finding("c", parts)];
    const certain = [gaining("b", row("repo.create", "/")), gaining("c", row("repo.list"))];
    expect(findingsInOrder(worse, certain).map(({ subject }) => subject)).toEqual(["c", "b"]);
    expect(subjectsInOrder(certain, worse).map(({ name }) => name)).toEqual(["c", "b"]);
  }
});
