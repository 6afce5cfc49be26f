// Our own changes of a policy file leave its comments, anchors, aliases and includes as they are.
import { expect, test } from "vitest";
import { editPolicy } from "../../../access/policy/edit.ts";

const TEXT = `# Who may do what.
include: [teams/data.yaml] # theirs
organization: acme

identities:
  # the main branch
  release: { github: &images { repository: acme/images, branch: main } } # weekly
  other: { github: { <<: *images, branch: next } }
access:
  platform/registry:
    publisher: &all [release, other]
  /: { viewer: *all }
`;

test("a change of nothing changes nothing", () => {
  expect(editPolicy(TEXT).text()).toBe(TEXT);
});

test("a new record is added, and everything else stays", () => {
  const document = editPolicy(TEXT);
  document.set(["roles", "publisher"], { can: ["repo.create"] });
  document.set(["access", "platform/registry", "viewer"], ["release"]);
  const publisher = "    publisher: &all [release, other]\n";
  expect(document.text()).toBe(
    `${TEXT.replace(publisher, `${publisher}    viewer:\n      - release\n`)}roles:\n  publisher:\n    can:\n      - repo.create\n`,
  );
});

test("an alias is replaced where it stands, and its anchor stays", () => {
  const document = editPolicy(TEXT);
  document.set(["access", "/", "viewer"], ["release"]);
  expect(document.text()).toBe(TEXT.replace("viewer: *all", "viewer: [release]"));
});

test("a record is removed with its comment only", () => {
  const document = editPolicy(TEXT);
  document.remove(["access", "/"]);
  document.remove(["access", "no"]);
  expect(document.text()).toBe(TEXT.replace("  /: { viewer: *all }\n", ""));
});

test("what stands behind an alias is not changed through it", () => {
  expect(() => editPolicy(TEXT).set(["access", "/", "viewer", 0], "other")).toThrow(
    "access./.viewer is the alias *all; change its anchor, or write it out first",
  );
  expect(() => editPolicy("a: [")).toThrow("Flow sequence");
});
