// Each resource through a real engine against a real server process: the stored rows, and the requests that the server saw.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

const source = ({
  description = "Builds things",
  subject = `{ subject: "repo:acme/app:ref:refs/heads/main" }`,
  role = "viewer",
  capabilities = `"groups.list"`,
} = {}) => `
import { getRole, Group, Identity, Role, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", description: ${JSON.stringify(description)} });
const sub = new Group("sub", { parent: team, name: "sub" });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "${ISSUER}", ...${subject} } });
const custom = new Role("custom", { parent: team, name: "custom", capabilities: [${capabilities}] });
new RoleBinding("built-in", { parent: sub, identity: ci, role: getRole({ name: "${role}" }).then((found) => found.uid) });
new RoleBinding("own", { parent: sub, identity: ci, role: custom });
export const team_ = team.uid;
`;

describe("the resources of a program", () => {
  let place: Workplace;
  let program: Program;

  beforeAll(async () => {
    place = await createWorkplace();
    program = await place.program("resources", source(), { ORG: place.server.organization }, { ownProcess: true });
  });
  afterAll(() => place.close());

  const teamUid = () => place.rows("groups", "name = ?", "team")[0]?.uid as string;

  it("are created once each, parents before children", async () => {
    await program.must("up", "--yes", "--skip-preview");
    const writes = writesOf(await place.server.takeRequests());
    expect(writes.map(({ operation }) => operation).sort()).toEqual([
      "CreateGroup",
      "CreateGroup",
      "CreateIdentity",
      "CreateRole",
      "CreateRoleBinding",
      "CreateRoleBinding",
    ]);
    const [team] = place.rows("groups", "name = ?", "team");
    expect(team).toMatchObject({ parent: place.server.organization, body: { description: "Builds things" } });
    const [sub] = place.rows("groups", "name = ?", "sub");
    expect(sub?.parent).toBe(team?.uid);
    const [ci] = place.rows("identities", "name = ?", "ci");
    expect(ci?.body.claimMatch).toEqual({ issuer: ISSUER, subject: "repo:acme/app:ref:refs/heads/main" });
    expect(
      place.rows("role_bindings", "parent = ?", sub?.uid as string).map(({ identity_uid }) => identity_uid),
    ).toEqual([ci?.uid, ci?.uid]);
  });

  it("have the API's fields as outputs, uid as id, and no secret in the state", async () => {
    const { resources, text } = program.state();
    const team = resources.find(({ urn }) => urn.endsWith("Group::team"));
    expect(team?.id).toBe(teamUid());
    expect(team?.outputs).toMatchObject({
      uid: teamUid(),
      name: "team",
      description: "Builds things",
      verified: false,
      resourceLimits: {},
    });
    expect(text).not.toContain("eyJ");
    expect(text).not.toContain(place.server.token);
  });

  it("are not changed by an up that reads them first", async () => {
    await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });

  it("are changed by one PATCH each, whose mask has the changed paths only", async () => {
    program.write(
      source({
        description: "Builds everything",
        subject: `{ subjectPattern: "repo:acme/.*" }`,
        role: "editor",
        capabilities: `"groups.list", "CAP_REPO_LIST"`,
      }),
    );
    await program.must("up", "--yes", "--skip-preview");
    const writes = writesOf(await place.server.takeRequests());
    expect(writes.map(({ operation, query, fields }) => [operation, query?.updateMask, fields]).sort()).toEqual([
      ["UpdateGroup", "description", "description"],
      ["UpdateIdentity", "claimMatch.subject,claimMatch.subjectPattern", "claimMatch"],
      ["UpdateRole", "capabilities", "capabilities"],
      ["UpdateRoleBinding", "roleUid", "roleUid"],
    ]);
    expect(place.rows("identities", "name = ?", "ci")[0]?.body.claimMatch).toEqual({
      issuer: ISSUER,
      subjectPattern: "repo:acme/.*",
    });
    expect(place.rows("roles", "name = ?", "custom")[0]?.body.capabilities).toEqual([
      "CAP_IAM_GROUPS_LIST",
      "CAP_REPO_LIST",
    ]);
    await program.must("preview", "--expect-no-changes");
  });

  it("are deleted by destroy, and nothing else is", async () => {
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
    expect(place.rows("role_bindings")).toHaveLength(1);
    expect(place.rows("identities", "parent IS NOT NULL").map(({ uid }) => uid)).toEqual([place.server.identity]);
    expect(place.rows("roles", "parent IS NOT NULL")).toEqual([]);
  });
});
