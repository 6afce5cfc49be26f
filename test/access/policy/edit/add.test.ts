// Additions to the files of a policy: what is new is there, all else says the same, with its comments, and what cannot be added is refused before
// anything is written.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Added, type AddedMap, PolicyEditError } from "../../../../access/policy/edit/document.ts";
import { additionOf } from "../../../../access/policy/edit/entries.ts";
import { openPolicy } from "../../../../access/policy/edit/open.ts";
import { edited, write } from "../files.ts";

const asAdded = (value: unknown): Added => {
  if (Array.isArray(value)) return value.map(asAdded);
  if (typeof value !== "object" || value === null) return value as Added;
  return new Map(Object.entries(value).map(([key, one]) => [key, asAdded(one)]));
};

/** `added` is YAML. */
const add = (added: string, text: string, others: Record<string, string> = {}) =>
  edited((opened) => additionOf(opened, asAdded(parse(added)) as AddedMap), text, others);

const HEAD = `organization: acme
groups: { platform: { groups: { registry: } }, team: {} }
identities:
  release: { in: platform, github: { repository: acme/images, branch: main } }
  review: { github: { repository: acme/*, event: pull_request } } # of everybody
`;
const EDITOR = "access: { platform: { editor: [release] } }";
const VIEWER = "access: { platform: { viewer: [release] }, /: { viewer: [release] } }";

describe("adds role bindings", () => {
  test.each<[why: string, added: string, access: string, after: string]>([
    [
      "to a list between brackets",
      EDITOR,
      "access:\n  platform: { editor: [review] } # ours\n",
      "access:\n  platform: { editor: [review, release] } # ours\n",
    ],
    [
      "to maps and empty lists between brackets",
      VIEWER,
      "access:\n  platform: { editor: [review] } # ours\n  /: { viewer: [] }\n",
      "access:\n  platform: { editor: [review], viewer: [ release ] } # ours\n  /: { viewer: [ release ] }\n",
    ],
    [
      "to a list of lines, and keeps the comments",
      EDITOR,
      "access:\n  platform:\n    editor:\n      - review # main\n    # all\n    viewer: [review]\n  # everywhere\n",
      "access:\n  platform:\n    editor:\n      - review # main\n      - release\n    # all\n    viewer: [review]\n  # everywhere\n",
    ],
    [
      "after the deeper comments of the row before",
      VIEWER,
      "access:\n  platform:\n    viewer: [review]\n    # editor: nobody\n  # everywhere\n",
      "access:\n  platform:\n    viewer: [review, release]\n    # editor: nobody\n    # everywhere\n  /:\n    viewer: [ release ]\n",
    ],
    [
      "to lists and maps with a line for each item",
      VIEWER,
      'access: {\n  "platform": { "viewer": [\n    "review", # main\n  ] }, # ours\n}\n',
      'access:\n  {\n    "platform":\n      {\n        "viewer": [ "review", release ] # main\n      },\n    /: { viewer: [ release ] }\n  } # ours\n',
    ],
    [
      "to rows that are empty in YAML",
      VIEWER,
      "access:\n  platform: # nobody yet\n  /: ~\n  team:\n",
      "access:\n  platform:\n    # nobody yet\n    viewer: [ release ]\n  /:\n    viewer: [ release ]\n  team:\n",
    ],
    ["to an empty section", EDITOR, "access: {}\n", "access:\n  platform:\n    editor: [ release ]\n"],
    [
      "to a policy without the section, whose last line has no end",
      EDITOR,
      "tests: []",
      "tests: []\naccess:\n  platform:\n    editor: [ release ]\n",
    ],
    [
      "to lines that end with CR LF",
      VIEWER,
      "access:\r\n  platform:\r\n    viewer:\r\n      - review\r\n",
      "access:\r\n  platform:\r\n    viewer:\r\n      - review\r\n      - release\r\n  /:\r\n    viewer: [ release ]\r\n",
    ],
  ])("%s", (_, added, access, after) => {
    const head = after.includes("\r\n") ? HEAD.replaceAll("\n", "\r\n") : HEAD;
    expect(add(added, head + access).text).toBe(head + after);
  });
});

test("adds groups, identities and roles as an export writes them, and says what it added", () => {
  const added = `
groups: { platform: { groups: { registry: { groups: { images: { description: "a, b" } } } } }, "007": { groups: { below: {} } } }
identities: { nightly: { in: "007/below", github: { repository: acme/nightly, branch: main } } }
roles: { "y": { in: platform, can: [repo.list, tag.create] } }
access: { platform: { "y": [release] } }
`;
  const { text, entries } = add(added, `${HEAD}roles: {}\n# the end\n`);
  expect(text).toBe(`organization: acme
groups: { platform: { groups: { registry: { groups: { images: { description: "a, b" } } } } }, team: {}, "007": { groups: { below: {} } } }
identities:
  release: { in: platform, github: { repository: acme/images, branch: main } }
  review: { github: { repository: acme/*, event: pull_request } } # of everybody
  nightly:
    in: 007/below
    github: { repository: acme/nightly, branch: main }
roles:
  "y":
    in: platform
    can: [ repo.list, tag.create ]
access:
  platform:
    "y": [ release ]

# the end
`);
  expect(entries).toEqual([
    "groups.platform/registry/images",
    "groups.007",
    "groups.007/below",
    "identities.nightly",
    "roles.y",
    "access.platform.y: release",
  ]);
});

