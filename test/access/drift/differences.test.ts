// What differs between two sets of inputs: paths, elements of lists, who has changed it, and no secret.
import { describe, expect, test } from "vitest";
import { differencesOf } from "../../../access/drift/differences.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument } from "../../../access/format/drift.ts";
import { SECRET, UNKNOWN } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";
import { valuesOf } from "../../support/rows.ts";
import { DRIFT, NO_DRIFT } from "./report.ts";

/** `path "of the program" "of the service" who has changed it` */
const differences = (program: Json, live: Json, base?: Json): string[] =>
  differencesOf(program, live, base).map((one) =>
    [one.path, JSON.stringify(one.program), JSON.stringify(one.live), one.changedIn ?? []].flat().join(" "),
  );

/** What is compared: the inputs of the program, those of the service, those of the last update, and what differs. */
const ROWS = `
one that the service has changed | { name: a } | { name: b } | { name: a } | [name "a" "b" service]
one that the program has changed | { name: b } | { name: a } | { name: a } | [name "b" "a" program]
one that both have changed | { name: b } | { name: c } | { name: a } | [name "b" "c" both]
one of which the last update is not known | { name: b } | { name: c } | ~ | [name "b" "c"]
a path as Pulumi writes it, also where a name has dots | { m: { "a.b": "1", c: "1" } } | { m: { "a.b": "2", c: "1" } }
  | { m: { "a.b": "1", c: "1" } }
  | ['m["a.b"] "1" "2" service']
one that a side lacks is null there | { name: a } | { name: a, description: x } | { name: a } | [description null "x" service]
a map that a side lacks is whole | { m: { a: x } } | { name: a } | ~ | ['m {"a":"x"} null', name null "a"]
adopt says which record is meant, and no record has it | { name: a, adopt: x } | { name: b } | { name: a, adopt: x }
  | [name "a" "b" service]
names of what every object inherits | { m: { constructor: x } } | { m: { c: "1" } } | { m: {} }
  | [m.c null "1" service, m.constructor "x" null program]
what means the same to the API, and marks of the provider
  | { __service: a, names: [x], uid: x, description: "", capabilities: [b, a], name: x }
    | { __service: b, names: [y], capabilities: [a, b], name: y }
  | ~ | [name "x" "y"]
what only the update knows, and nobody has changed | { parent: ${UNKNOWN} } | { parent: a } | { parent: a } | ['parent "[unknown]" "a"']
each element of one side, by the names of the documentation
  | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_LIST, CAP_TAG_LIST] } | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_CREATE] }
  | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_LIST] }
  | [capabilities "repo.list" null service, capabilities "tag.list" null program, capabilities null "repo.create" service]
equal elements of a list are counted | { b: [{ role: v }] } | { b: [{ role: v }, { role: v }] } | ~ | ['b null {"role":"v"}']
a list that a side lacks is its elements | {} | { bindings: [{ role: v }] } | {} | ['bindings null {"role":"v"} service']
another order of a list | { list: [a, b] } | { list: [b, a] } | { list: [a, b] } | ['list ["a","b"] ["b","a"]']
another order is none beside another difference | { list: [a, b], name: x } | { list: [b, a], name: y } | ~ | [name "x" "y"]
`;

test.each(valuesOf<[string, Json, Json, Json | null, string[]]>("-yyyy", ROWS))(
  "compares %s",
  (_, program, live, base, expected) => {
    expect(differences(program, live, base ?? undefined)).toEqual(expected);
  },
);

test("a value may be the name of what every object inherits", () => {
  const difference = { path: "description", program: "constructor", live: "toString" };
  const document = driftDocument({ ...NO_DRIFT, drift: [{ ...DRIFT, differences: [difference] }] });
  expect(documentAsText(document, { color: false })).toContain('the program has "constructor", the service "toString"');
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
