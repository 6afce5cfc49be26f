// A policy beside a stack: records match by the uids of the stack's state, and what the stack manages goes with its key.
import { describe, expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { policyStackIn } from "../../../access/policy/stack.ts";
import type { Report } from "../../../access/review/report.ts";
import { reviewBetween } from "../format/reviews.ts";
import { graphOf, uid } from "../graphs.ts";
import { objectOf, policyResources } from "./files.ts";

const issuer = "https://issuer.example";
const [TEAM, RELEASE] = [uid("team"), uid("team/release")];

/** `release` is of the stack, `by-hand` is not; both are viewers of team. */
const live = graphOf({
  groups: ["team"],
  roles: { viewer: ["repo.list"] },
  identities: { "team/release": { issuer, subject: "s" }, "team/by-hand": { issuer, subject: "t" } },
  access: { team: { viewer: ["team/release", "team/by-hand"] } },
});

/** `release`: uid of the record of that key */
const stackWith = (release: string) =>
  policyResources("acme", ["Group", "acme/team", TEAM], ["Identity", "acme:identity/release", release]);

const policyOf = (identities: object, access: object): Policy =>
  objectOf({ organization: "acme", groups: { team: {} }, identities, access });

const review = (policy: Policy, stack: ReturnType<typeof stackWith> | undefined): Report => {
  const wanted = policyGraph(policy, live, stack && policyStackIn(stack, policy));
  expect(wanted.mistakes).toEqual([]);
  return reviewBetween(live, newGraph(wanted.graph)).report;
};
const of = (report: Report, name: string) =>
  report.identities.filter((one) => [one.name, one.nameBefore].includes(name));

const match = (subject: string) => ({ in: "team", claimMatch: { issuer, subject } });

describe("a policy of a stack", () => {
  test("that renames a record under its key keeps it", () => {
    const policy = policyOf({ release: { ...match("s"), name: "publish" } }, { team: { viewer: ["release"] } });
    const kept = { uid: RELEASE, nameBefore: "release", name: "publish", gains: [], losses: [] };
    expect(of(review(policy, stackWith(RELEASE)), "publish")).toMatchObject([kept]);
    // By names alone the same looks like a new identity.
    expect(of(review(policy, undefined), "publish")).toMatchObject([{ uid: null, name: "publish", change: "created" }]);
  });

  test("that renames a key gets another record, unless it says what the key was", () => {
    const access = { team: { viewer: ["publish"] } };
    const renamed = review(policyOf({ publish: match("s") }, access), stackWith(RELEASE));
    expect(renamed.findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["identity-replaced", RELEASE]);
    const kept = review(policyOf({ publish: { ...match("s"), was: "release" } }, access), stackWith(RELEASE));
    expect(of(kept, "publish")).toMatchObject([{ uid: RELEASE, nameBefore: "release" }]);
  });

  test("takes no record of a key that is elsewhere than the policy has it", () => {
    const policy = policyOf({ release: match("s") }, { team: { viewer: ["release"] } });
    expect(of(review(policy, stackWith(uid("elsewhere"))), "release")).toEqual([]);
  });

  test("is found by its organization; of several, none can be meant", () => {
    const policy = policyOf({ release: match("s") }, {});
    expect(policyStackIn([], policy)).toBeUndefined();
    expect(() => policyStackIn([...stackWith(RELEASE), ...policyResources("second")], policy)).toThrow(
      "the stack has 2 policies of this organization: acme, second",
    );
  });
});