describe("of a policy in several files, chooses the one that holds the like", () => {
  const group = (name: string, more = ""): string => `groups:\n  ${name}:\n    description: ${name}\n${more}`;
  const identity = (name: string, place: string) =>
    `{ ${name}: { in: ${place}, github: { repository: acme/${name}, branch: main } } }`;

  test("by group", () => {
    const { text, read } = add(
      `groups: { a: { groups: { x: {} } }, c: {} }
identities: { nightly: { in: b, github: { repository: acme/n, branch: main } }, own: { github: { repository: acme/o, branch: main } } }
access: { a: { viewer: [nightly] }, /: { viewer: [nightly] } }`,
      "organization: acme\ninclude: [a.yaml, b.yaml] # all\n",
      { "a.yaml": group("a", `identities: ${identity("i", "a")}\n`), "b.yaml": `# of b\n${group("b")}` },
    );
    expect(text).toBe(
      "organization: acme\ninclude: [a.yaml, b.yaml] # all\ngroups:\n  c: {}\nidentities:\n  own:\n    github: { repository: acme/o, branch: main }\naccess:\n  /:\n    viewer: [ nightly ]\n",
    );
    expect(read("a.yaml")).toBe(
      `${group("a")}    groups:\n      x: {}\nidentities: ${identity("i", "a")}\naccess:\n  a:\n    viewer: [ nightly ]\n`,
    );
    expect(read("b.yaml")).toBe(
      `# of b\n${group("b")}identities:\n  nightly:\n    in: b\n    github: { repository: acme/n, branch: main }\n`,
    );
  });

  test("by section, also of JSON", () => {
    const { text, read } = add(
      `groups: { c: {} }
identities: { nightly: { in: b, github: { repository: acme/n, branch: main } } }
access: { a: { viewer: [i, nightly] } }`,
      "organization: acme\ninclude: [groups.yaml, who.json, access.yml]\n",
      {
        "groups.yaml": "groups: { a: {}, b: {} }\n",
        "who.json":
          '{\n  "identities": {\n    "i": { "github": { "repository": "acme/i", "branch": "main" } },\n    "j": { "in": "a", "github": { "repository": "acme/j", "branch": "main" } }\n  }\n}\n',
        "access.yml": "access:\n  a: { editor: [i] }\n  b: { editor: [i] }\n",
      },
    );
    expect(text).toBe("organization: acme\ninclude: [groups.yaml, who.json, access.yml]\n");
    expect(read("groups.yaml")).toBe("groups: { a: {}, b: {}, c: {} }\n");
    expect(JSON.parse(read("who.json")).identities.nightly).toEqual({
      in: "b",
      github: { repository: "acme/n", branch: "main" },
    });
    expect(read("who.json")).toBe(`${JSON.stringify(JSON.parse(read("who.json")), undefined, 2)}\n`);
    expect(read("access.yml")).toBe("access:\n  a: { editor: [i], viewer: [ i, nightly ] }\n  b: { editor: [i] }\n");
  });
});

describe("refuses what it cannot add, and writes nothing", () => {
  test.each<[added: string, access: string, message: string]>([
    [
      EDITOR,
      "access:\n  team: &rows { editor: [review] }\n  platform: *rows\n",
      "access.yaml:8:13: access.platform is an alias; write it out",
    ],
    [
      EDITOR,
      "access:\n  platform: &rows { editor: [review] }\n  team: *rows\n",
      "access.yaml would say something else than before; edit it by hand",
    ],
    [
      EDITOR,
      "access:\n  team: &rows { editor: [review] }\n  platform: { <<: *rows, viewer: [review] }\n",
      "access.yaml would say something else than before; edit it by hand",
    ],
    [
      "access: { platform: { editor: [relase] } }",
      "access: {}\n",
      "after that, access.platform.editor[0]: there is no identity relase; did you mean release?",
    ],
    [
      "identities: { other: { name: release, in: platform, github: { repository: acme/x, branch: main } } }",
      "",
      "after that, identities.other.name: identity release has the same name in this group; choose another",
    ],
  ])("%j to %j", (added, access, message) => {
    const file = write({ "access.yaml": HEAD + access });
    expect(() => additionOf(openPolicy(file), asAdded(parse(added)) as AddedMap)).toThrow(
      new PolicyEditError(message.replace(/^access.yaml/, file)),
    );
    expect(readFileSync(file, "utf8")).toBe(HEAD + access);
  });
});
