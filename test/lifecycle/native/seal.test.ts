// The same seal in the native form: the plugin asks it before each write.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { writesOf } from "../../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";
import { reviewOf } from "../../harness/irm-command.ts";

const source = (update: string) => `
import { runtime } from "@pulumi/pulumi";
import { AccessPolicy, Group, Identity, Role, RoleBinding, RoleBindingSet } from "pulumi-irm/plugin";
const platform = new Group("platform", { parent: process.env.ORG, name: "platform" });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
const ci = new Identity("ci", { parent: platform, name: "ci", claimMatch });
const more = runtime.isDryRun() ? [] : [${update}];
const own = new Role("own", { parent: platform, name: "own", capabilities: ["repo.list", ...more] });
new RoleBindingSet("all", { parent: platform, bindings: [{ identity: ci, role: "viewer" }] });
new RoleBinding("owns", { parent: platform, identity: ci, role: own });
new AccessPolicy("acme", {
  policy: {
    organization: { uid: process.env.ORG },
    groups: { registry: null },
    identities: { release: { in: "registry", claimMatch } },
    access: { registry: { viewer: ["release"] } },
  },
});
`;

describe("a native run under a seal", () => {
  let place: Workplace;
  let program: Program;
  beforeAll(async () => {
    place = await createWorkplace();
    const env = { ORG: place.server.organization, IRM_SEAL: "seal.json", IRM_SEAL_REQUIRED: "1" };
    program = await place.program("access", source('"repo.create"'), env, { plugin: inject("pluginFolder") });
  });
  afterAll(() => place.close());

  it("creates what the review showed, and no role with other capabilities", async () => {
    const sealIt = async (): Promise<void> => {
      const { code, stderr } = await reviewOf(program, ["--seal", "seal.json"]);
      expect(code, stderr).toBe(0);
      await place.server.takeRequests();
    };
    await sealIt();
    const up = () => program.run("up", "--yes", "--skip-preview", "--refresh", "--continue-on-error");
    const refused = await up();
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("- Role own: capabilities is not what the review shows");
    const writes = writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
    expect(writes.toSorted()).toEqual([
      "CreateGroup",
      "CreateGroup",
      "CreateIdentity",
      "CreateIdentity",
      "CreateRoleBinding",
      "CreateRoleBinding",
    ]);
    program.write(source(""));
    await sealIt();
    const made = await up();
    expect(made.code, made.output).toBe(0);
  });
});
