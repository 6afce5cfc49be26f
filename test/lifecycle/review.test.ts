// `irm review` runs the engine in the folder of a program: what an edit changes, and what somebody removed by hand.
import { expect, it } from "vitest";
import { openWorkplace } from "../harness/engine-workplace.ts";
import { reportOf } from "../harness/irm-command.ts";

const source = (
  subject: string,
  capabilities: string,
  team = 'new Group("team", { parent: process.env.ORG!, name: "team" })',
) => `
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
const platform = new Group("platform", { parent: process.env.ORG!, name: "platform" });
const release = new Identity("release", {
  parent: platform,
  name: "release",
  claimMatch: { issuer: "https://token.actions.githubusercontent.com", ${subject} },
});
const publisher = new Role("publisher", { parent: platform, name: "publisher", capabilities: [${capabilities}] });
new RoleBinding("release-publishes", { parent: platform, identity: release, role: publisher });
const team = ${team};
new RoleBinding("release-views", { parent: team, identity: release, role: "viewer" });
`;

const place = openWorkplace();

it("prints what an edit changes and restores, and exits with 3 for a denied rule", async () => {
  const first = source('subject: "repo:acme/images:ref:refs/heads/main"', '"repo.list", "repo.create"');
  const program = await place.program("access", first, { ORG: place.server.organization });
  await program.must("up", "--yes", "--skip-preview");
  const [platform, team] = ["platform", "team"].map((name) => place.uidOf("groups", name));
  const [binding] = place.rows("role_bindings", "parent = ?", platform as string);
  const { status } = await place.call("DELETE", `/iam/v2beta1/roleBindings/${binding?.uid}`);
  expect(status).toBe(200);
  // Its refresh meets the identity and the binding under the earlier names of their resources, and the group under that of a resource
  // which leaves the program: another one adopts its record.
  const edited = source(
    'subjectPattern: "repo:acme/.*:ref:refs/heads/main"',
    '"repo.list", "repo.create", "tag.create"',
    `new Group("crew", { parent: process.env.ORG!, name: "team", adopt: "${team}" })`,
  );
  program.write(
    edited
      .replace('new Identity("release"', 'new Identity("publisher"')
      .replace(/(claimMatch: .*\n)\}\);/, '$1}, { aliases: [{ name: "release" }] });')
      .replace('new RoleBinding("release-publishes"', 'new RoleBinding("publishes"')
      .replace("role: publisher });", 'role: publisher }, { aliases: [{ name: "release-publishes" }] });'),
  );
  const report = await reportOf(program, ["--deny", "matches-many"], { exit: 3 });
  const { identities, findings, unknown, undeclared, adopted, deletedGroups, steps } = report;
  const gain = (capability: string) => ({
    group: platform,
    groupName: "platform",
    capability,
    role: "publisher",
  });
  expect(identities).toMatchObject([
    { name: "release", change: "updated", gains: ["repo.create", "tag.create", "repo.list"].map(gain), losses: [] },
  ]);
  expect(findings.map(({ rule, name, denied }) => [rule, name, denied])).toEqual([
    ["matches-many", "release", true],
    ["regrants-removed", "release", undefined],
  ]);
  expect(unknown).toEqual([]);
  expect(adopted).toMatchObject([{ kind: "group", uid: team, resource: "crew" }]);
  expect(deletedGroups).toEqual([]);
  expect(steps.filter(({ ok }) => !ok)).toEqual([]);
  expect(undeclared.map(({ identityName }) => identityName)).toEqual(["owner"]);
});
