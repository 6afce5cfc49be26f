// Holds for any record: a diff names exactly the paths that a PATCH must change. Seeded, so that a failure repeats.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { changedPaths, desiredWith } from "../../../provider/record/desired.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import { applyMask, type Json, maskTouches, normalForm } from "../../../schema/index.ts";

const { group, identity, role } = kindRecords;

const SEED = 20_260_728;
const RUNS = { seed: SEED, numRuns: 500 };

const text = fc.constantFrom("a", "b", "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const map = maybe(fc.dictionary(fc.constantFrom("ref", "x/y", "a~b"), fc.constantFrom("1", "2")));
const oneOf = (...names: string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.constantFrom("s", "t")).map(([name, value]) => ({ [name]: value }));

const claimMatch = fc
  .tuple(
    oneOf("issuer", "issuerPattern"),
    oneOf("subject", "subjectPattern"),
    fc.record({ claims: map, claimPatterns: map }),
  )
  .map(([issuer, subject, rest]) => ({ claimMatch: { ...issuer, ...subject, ...rest } }));
const awsIdentity = fc
  .tuple(oneOf("arn", "arnPattern"), oneOf("userId", "userIdPattern"))
  .map(([arn, user]) => ({ awsIdentity: { awsAccount: "1", ...arn, ...user } }));
const named = fc.record({ name: fc.constantFrom("a", "b"), description: maybe(text) });

const records: [string, Kind, fc.Arbitrary<Json>][] = [
  ["a group", group, named],
  [
    "an identity",
    identity,
    fc.tuple(named, fc.oneof(claimMatch, awsIdentity)).map(([base, relationship]) => ({ ...base, ...relationship })),
  ],
  [
    "a role",
    role,
    fc
      .tuple(named, fc.array(fc.constantFrom("CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST", "CAP_NEW"), { minLength: 1 }))
      .map(([base, capabilities]) => ({ ...base, capabilities })),
  ],
];

describe.each(records)("%s", (_, kind, record) => {
  it("equals itself, whatever the order of its members", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return [...value].reverse();
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(record, (one) => {
        expect(changedPaths(desiredWith(kind, reversed(one) as Json), one)).toEqual([]);
      }),
      RUNS,
    );
  });

  it("becomes the other one by a PATCH of exactly the paths that differ", () => {
    fc.assert(
      fc.property(record, record, (observed, desired) => {
        const paths = changedPaths(desiredWith(kind, desired), observed);
        const patch = (mask: readonly string[]) =>
          applyMask(kind.schema, normalForm(kind.schema, observed), normalForm(kind.schema, desired), mask);
        expect(changedPaths(desiredWith(kind, desired), patch(paths))).toEqual([]);
        // Each path is needed, unless setting another member of its oneof clears it.
        for (const left of paths) {
          const others = paths.filter((path) => path !== left);
          const still = changedPaths(desiredWith(kind, desired), patch(others));
          if (desired[left] !== undefined) expect(still.some((path) => maskTouches([left], path))).toBe(true);
        }
      }),
      RUNS,
    );
  });
});
