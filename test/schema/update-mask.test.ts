// Partial update (docs/contract.md#updates, docs/contract.md#d18, AIP-134, AIP-161): masks parsed, implied and applied.
import { describe, expect, test } from "vitest";
import { applyMask, Group, Identity, impliedMask, maskTouches, parseMask, Repo, Role } from "../../schema/index.ts";

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
  ])("may have %s", (_, text, paths) => {
    expect(parseMask(Identity, text)).toEqual({ paths, unknown: [] });
  });

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
  const current = {
    name: "ci",
    description: "d",
    company: "c",
    claimMatch: { issuer: "https://a.example", subject: "s", claims: { a: "b" } },
  };

  test("changes only what it names: a field, a nested path without its neighbours, or a message as a whole", () => {
    expect(applyMask(Identity, current, { name: "x", description: "y" }, ["description"])).toEqual({
      ...current,
      description: "y",
    });
    const change = { claimMatch: { issuer: "https://evil.example", subject: "new" } };
    expect(applyMask(Identity, current, change, ["claimMatch.subject"])).toEqual({
      ...current,
      claimMatch: { ...current.claimMatch, subject: "new" },
    });
    const claimMatch = { issuer: "https://b.example", subjectPattern: "p" };
    expect(applyMask(Identity, current, { claimMatch }, ["claimMatch"])).toEqual({ ...current, claimMatch });
  });

  test("clears named fields that the change lacks", () => {
    const { description: _, ...rest } = current;
    expect(applyMask(Identity, current, {}, ["description"])).toEqual(rest);
    const cleared = applyMask(Identity, current, {}, ["claimMatch.claims"]);
    expect(cleared.claimMatch).toEqual({ issuer: "https://a.example", subject: "s" });
  });

  test.each([
    ["a text", "description", { description: "" }],
    ["null", "company", { company: null }],
    ["a map", "claimMatch.claims", { claimMatch: { claims: {} } }],
  ])("clears a field that the change has as its zero: %s", (_, path, change) => {
    const [head, below] = path.split(".") as [keyof typeof current, string?];
    const next = applyMask(Identity, current, change, [path]);
    expect(below ? next[head] : next).not.toHaveProperty(below ?? head);
  });

  test("of `*` replaces the record by the change, without its output-only fields", () => {
    const claimMatch = { issuer: "https://b.example", subject: "t" };
    expect(applyMask(Identity, current, { name: "x", claimMatch }, ["*"])).toEqual({ name: "x", claimMatch });
    expect(applyMask(Group, { name: "a" }, { name: "b", uid: "x", status: "ORG_STATUS_READY" }, ["*"])).toEqual({
      name: "b",
    });
  });

  test("switches a oneof: the member that is set clears the others, which may be named too, in either order", () => {
    const change = { claimMatch: { issuerPattern: "https://.*" } };
    expect(applyMask(Identity, current, change, ["claimMatch.issuerPattern"]).claimMatch).toEqual({
      issuerPattern: "https://.*",
      subject: "s",
      claims: { a: "b" },
    });
    const principal = { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
    expect(applyMask(Identity, current, principal, ["servicePrincipal"])).toEqual({
      name: "ci",
      description: "d",
      company: "c",
      ...principal,
    });
    const both = { claimMatch: { issuerPattern: "x" } };
    for (const paths of [
      ["claimMatch.issuer", "claimMatch.issuerPattern"],
      ["claimMatch.issuerPattern", "claimMatch.issuer"],
    ])
      expect(applyMask(Identity, current, both, paths).claimMatch).toEqual({
        issuerPattern: "x",
        subject: "s",
        claims: { a: "b" },
      });
  });

  test("below an absent message creates it only when a field is set", () => {
    const keys = { name: "k", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
    expect(applyMask(Identity, keys, {}, ["claimMatch.subject"])).toEqual(keys);
    expect(applyMask(Identity, keys, { claimMatch: { subject: "s" } }, ["claimMatch.subject"])).toEqual({
      name: "k",
      claimMatch: { subject: "s" },
    });
  });

  test("touches nothing without paths, and does not change its argument", () => {
    const before = structuredClone(current);
    expect(applyMask(Identity, current, { name: "x" }, [])).toEqual(current);
    applyMask(Identity, current, { claimMatch: { subject: "x" } }, ["claimMatch.subject"]);
    expect(current).toEqual(before);
  });
});

test.each([
  ["the path itself", ["claimMatch.issuer"], "claimMatch.issuer", true],
  ["what is below a path", ["claimMatch"], "claimMatch.issuer", true],
  ["an item of a list", ["capabilities"], "capabilities[2]", true],
  ["the message above a path", ["claimMatch.issuer"], "claimMatch", true],
  ["everything, by the wildcard", ["*"], "name", true],
  ["not a path that only begins alike", ["claimMatch.issuer"], "claimMatch.issuerPattern", false],
])("what a mask touches: %s", (_, paths, field, touched) => {
  expect(maskTouches(paths, field)).toBe(touched);
});
