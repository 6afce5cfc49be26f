// A run under the seal of a review, through the engine: it makes what the review showed, and nothing else.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn, reviewOf } from "../harness/irm-command.ts";

const source = (role: string, more = "") => `
import { getStack, runtime, secret } from "@pulumi/pulumi";
import { Group, Identity, Role, RoleBinding, RoleBindingSet } from "pulumi-irm";
const platform = new Group("platform", { parent: process.env.ORG!, name: "platform", description: secret("between us") });
const claimMatch = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/images:ref:refs/heads/main" };
const release = new Identity("release", { parent: platform, name: "release", claimMatch });
new RoleBinding("release-publishes", { parent: platform, identity: release, role: "${role}" });
${more}
`;

describe("a run under a seal", () => {
  let place: Workplace;
  let program: Program;
  let role: string;
  beforeAll(async () => {
    place = await createWorkplace();
    const org = place.server.organization;
    const body = { name: "publisher", capabilities: ["CAP_REPO_LIST"] };
    const { json } = await place.call("POST", `/iam/v2beta1/roles/${org}`, body);
    role = json.uid as string;
    await place.server.takeRequests();
    program = await place.program("access", source(role), { ORG: org, IRM_SEAL: "seal.json" });
  });
  afterAll(() => place.close());

  const up = () => program.run("up", "--yes", "--skip-preview", "--refresh", "--continue-on-error");
  const sealIt = async (): Promise<void> => {
    const { code, stderr } = await reviewOf(program, ["--seal", "seal.json"]);
    expect(code, stderr).toBe(0);
    await place.server.takeRequests();
  };
  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
  const giveRole = async (...capabilities: string[]): Promise<void> => {
    const { status } = await place.call("PATCH", `/iam/v2beta1/roles/${role}?updateMask=capabilities`, {
      capabilities,
    });
    expect(status).toBe(200);
    await place.server.takeRequests();
  };
  const refusal = async (): Promise<string> => {
    const { code, output } = await up();
    expect(code, output).not.toBe(0);
    return output;
  };
  const REFUSED = "the seal seal.json does not contain this, and nothing is sent:";

  it("is refused without its file, and makes what the review showed, once each of its facts is as it was", async () => {
    expect(await refusal()).toContain(
      "IRM_SEAL: this run is refused, and nothing is sent: the seal seal.json cannot be read",
    );
    expect(await writes()).toEqual([]);
    await sealIt();
    expect(readFileSync(join(program.folder, "seal.json"), "utf8")).not.toContain("between us");
    await giveRole("CAP_REPO_LIST", "CAP_REPO_CREATE");
    const differs = await irmIn(program, ["verify", "seal.json", "--stack", "dev", "--format", "json"]);
    expect(differs.code).toBe(3);
    expect(JSON.parse(differs.stdout)).toEqual({
      differs: [
        {
          what: "row",
          subject: "release in platform",
          message: "release gains repo.create at platform (new), through publisher: this is not in the seal",
        },
      ],
    });
    expect(await refusal()).toContain(
      `${REFUSED}\n      - release would gain repo.create at platform (new), through publisher`,
    );
    // What does not rest on the role is there.
    expect((await writes()).toSorted()).toEqual(["CreateGroup", "CreateIdentity"]);
    await giveRole("CAP_REPO_LIST");
    // A part of the change is done, and it is the same change.
    const same = await irmIn(program, ["verify", "seal.json", "--stack", "dev"]);
    expect(same).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The change is what the seal shows: seal.json"),
    });
    await place.server.takeRequests();
    expect((await up()).code).toBe(0);
    expect(await writes()).toEqual(["CreateRoleBinding"]);
  });

  it("refuses a resource of an update only, has what the review of that update shows, and lets nothing of it be deleted", async () => {
    const more = `
if (!runtime.isDryRun()) new RoleBinding("more", { parent: platform, identity: release, role: "owner" });
new RoleBindingSet("readers", { parent: new Group("team", { parent: platform, name: "team" }), bindings: [
  { identity: release, role: "viewer" },
  ...(runtime.isDryRun() ? [] : [{ identity: release, role: "editor" }]),
] });`;
    program.write(source(role, more));
    await sealIt();
    const output = await refusal();
    expect(output).toContain(`${REFUSED}\n      - RoleBinding more is no resource that the review shows`);
    // The review shows both pairs of the set: it runs the update.
    expect((await writes()).toSorted()).toEqual(["BatchCreateRoleBindings", "CreateGroup"]);
    program.write(source(role));
    // This seal is of an update: nothing of what it creates may be deleted.
    const { code, output: destroyed } = await program.run("destroy", "--yes", "--skip-preview");
    expect(code).not.toBe(0);
    expect(destroyed).toMatch(/role binding \S+ would be deleted/);
    expect(await writes()).toEqual([]);
  });

  it("has the deletion of what an interrupted replacement left, which the engine's preview does not show", async () => {
    const group = program.state().resources.find(({ urn }) => urn.endsWith("::platform"))?.id;
    const { json } = await place.call("POST", `/iam/v2beta1/identities/${group}`, {
      name: "old",
      claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/old" },
    });
    const exported = JSON.parse((await program.must("stack", "export")).stdout);
    const { resources } = exported.deployment;
    const own = resources.find((one: { urn: string }) => one.urn.endsWith("::release"));
    resources.push({ ...own, id: json.uid, delete: true });
    writeFileSync(join(program.folder, "interrupted.json"), JSON.stringify(exported));
    await program.must("stack", "import", "--file", "interrupted.json");
    await sealIt();
    expect((await up()).code).toBe(0);
    expect(await writes()).toContain("DeleteIdentity");
    rmSync(join(program.folder, "seal.json"));
  });

  it("holds for a destroy by the configuration of now: the engine has the one of the last update", async () => {
    const program = await place.program(
      "team",
      `import { Group } from "pulumi-irm";
new Group("team", { parent: process.env.ORG!, name: "team" });`,
      { ORG: place.server.organization },
    );
    expect((await program.run("up", "--yes", "--skip-preview")).code).toBe(0);
    await place.server.takeRequests();
    program.configure({ "irm:seal": "none.json" });
    const destroy = await program.run("destroy", "--yes", "--skip-preview");
    expect(destroy.code).not.toBe(0);
    expect(destroy.output).toContain("IRM_SEAL: this run is refused, and nothing is sent: the seal none.json cannot");
    expect(await writes()).toEqual([]);

    await reviewOf(program, ["--destroy", "--seal", "seal.json"]);
    const verify = ["verify", "seal.json", "--stack", "dev"];
    const { code, stderr } = await irmIn(program, verify);
    expect(code).toBe(1);
    expect(stderr).toContain("irm verify: the seal shows that every resource is deleted");
    program.configure({ "irm:seal": "seal.json" });
    await program.must("destroy", "--yes", "--skip-preview");
    expect(await irmIn(program, [...verify, "--destroy"])).toMatchObject({ code: 0 });
  });
});
