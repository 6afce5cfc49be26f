// Partial update (docs/internals/contract.md#updates, docs/internals/contract.md#d18, AIP-134, AIP-161): masks parsed, implied and applied.
import { describe, expect, test } from "vitest";
import {
  applyMask,
  Group,
  Identity,
  impliedMask,
  type Json,
  maskTouches,
  parseMask,
  Repo,
  Role,
} from "../../schema/index.ts";

describe("an explicit mask", () => {
  test.each([
    ["one path", "description", ["description"]],
    ["several paths", "name,description", ["name", "description"]],
    ["spaces around the commas", " name , description ", ["name", "description"]],
    ["a nested path", "claimMatch.subject", ["claimMatch.subject"]],
    ["snake_case", "claim_match.subject_pattern", ["claimMatch.subjectPattern"]],
    ["the wildcard", "*", ["*"]],
    ["an output-only path, which is ignored", "uid,createTime,last_seen_time,name", ["name"]],
    ["nothing", "", []],
  ])("may have %s", (_, text, paths) => expect(parseMask(Identity, text)).toEqual({ paths, unknown: [] }));

  test.each([
    ["an unknown field", "colour", ["colour"]],
    ["a path below a text", "name.first", ["name.first"]],
    ["a path into a map", "claimMatch.claims.ref", ["claimMatch.claims.ref"]],
    ["an unknown field below a message", "claimMatch.sub", ["claimMatch.sub"]],
    ["a name of the prototype", "constructor", ["constructor"]],
    ["a wildcard below", "claimMatch.*", ["claimMatch.*"]],
    ["several, each reported", "colour,name,taste", ["colour", "taste"]],
  ])("must not have %s, which the error quotes as written", (_, text, unknown) => {
    expect(parseMask(Identity, text).unknown).toEqual(unknown);
  });

  test("accepts sync_config in its published and its camel spelling", () => {
    expect(parseMask(Repo, "sync_config").paths).toEqual(["sync_config"]);
    expect(parseMask(Repo, "syncConfig.google").paths).toEqual(["sync_config.google"]);
  });
});

test.each([
  ["a key with an empty value clears", { description: "" }, ["description"]],
  ["messages count by their own keys", { name: "a", claimMatch: { subject: "s" } }, ["name", "claimMatch.subject"]],
  ["a message without keys counts itself", { claimMatch: {} }, ["claimMatch"]],
  ["null for a message counts the message", { claimMatch: null }, ["claimMatch"]],
  ["snake_case keys", { claim_match: { issuer_pattern: "x" } }, ["claimMatch.issuerPattern"]],
  ["output-only and unknown keys do not count", { uid: "x", createTime: "x", etag: "x", name: "a" }, ["name"]],
  ["a map is one value", { claimMatch: { claims: { a: "b" } } }, ["claimMatch.claims"]],
  ["an empty body touches nothing", {}, []],
  ["no object touches nothing", "x", []],
])("the implied mask is the keys of the body: %s", (_, body, paths) => {
  expect(impliedMask(Identity, body)).toEqual(paths);
});

test("the implied mask is the keys of the body: a list is one value", () => {
  expect(impliedMask(Role, { capabilities: [] })).toEqual(["capabilities"]);
});

describe("applying a mask", () => {
  const A = { issuer: "https://a.example", subject: "s" };
  const B = { issuer: "https://b.example", subjectPattern: "p" };
  const claims = { a: "b" };
  const current: Json = { name: "ci", description: "d", company: "c", claimMatch: { ...A, claims } };
  const { description: _d, ...noDescription } = current;
  const { company: _c, ...noCompany } = current;
  const { claimMatch: _m, ...noClaimMatch } = current;
  const matching = (claimMatch: Json): Json => ({ ...current, claimMatch });
  const COSIGNED = { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
  const BY_PATTERN = matching({ issuerPattern: "x", subject: "s", claims });
  const KEYS = { name: "k", ...COSIGNED };
  const NEW = { claimMatch: { subject: "s" } };
  const ANOTHER = matching({ ...A, subject: "t", claims });
  const SWITCHED = { claimMatch: { issuerPattern: "x" } };
  const [ISSUER, PATTERN, SUBJECT] = ["claimMatch.issuer", "claimMatch.issuerPattern", "claimMatch.subject"] as const;

  test.each<[string, paths: string[], change: Json, expected: Json, from?: Json]>([
    ["changes what it names alone", ["description"], { name: "x", description: "y" }, { ...current, description: "y" }],
    ["changes one field of a message", [SUBJECT], { claimMatch: { ...B, subject: "t" } }, ANOTHER],
    ["changes a message as a whole", ["claimMatch"], { claimMatch: B }, matching(B)],
    ["clears what the change lacks", ["description"], {}, noDescription],
    ["clears what the change lacks below", ["claimMatch.claims"], {}, matching(A)],
    ["clears by a text's zero", ["description"], { description: "" }, noDescription],
    ["clears by null", ["company"], { company: null }, noCompany],
    ["clears by a map's zero", ["claimMatch.claims"], { claimMatch: { claims: {} } }, matching(A)],
    ["of `*` replaces the record", ["*"], { name: "x", claimMatch: B }, { name: "x", claimMatch: B }],
    ["switches a oneof", [PATTERN], SWITCHED, BY_PATTERN],
    ["switches a oneof whose other member is named first", [ISSUER, PATTERN], SWITCHED, BY_PATTERN],
    ["switches a oneof whose other member is named last", [PATTERN, ISSUER], SWITCHED, BY_PATTERN],
    ["switches a oneof of messages", ["servicePrincipal"], COSIGNED, { ...noClaimMatch, ...COSIGNED }],
    ["creates no message without a field", [SUBJECT], {}, KEYS, KEYS],
    ["creates a message for a field", [SUBJECT], NEW, { name: "k", ...NEW }, KEYS],
    ["changes nothing without paths", [], { name: "x" }, current],
  ])("%s", (_, paths, change, expected, from = current) => {
    const before = structuredClone(from);
    expect(applyMask(Identity, from, change, paths)).toStrictEqual(expected);
    expect(from).toEqual(before);
  });

  test("of `*` leaves output-only fields out", () => {
    const change = { name: "b", uid: "x", status: "ORG_STATUS_READY" };
    expect(applyMask(Group, { name: "a" }, change, ["*"])).toEqual({ name: "b" });
  });
});

test.each([
  ["the path itself", ["claimMatch.issuer"], "claimMatch.issuer", true],
  ["what is below a path", ["claimMatch"], "claimMatch.issuer", true],
  ["an item of a list", ["capabilities"], "capabilities[2]", true],
  ["the message above a path", ["claimMatch.issuer"], "claimMatch", true],
  ["everything, by the wildcard", ["*"], "name", true],
  ["not a path that only begins alike", ["claimMatch.issuer"], "claimMatch.issuerPattern", false],
])("what a mask touches: %s", (_, paths, field, touched) => expect(maskTouches(paths, field)).toBe(touched));
