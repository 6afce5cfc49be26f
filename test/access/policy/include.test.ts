// A policy in several files.
import { describe, expect, test } from "vitest";
import { mistakesOf, policyOf } from "./files.ts";

test("a policy joins the files that it includes, each once", () => {
  const policy = policyOf(
    `include: [teams/platform.yaml, teams/data.yaml]
organization: acme
groups: { platform: { description: Builds } }
access: { /: { viewer: [release] } }
`,
    {
      "teams/platform.yaml": `include: [roles.yaml]
groups: { platform: { groups: { registry: {} } } }
identities: { release: { in: platform, github: { repository: acme/images, branch: main } } }
access: { platform/registry: { publisher: [release] } }
`,
      "teams/data.yaml": `include: [roles.yaml]
groups: { data: }
access: { /: { viewer: [], editor: [release] } }
`,
      "teams/roles.yaml": "roles: { publisher: { can: [repo.create] } }\n",
    },
  );
  expect([...policy.groups.keys()]).toEqual(["platform", "platform/registry", "data"]);
  expect(policy.groups.get("platform")?.description).toBe("Builds");
  expect(policy.bindings.map(({ group, role }) => `${group} ${role}`)).toEqual([
    "/ viewer",
    "/ editor",
    "platform/registry publisher",
  ]);
});

describe("files that include each other", () => {
  test("report what they cannot read, at the place of the include", () => {
    expect(mistakesOf("include: [no.yaml, 7]\norganization: acme\n")).toEqual([
      "access.yaml:1:11: include: there is no file no.yaml",
      "access.yaml:1:20: include[1]: must be the name of a file",
    ]);
    expect(mistakesOf("include: teams\norganization: acme\n")).toEqual([
      "access.yaml:1:10: include: must be a list of files",
    ]);
  });

  test("report a cycle", () => {
    expect(mistakesOf("include: [b.yaml]\norganization: acme\n", { "b.yaml": "include: [access.yaml]\n" })).toEqual([
      "b.yaml:1:11: include: includes itself: access.yaml > b.yaml > access.yaml",
    ]);
  });

  test("report what stands in two of them, at the second", () => {
    const others = { "b.yaml": "organization: acme\nroles:\n  x: { can: [repo.lst] }\n  y: { can: [repo.lst] }\n" };
    expect(mistakesOf("include: [b.yaml]\norganization: acme\nroles: { x: { can: [repo.list] } }\n", others)).toEqual([
      "b.yaml:1:1: organization: is in access.yaml:2:1 already",
      "b.yaml:3:3: roles.x: is in access.yaml:3:10 already",
      "b.yaml:4:14: roles.y.can[0]: there is no capability repo.lst; did you mean repo.list?",
    ]);
  });
});
