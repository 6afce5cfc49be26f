// A policy becomes groups, identities, roles and bindings.
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { policyOf } from "./files.ts";

const EXAMPLE = `organization: acme
groups:
  platform: { description: Builds what others stand on, groups: { registry: {}, clusters: {} } }
identities:
  release: { in: platform, github: { repository: acme/images, branch: main } }
  review:  { github: { repository: acme/*, event: pull_request } }
  deploy:  { in: platform, kubernetes: { issuer: https://oidc.example.com/id/7, namespace: prod, serviceAccount: deployer } }
roles:
  publisher: { in: platform, can: [repo.list, repo.create, manifest.create, tag.create] }
access:
  platform/registry: { publisher: [release] }
  /: { viewer: [review] }
`;

describe("a policy file", () => {
  test("becomes groups by path, identities with their relationship, roles and bindings", () => {
    const { groups, identities, roles, bindings, organization } = policyOf(EXAMPLE);
    expect(organization).toEqual({ name: "acme" });
    expect([...groups.values()].map(({ path, parent, name }) => [path, parent, name])).toEqual([
      ["platform", "/", "platform"],
      ["platform/registry", "platform", "registry"],
      ["platform/clusters", "platform", "clusters"],
    ]);
    const issuer = "https://token.actions.githubusercontent.com";
    expect(identities.get("release")).toMatchObject({
      ...{ key: "release", name: "release", group: "platform", place: { line: 5, column: 3 } },
      relationship: { claimMatch: { issuer, subject: "repo:acme/images:ref:refs/heads/main" } },
    });
    expect(identities.get("review")?.group).toBe("/");
    expect(roles.get("publisher")?.capabilities).toEqual(["manifest.create", "repo.create", "repo.list", "tag.create"]);
    expect(bindings).toMatchObject([
      { group: "platform/registry", role: "publisher", identity: "release", place: { line: 11 } },
      { group: "/", role: "viewer", identity: "review", place: { line: 12 } },
    ]);
  });

  test("means the same as an object", () => {
    const { policy, mistakes } = parsePolicy(parse(EXAMPLE));
    expect(mistakes).toEqual([]);
    const plain = (value: unknown) =>
      JSON.stringify(value, (key, one) => (key === "place" ? undefined : one instanceof Map ? [...one.values()] : one));
    expect(plain(policy)).toBe(plain(policyOf(EXAMPLE)));
  });

  test("may leave sections empty, name records other than their keys, and give uids and relationships", () => {
    const policy = policyOf(`organization: { uid: ${"a".repeat(40)} }
groups:
  platform: { name: the platform }
  data:
identities:
  ci: { in: platform, name: release workflow, claimMatch: { issuer: https://i.example, subject: s, claims: { a: b } } }
  old:
    staticKeys: { issuer: https://i.example, subject: s, issuerKeys: '{"keys":[]}' }
roles:
access:
  platform: { editor: [ci], viewer: [] }
  data:
`);
    expect(policy.organization).toEqual({ uid: "a".repeat(40) });
    expect(policy.groups.get("platform")?.name).toBe("the platform");
    expect(policy.identities.get("ci")?.name).toBe("release workflow");
    expect(policy.identities.get("old")?.relationship).toEqual({
      staticKeys: { issuer: "https://i.example", subject: "s", issuerKeys: '{"keys":[]}' },
    });
    expect(policy.bindings.map(({ group, role, identity }) => [group, role, identity])).toEqual([
      ["platform", "editor", "ci"],
    ]);
  });

  test("has keys as they are written: 1.10 is not 1.1", () => {
    const policy = policyOf(`organization: acme
groups: { 1.10: {}, 007: {}, true: {} }
roles: { 2.0: { in: "1.10", can: [repo.list] } }
identities: { 1: { in: "007", google: { uniqueId: "107517467455664443765" } } }
access: { 1.10: { 2.0: ["1"] } }
`);
    expect([...policy.groups.keys()].sort()).toEqual(["007", "1.10", "true"]);
    expect(policy.bindings).toMatchObject([{ group: "1.10", role: "2.0", identity: "1" }]);
  });

  test("may use anchors, aliases and merge keys", () => {
    const policy = policyOf(`organization: acme
identities:
  a: { github: &images { repository: acme/images, branch: main } }
  b: { github: { <<: *images, repository: acme/other } }
roles:
  one: { can: &can [repo.list] }
  two: { can: *can }
access:
  /: { one: &all [a, b], two: *all }
`);
    expect(policy.identities.get("b")?.relationship).toMatchObject({
      claimMatch: { subject: "repo:acme/other:ref:refs/heads/main" },
    });
    expect(policy.bindings).toHaveLength(4);
  });
});
