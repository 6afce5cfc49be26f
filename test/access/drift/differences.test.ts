// What differs between two sets of inputs: paths, elements of lists, who has changed it, and no secret.
import { describe, expect, test } from "vitest";
import { differencesOf } from "../../../access/drift/differences.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument } from "../../../access/format/drift.ts";
import { SECRET, UNKNOWN } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT } from "../graphs.ts";
import { DRIFT, NO_DRIFT } from "./report.ts";

const claims = (own: Json): Json => ({ claimMatch: { issuer: "https://ci.example.com", subject: "ci", claims: own } });

describe("a value", () => {
  test("is named by the path that Pulumi writes, also where a name has dots", () => {
    const [program, live] = [claims({ "a.b": "1", c: "1" }), claims({ "a.b": "2", c: "1" })];
    expect(differencesOf(program, live, program)).toEqual([
      { path: 'claimMatch.claims["a.b"]', program: "1", live: "2", changedIn: "service" },
    ]);
  });

  test("that one side lacks is null there", () => {
    expect(differencesOf({ name: "a" }, { name: "a", description: "x" }, { name: "a" })).toEqual([
      { path: "description", program: null, live: "x", changedIn: "service" },
    ]);
    expect(differencesOf(claims({}), { name: "a" }, undefined)).toEqual([
      { path: "claimMatch", program: claims({}).claimMatch, live: null },
      { path: "name", program: null, live: "a" },
    ]);
  });

  test("of adopt is no difference: it says which record is meant, and no record has it", () => {
    const program = { name: "a", adopt: ROOT };
    expect(differencesOf(program, { name: "b" }, program)).toEqual([
      { path: "name", program: "a", live: "b", changedIn: "service" },
    ]);
  });

  test.each([
    ["service", { name: "a" }, { name: "b" }, { name: "a" }],
    ["program", { name: "b" }, { name: "a" }, { name: "a" }],
    ["both", { name: "b" }, { name: "c" }, { name: "a" }],
    [undefined, { name: "b" }, { name: "c" }, undefined],
  ])("changed in %s", (changedIn, program, live, base) => {
    const [only] = differencesOf(program, live, base);
    expect(only?.changedIn).toBe(changedIn);
  });

  test("may have the name of what every object inherits", () => {
    expect(differencesOf(claims({ constructor: "x" }), claims({ c: "1" }), claims({}))).toEqual([
      { path: "claimMatch.claims.c", program: null, live: "1", changedIn: "service" },
      { path: "claimMatch.claims.constructor", program: "x", live: null, changedIn: "program" },
    ]);
    const difference = { path: "description", program: "constructor", live: "toString" };
    const document = driftDocument({ ...NO_DRIFT, drift: [{ ...DRIFT, differences: [difference] }] });
    expect(documentAsText(document, { color: false })).toContain(
      'the program has "constructor", the service "toString"',
    );
  });

  test("that means the same to the API is no difference, and neither is a mark of the provider", () => {
    const program = { __service: "a", names: ["x"], uid: "x", description: "", capabilities: ["b", "a"], parent: "p" };
    const live = { __service: "b", names: ["y"], capabilities: ["a", "b"], parent: "p" };
    expect(differencesOf({ ...program, name: "x" }, { ...live, name: "y" }, undefined)).toEqual([
      { path: "name", program: "x", live: "y" },
    ]);
  });

  test("that only the update knows is shown as such, and nobody is said to have changed it", () => {
    expect(differencesOf({ parent: UNKNOWN }, { parent: "a" }, { parent: "a" })).toEqual([
      { path: "parent", program: "[unknown]", live: "a" },
    ]);
  });
});

describe("a list", () => {
  test("has a difference for each element of one side, by the names of the documentation", () => {
    const base = { capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"] };
    const program = { capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST", "CAP_TAG_LIST"] };
    const live = { capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_CREATE"] };
    expect(differencesOf(program, live, base)).toEqual([
      { path: "capabilities", program: "repo.list", live: null, changedIn: "service" },
      { path: "capabilities", program: "tag.list", live: null, changedIn: "program" },
      { path: "capabilities", program: null, live: "repo.create", changedIn: "service" },
    ]);
  });

  test("counts equal elements", () => {
    const pair = { identity: "a", role: "viewer" };
    expect(differencesOf({ bindings: [pair] }, { bindings: [pair, pair] }, undefined)).toEqual([
      { path: "bindings", program: null, live: pair },
    ]);
    expect(differencesOf({}, { bindings: [pair] }, {})).toEqual([
      { path: "bindings", program: null, live: pair, changedIn: "service" },
    ]);
  });

  test("in another order is a difference if nothing else is", () => {
    const [program, live] = [{ list: ["a", "b"] }, { list: ["b", "a"] }];
    expect(differencesOf(program, live, program)).toEqual([{ path: "list", program: ["a", "b"], live: ["b", "a"] }]);
    expect(differencesOf({ ...program, name: "x" }, { ...live, name: "y" }, undefined)).toHaveLength(1);
  });
});

describe("a secret", () => {
  const CLEAR = "clear text";

  test.each<[string, Json, Json, Json | undefined]>([
    ["of the program hides the value of the service", { name: SECRET }, { name: CLEAR }, undefined],
    ["of the last update hides both", { name: CLEAR }, { name: `${CLEAR} 2` }, { name: SECRET }],
    ["of the last update hides what the program left out", {}, { name: CLEAR }, { name: SECRET }],
    ["above a value hides it", { oidc: SECRET }, { oidc: { clientSecret: CLEAR } }, undefined],
    ["in a list hides the list", { list: [SECRET, "a"] }, { list: [CLEAR, "b"] }, undefined],
  ])("%s", (_, program, live, base) => {
    const found = differencesOf(program, live, base);
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(CLEAR);
    expect(found[0]).not.toHaveProperty("changedIn");
  });

  test("beside other values hides itself alone", () => {
    const oidc = (issuer: string) => ({ oidc: { issuer, clientSecret: SECRET } });
    expect(differencesOf(oidc("a"), oidc("b"), oidc("a"))).toEqual([
      { path: "oidc.issuer", program: "a", live: "b", changedIn: "service" },
    ]);
    expect(differencesOf(oidc("a"), {}, undefined)).toEqual([
      { path: "oidc", program: { issuer: "a", clientSecret: SECRET }, live: null },
    ]);
  });

  test("is named where nothing else differs: the engine sees that it does", () => {
    const oidc = { oidc: { issuer: "a", clientSecret: SECRET } };
    expect(differencesOf(oidc, oidc, oidc)).toEqual([{ path: "oidc.clientSecret", program: SECRET, live: SECRET }]);
  });
});
