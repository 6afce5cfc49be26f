// Removals from the files of a policy: exactly what was asked for goes, all else says the same, with its comments, and what cannot be removed alone
// is refused before anything is written.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PolicyEditError } from "../../../../access/policy/edit/document.ts";
import { type Removal, removalOf } from "../../../../access/policy/edit/entries.ts";
import { applyEdit, openPolicy } from "../../../../access/policy/edit/open.ts";
import { readPolicy } from "../../../../access/policy/parse.ts";
import { policyText } from "../../../support/policy-text.ts";
import { edited, write } from "../files.ts";

const HEAD = `organization: acme
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

describe("removes the bindings of an identity", () => {
  test.each<[why: string, access: string, left: string]>([
    [
      "items of lists and rows of maps, in flow style",
      "access:\n  platform: { editor: [release, review], viewer: [release] }\n  /: { viewer: [review, release] } # both\n",
      "access:\n  platform: { editor: [review] }\n  /: { viewer: [review] } # both\n",
    ],
    [
      "items and rows in block style, with the comments of their lines",
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
    [
      "items of a flow list on lines of their own",
      "access:\n  platform:\n    editor: [\n      release, # main\n      review, # others\n    ]\n",
      "access:\n  platform:\n    editor: [ review ] # others\n",
    ],
    [
      "the last item of such a list, with the comma before it",
      'access: {\n  "platform": { "editor": [\n    "review",\n    "release"\n  ] }\n}\n',
      'access: { "platform": { "editor": [ "review" ] } }\n',
    ],
    [
      "a row that is shared, where each loses the same",
      "access:\n  team: { viewer: &both [release, review] }\n  platform: { editor: *both }\n",
      "access:\n  team: { viewer: &both [review] }\n  platform: { editor: *both }\n",
    ],
    ["the only one, in block style", "access:\n  platform:\n    editor: [release]\n", "access: {}\n"],
    ["the only one, in flow style", "access: { platform: { editor: [release] } }\n", "access: {}\n"],
    [
      "an alias and its anchor, which both go",
      "access:\n  team: { viewer: &own [release], editor: [review] }\n  platform: { viewer: *own }\n",
      "access:\n  team: { editor: [review] }\n",
    ],
    [
      "lines that end with CR LF",
      "access:\r\n  platform:\r\n    editor:\r\n      - release\r\n      - review\r\n",
      "access:\r\n  platform:\r\n    editor:\r\n      - review\r\n",
    ],
    [
      "the last line, without its end",
      "access:\n  /: { viewer: [review] }\n  team:\n    viewer: [release]",
      "access:\n  /: { viewer: [review] }\n",
    ],
  ])("%s", (_, access, left) => {
    const head = (HEAD + IDENTITIES).replaceAll("\n", access.includes("\r\n") ? "\r\n" : "\n");
    const bindings = [...all, { group: "team", role: "viewer", identity: "release" }];
    expect(remove({ bindings }, head + access).text).toBe(head + left);
  });

  test("in included files, and says which", () => {
    const main = `${HEAD}include: [team/more.yaml]\n${IDENTITIES}access: { /: { viewer: [release] } }\n`;
    const more = "# ours\naccess:\n  platform/registry:\n    editor: [review, release]\n";
    const { entries, read, file } = remove({ bindings: all }, main, { "team/more.yaml": more });
    expect(entries).toEqual(["access./.viewer: release", "access.platform/registry.editor: release"]);
    expect(read("team/more.yaml")).toBe("# ours\naccess:\n  platform/registry:\n    editor: [review]\n");
    expect(readPolicy(file).policy?.bindings).toHaveLength(1);
  });

  test("keeps the mode of a file and its byte order mark, and leaves no other file behind", () => {
    const file = write({ "access.yaml": `\ufeff${HEAD}${IDENTITIES}access: { /: { viewer: [release] } }\n` });
    chmodSync(file, 0o664);
    applyEdit(removalOf(openPolicy(file), { bindings: all }));
    expect(readFileSync(file, "utf8")).toBe(`\ufeff${HEAD}${IDENTITIES}access: {}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o664);
    expect(readdirSync(dirname(file))).toEqual(["access.yaml"]);
  });

  test("changes nothing where there is nothing to remove", () => {
    const opened = openPolicy(write({ "access.yaml": HEAD + IDENTITIES }));
    expect(removalOf(opened, { bindings: all, identities: ["nobody"] })).toEqual({ entries: [], files: [] });
  });
});

test("removes an identity with its bindings, and a role", () => {
  const roles =
    "roles:\n  publisher: { can: [tag.create] }\n  reader:\n    can:\n      - repo.list\n    # nobody has it\n";
  const access = "access:\n  platform: { editor: [review, release] }\n";
  const { text, entries } = remove({ identities: ["release"], roles: ["reader"] }, HEAD + IDENTITIES + roles + access);
  expect(entries).toEqual(["access.platform.editor: release", "identities.release", "roles.reader"]);
  expect(text).toBe(
    `${HEAD}${IDENTITIES.replace(/ {2}release.*\n/, "")}roles:\n  publisher: { can: [tag.create] }\naccess:\n  platform: { editor: [review] }\n`,
  );
});

describe("refuses what it cannot remove alone, and writes nothing", () => {
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
  ])("%j", (access, message) => {
    const before = HEAD + IDENTITIES + access;
    const file = write({ "access.yaml": before });
    expect(() => removalOf(openPolicy(file), { bindings: all })).toThrow(
      new PolicyEditError(message.replace(/^access.yaml/, file)),
    );
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("a role that the policy still gives", () => {
    const access = "roles: { publisher: { can: [tag.create] } }\naccess: { /: { publisher: [release] } }\n";
    const file = write({ "access.yaml": HEAD + IDENTITIES + access });
    expect(() => removalOf(openPolicy(file), { roles: ["publisher"] })).toThrow(
      `after that, ${file}:8:16: access./.publisher: there is no role publisher; declare it in roles, or run \`npx pulumi-irm roles --write\` if your service has it`,
    );
  });

  test("a policy with mistakes: it says each of them", () => {
    const file = write({ "access.yaml": `${HEAD}identities: { a: {} }\naccess: { /: { viewer: [b] } }\n` });
    expect(() => openPolicy(file)).toThrow(
      /access\.yaml:3:15: identities\.a: .*\n.*access\.yaml:4:25: .*there is no identity b/,
    );
  });

  test("a file that has changed since it was read, and then no other one is written either", () => {
    const more = "access: { platform: { editor: [release] } }\n";
    const file = write({
      "access.yaml": `${HEAD}include: [more.yaml]\n${IDENTITIES}access: { /: { viewer: [release] } }\n`,
      "more.yaml": more,
    });
    const [before, beside] = [readFileSync(file, "utf8"), `${dirname(file)}/more.yaml`];
    const edit = removalOf(openPolicy(file), { bindings: all });
    writeFileSync(beside, `${more}# later\n`);
    expect(() => applyEdit(edit)).toThrow(new PolicyEditError(`${beside} has changed meanwhile; run it again`));
    expect([readFileSync(file, "utf8"), readFileSync(beside, "utf8")]).toEqual([before, `${more}# later\n`]);
    expect(readdirSync(dirname(file)).sort()).toEqual(["access.yaml", "more.yaml"]);
  });
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
