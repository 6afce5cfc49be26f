// Additions to the files of a policy: all else says the same, and what cannot be added is refused.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type Added, type AddedMap, PolicyEditError } from "../../../../access/policy/edit/document.ts";
import { additionOf, type Removal, removalOf } from "../../../../access/policy/edit/entries.ts";
import { applyEdit, openPolicy } from "../../../../access/policy/edit/open.ts";
import { readPolicy } from "../../../../access/policy/parse.ts";
import { policyText } from "../../../support/policy-text.ts";
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

test.each(
  Object.entries<[added: string, access: string, after: string]>({
    "to a list between brackets": [
      EDITOR,
      "access:\n  platform: { editor: [review] } # ours\n",
      "access:\n  platform: { editor: [review, release] } # ours\n",
    ],
    "to maps and empty lists between brackets": [
      VIEWER,
      "access:\n  platform: { editor: [review] } # ours\n  /: { viewer: [] }\n",
      "access:\n  platform: { editor: [review], viewer: [ release ] } # ours\n  /: { viewer: [ release ] }\n",
    ],
    "to a list of lines, and keeps the comments": [
      EDITOR,
      "access:\n  platform:\n    editor:\n      - review # main\n    # all\n    viewer: [review]\n  # everywhere\n",
      "access:\n  platform:\n    editor:\n      - review # main\n      - release\n    # all\n    viewer: [review]\n  # everywhere\n",
    ],
    "after the deeper comments of the row before": [
      VIEWER,
      "access:\n  platform:\n    viewer: [review]\n    # editor: nobody\n  # everywhere\n",
      "access:\n  platform:\n    viewer: [review, release]\n    # editor: nobody\n    # everywhere\n  /:\n    viewer: [ release ]\n",
    ],
    "to lists and maps with a line for each item": [
      VIEWER,
      'access: {\n  "platform": { "viewer": [\n    "review", # main\n  ] }, # ours\n}\n',
      'access:\n  {\n    "platform":\n      {\n        "viewer": [ "review", release ] # main\n      },\n    /: { viewer: [ release ] }\n  } # ours\n',
    ],
    "to rows that are empty in YAML": [
      VIEWER,
      "access:\n  platform: # nobody yet\n  /: ~\n  team:\n",
      "access:\n  platform:\n    # nobody yet\n    viewer: [ release ]\n  /:\n    viewer: [ release ]\n  team:\n",
    ],
    "to an empty section": [EDITOR, "access: {}\n", "access:\n  platform:\n    editor: [ release ]\n"],
    "to a policy without the section, whose last line has no end": [
      EDITOR,
      "tests: []",
      "tests: []\naccess:\n  platform:\n    editor: [ release ]\n",
    ],
    "to lines that end with CR LF": [
      VIEWER,
      "access:\r\n  platform:\r\n    viewer:\r\n      - review\r\n",
      "access:\r\n  platform:\r\n    viewer:\r\n      - review\r\n      - release\r\n  /:\r\n    viewer: [ release ]\r\n",
    ],
  }),
)("adds role bindings %s", (_, [added, access, after]) => {
  const head = after.includes("\r\n") ? HEAD.replaceAll("\n", "\r\n") : HEAD;
  expect(add(added, head + access).text).toBe(head + after);
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

const group = (name: string, more = ""): string => `groups:\n  ${name}:\n    description: ${name}\n${more}`;
const identity = (name: string, place: string) =>
  `{ ${name}: { in: ${place}, github: { repository: acme/${name}, branch: main } } }`;

test("of a policy in several files, chooses the one that holds the like by group", () => {
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

test("of a policy in several files, chooses the one that holds the like by section, also of JSON", () => {
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
])("refuses what it cannot add: %j to %j", (added, access, message) => {
  const file = write({ "access.yaml": HEAD + access });
  expect(() => additionOf(openPolicy(file), asAdded(parse(added)) as AddedMap)).toThrow(
    new PolicyEditError(message.replace(/^access.yaml/, file)),
  );
  expect(readFileSync(file, "utf8")).toBe(HEAD + access);
});

const GROUPS = `organization: acme
groups: { platform: { groups: { registry: {} } }, team: {} }
`;
const IDENTITIES = `identities:
  # the main branch of one repository
  release: { in: platform, github: { repository: acme/images, branch: main } } # since 2024
  review: { github: { repository: acme/*, event: pull_request } }
`;
const all = ["platform", "platform/registry", "/"].flatMap((group) =>
  ["editor", "viewer", "publisher"].map((role) => ({ group, role, identity: "release" })),
);

const remove = (removal: Removal, text: string, others: Record<string, string> = {}) =>
  edited((opened) => removalOf(opened, removal), text, others);

test.each(
  Object.entries<[access: string, left: string]>({
    "items of lists and rows of maps, in flow style": [
      "access:\n  platform: { editor: [release, review], viewer: [release] }\n  /: { viewer: [review, release] } # both\n",
      "access:\n  platform: { editor: [review] }\n  /: { viewer: [review] } # both\n",
    ],
    "items and rows in block style, with the comments of their lines": [
      `access:
  # who builds
  platform:
    # full
    editor:
      - release # main
      # a person decides
      - review
    viewer:
      - release
  /:
    viewer:
      - "release"
  team: { viewer: [review] }
`,
      `access:
  # who builds
  platform:
    # full
    editor:
      # a person decides
      - review
  team: { viewer: [review] }
`,
    ],
    "items of a flow list on lines of their own": [
      "access:\n  platform:\n    editor: [\n      release, # main\n      review, # others\n    ]\n",
      "access:\n  platform:\n    editor: [ review ] # others\n",
    ],
    "the last item of such a list, with the comma before it": [
      'access: {\n  "platform": { "editor": [\n    "review",\n    "release"\n  ] }\n}\n',
      'access: { "platform": { "editor": [ "review" ] } }\n',
    ],
    "a row that is shared, where each loses the same": [
      "access:\n  team: { viewer: &both [release, review] }\n  platform: { editor: *both }\n",
      "access:\n  team: { viewer: &both [review] }\n  platform: { editor: *both }\n",
    ],
    "the only one, in block style": ["access:\n  platform:\n    editor: [release]\n", "access: {}\n"],
    "the only one, in flow style": ["access: { platform: { editor: [release] } }\n", "access: {}\n"],
    "an alias and its anchor, which both go": [
      "access:\n  team: { viewer: &own [release], editor: [review] }\n  platform: { viewer: *own }\n",
      "access:\n  team: { editor: [review] }\n",
    ],
    "lines that end with CR LF": [
      "access:\r\n  platform:\r\n    editor:\r\n      - release\r\n      - review\r\n",
      "access:\r\n  platform:\r\n    editor:\r\n      - review\r\n",
    ],
    "the last line, without its end": [
      "access:\n  /: { viewer: [review] }\n  team:\n    viewer: [release]",
      "access:\n  /: { viewer: [review] }\n",
    ],
  }),
)("removes the bindings of an identity: %s", (_, [access, left]) => {
  const head = (GROUPS + IDENTITIES).replaceAll("\n", access.includes("\r\n") ? "\r\n" : "\n");
  const bindings = [...all, { group: "team", role: "viewer", identity: "release" }];
  expect(remove({ bindings }, head + access).text).toBe(head + left);
});

test("removes the bindings of an identity: in included files, and says which", () => {
  const main = `${GROUPS}include: [team/more.yaml]\n${IDENTITIES}access: { /: { viewer: [release] } }\n`;
  const more = "# ours\naccess:\n  platform/registry:\n    editor: [review, release]\n";
  const { entries, read, file } = remove({ bindings: all }, main, { "team/more.yaml": more });
  expect(entries).toEqual(["access./.viewer: release", "access.platform/registry.editor: release"]);
  expect(read("team/more.yaml")).toBe("# ours\naccess:\n  platform/registry:\n    editor: [review]\n");
  expect(readPolicy(file).policy?.bindings).toHaveLength(1);
});

test("a removal keeps mode and byte order mark, leaves no other file, and may change nothing", () => {
  const file = write({ "access.yaml": `\ufeff${GROUPS}${IDENTITIES}access: { /: { viewer: [release] } }\n` });
  chmodSync(file, 0o664);
  applyEdit(removalOf(openPolicy(file), { bindings: all }));
  expect(readFileSync(file, "utf8")).toBe(`\ufeff${GROUPS}${IDENTITIES}access: {}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o664);
  expect(readdirSync(dirname(file))).toEqual(["access.yaml"]);
  const opened = openPolicy(write({ "access.yaml": GROUPS + IDENTITIES }));
  expect(removalOf(opened, { bindings: all, identities: ["nobody"] })).toEqual({ entries: [], files: [] });
});

test("removes an identity with its bindings, and a role", () => {
  const roles =
    "roles:\n  publisher: { can: [tag.create] }\n  reader:\n    can:\n      - repo.list\n    # nobody has it\n";
  const access = "access:\n  platform: { editor: [review, release] }\n";
  const { text, entries } = remove(
    { identities: ["release"], roles: ["reader"] },
    GROUPS + IDENTITIES + roles + access,
  );
  expect(entries).toEqual(["access.platform.editor: release", "identities.release", "roles.reader"]);
  expect(text).toBe(
    `${GROUPS}${IDENTITIES.replace(/ {2}release.*\n/, "")}roles:\n  publisher: { can: [tag.create] }\naccess:\n  platform: { editor: [review] }\n`,
  );
});

test.each<[access: string, message: string]>([
  [
    "access:\n  team: { viewer: &both [release, review] }\n  platform: { editor: *both }\n",
    "access.yaml:9:23: access.platform.editor is an alias; write it out",
  ],
  [
    "access:\n  platform: { viewer: &both [release, review] }\n  team: { editor: *both }\n",
    "access.yaml would say something else than before; edit it by hand",
  ],
  [
    "access:\n  platform: { viewer: &own [release] }\n  team: { editor: *own }\n",
    "access.yaml: an alias stands for an entry that would go; write it out",
  ],
  [
    "access:\n  platform: &rows { viewer: [release], editor: [review] }\n  team: { <<: *rows }\n",
    "access.yaml would say something else than before; edit it by hand",
  ],
  [
    "access:\n  team: &rows { viewer: [release] }\n  platform: { <<: *rows, editor: [review] }\n",
    "access.yaml: access.platform.viewer: release comes from a merge key (<<); write it out",
  ],
])("refuses to remove: %j", (access, message) => {
  const before = GROUPS + IDENTITIES + access;
  const file = write({ "access.yaml": before });
  expect(() => removalOf(openPolicy(file), { bindings: all })).toThrow(
    new PolicyEditError(message.replace(/^access.yaml/, file)),
  );
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("refuses to remove: a role that the policy still gives", () => {
  const access = "roles: { publisher: { can: [tag.create] } }\naccess: { /: { publisher: [release] } }\n";
  const file = write({ "access.yaml": GROUPS + IDENTITIES + access });
  expect(() => removalOf(openPolicy(file), { roles: ["publisher"] })).toThrow(
    `after that, ${file}:8:16: access./.publisher: there is no role publisher; declare it in roles, or run \`npx pulumi-irm roles --write\` if your service has it`,
  );
});

test("refuses to remove: a policy with mistakes: it says each of them", () => {
  const file = write({ "access.yaml": `${GROUPS}identities: { a: {} }\naccess: { /: { viewer: [b] } }\n` });
  expect(() => openPolicy(file)).toThrow(
    /access\.yaml:3:15: identities\.a: .*\n.*access\.yaml:4:25: .*there is no identity b/,
  );
});

test("refuses to remove: a file that has changed since it was read, and then no other one is written either", () => {
  const more = "access: { platform: { editor: [release] } }\n";
  const file = write({
    "access.yaml": `${GROUPS}include: [more.yaml]\n${IDENTITIES}access: { /: { viewer: [release] } }\n`,
    "more.yaml": more,
  });
  const [before, beside] = [readFileSync(file, "utf8"), `${dirname(file)}/more.yaml`];
  const edit = removalOf(openPolicy(file), { bindings: all });
  writeFileSync(beside, `${more}# later\n`);
  expect(() => applyEdit(edit)).toThrow(new PolicyEditError(`${beside} has changed meanwhile; run it again`));
  expect([readFileSync(file, "utf8"), readFileSync(beside, "utf8")]).toEqual([before, `${more}# later\n`]);
  expect(readdirSync(dirname(file)).sort()).toEqual(["access.yaml", "more.yaml"]);
});

test("any identity can be removed of any policy, and every other binding stays", () => {
  const between = (min: number, max: number) => fc.integer({ min, max });
  const sizes = fc.record({ groups: between(2, 12), identities: between(2, 8), bindings: between(1, 30) });
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (size, seed, which) => {
      const bound = { ...size, bindings: Math.min(size.bindings, size.groups * size.identities) };
      const file = write({ "access.yaml": policyText(bound, seed) });
      const opened = openPolicy(file);
      const identity = `workload-${which % size.identities}`;
      const expected = opened.policy.bindings.filter((one) => one.identity !== identity);
      applyEdit(removalOf(opened, { identities: [identity] }));
      const { policy } = readPolicy(file);
      const rows = (bindings: typeof expected) => bindings.map(({ group, role, identity }) => [group, role, identity]);
      expect(rows([...(policy?.bindings ?? [])])).toEqual(rows(expected));
      expect(policy?.identities.has(identity)).toBe(false);
    }),
    { numRuns: 60 },
  );
});
