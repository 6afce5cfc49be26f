// A stack moves from dynamic resources to native ones, and back: another import, and nothing else.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { openWorkplace, type Program } from "../../harness/engine-workplace.ts";

const DIGEST = `sha256:${"1".repeat(64)}`;

const KINDS = [...Object.values(kindRecords).map(({ type }) => type), "RoleBindingSet"];

const source = (module: string) => `
import * as pulumi from "@pulumi/pulumi";
import * as irm from "${module}";
const parent = process.env.ORG!;
class Team extends pulumi.ComponentResource {
  constructor(name: string) {
    super("app:index:Team", name);
    const group = new irm.Group(name, { parent, name, forceDestroy: true }, { parent: this });
    const below = new irm.Group("below", { parent: group, name: "below" }, { parent: group });
    const ci = new irm.Identity("ci", {
      parent: group,
      name: "ci",
      claimMatch: { issuer: "https://issuer.example.com", subject: pulumi.secret("repo:acme/app") },
    }, { parent: below });
    const custom = new irm.Role("custom", { parent: group, name: "custom", capabilities: ["groups.list", "repo.list"] });
    new irm.RoleBinding("binding", { parent: below, identity: ci, role: "viewer" }, { parent: this });
    new irm.RoleBindingSet("set", {
      parent: group,
      bindings: [{ identity: ci, role: custom }, { identity: ci, role: "editor" }],
    }, { parent: this });
    new irm.GroupInvite("invite", { parent: group, role: "viewer", ttl: "86400s" });
    const people = new irm.IdentityProvider("people", {
      parent: group,
      name: "people",
      defaultRole: "viewer",
      oidc: { issuer: "https://login.example.com", clientId: "c", clientSecret: pulumi.secret("the client's secret") },
    });
    new irm.ExternalGroupRoleMapping("sre", { parent: people, externalGroupId: "sre", role: "viewer", scope: parent });
    new irm.AccountAssociation("clouds", { parent: group, name: "clouds", amazon: { account: "123456789012" } });
    const images = new irm.Repo("images", { parent: group, name: "images" }, { replaceOnChanges: ["name"] });
    new irm.Repo("mirror", { parent: group, name: "mirror", syncConfig: { source: images } });
    new irm.Tag("latest", { parent: images, name: "latest", digest: "${DIGEST}" }, { parent: images });
  }
}
new Team("team");
new irm.AccessPolicy("acme", {
  adopt: "match",
  deleteAdopted: true,
  policy: {
    organization: { uid: parent },
    groups: { platform: { groups: { registry: null } } },
    identities: { release: { in: "platform", github: { repository: "acme/images", branch: "main" } } },
    roles: { publisher: { in: "platform", can: ["tag.create"] } },
    access: { "platform/registry": { publisher: ["release"] } },
  },
});
export const viewer = irm.getRoleOutput({ name: "viewer" }).uid;
`;

const REFRESH_ALWAYS = "options:\n  refresh: always\n";

const [DYNAMIC_PREFIX, NATIVE_PREFIX] = ["pulumi-nodejs:dynamic/irm:", "irm:index:"];
const [DYNAMIC, NATIVE] = ["pulumi-irm", "pulumi-irm/plugin"];

// A native resource has no code in the state, so a dynamic one in its place is updated, to store it.
describe.each([
  { from: DYNAMIC, to: NATIVE, prefixes: [DYNAMIC_PREFIX, NATIVE_PREFIX], stores: "nothing" },
  { from: NATIVE, to: DYNAMIC, prefixes: [NATIVE_PREFIX, DYNAMIC_PREFIX], stores: "its code" },
])("a stack of $from that imports $to", ({ from, to, prefixes: [before = "", after = ""], stores }) => {
  const place = openWorkplace();
  let program: Program;
  beforeAll(async () => {
    // The engine would look for a plugin on the internet.
    const env = { ORG: place.server.organization, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" };
    program = await place.program("moving", source(from), env, { plugin: inject("pluginFolder") });
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });

  const types = () =>
    program.state().resources.flatMap(({ id, type }) => (id === undefined || type.startsWith("pulumi:") ? [] : [type]));

  const isRefused = async (command: string, reason: string, ...options: string[]) => {
    const { code, output } = await program.commandLine.run(command, "--yes", "--skip-preview", ...options);
    expect(code, output).not.toBe(0);
    expect(output).toContain(reason);
  };

  /** Until the up, which needs no plugin itself. With the program, the engine calls the SDK's provider, which has no code to run; the up repairs that too. */
  const isServedByThePlugin = async () => {
    await program.must("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    await program.must("destroy", "--preview-only");
    const file = join(program.folder, "Pulumi.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^plugins:.*/ms, ""));
    await isRefused("destroy", "error: could not load provider for resource");
    await isRefused("destroy", "error: code must be a string, not undefined", "--run-program");
  };

  it(`stores ${stores}, and nothing is sent`, async () => {
    const own = types();
    expect(new Set(own)).toEqual(new Set(KINDS.map((kind) => before + kind)));
    program.write(source(to));
    const only = stores === "nothing" ? ["--expect-no-changes"] : [];
    const preview = await program.commandLine.must("preview", ...only, "--diff");
    expect(preview.output).not.toMatch(/is removed|no longer in the program|warning/);
    const [project, state] = ["Pulumi.yaml", "state.json"].map((name) => join(program.folder, name)) as [
      string,
      string,
    ];
    const ownProject = readFileSync(project, "utf8");
    if (stores !== "nothing") {
      await program.must("stack", "export", "--file", state);
      await isServedByThePlugin();
      // With a refresh, the update needs the plugin too.
      appendFileSync(project, REFRESH_ALWAYS);
      await isRefused("up", "error: code must be a string, not undefined");
      await program.must("stack", "import", "--file", state);
    }
    writeFileSync(project, ownProject.replace("plugins:", `${REFRESH_ALWAYS}plugins:`));
    const { output } = await program.must("up", "--yes", "--skip-preview", ...only);
    expect(output).not.toMatch(/^ {4}[+-]|created|deleted|replaced/m);
    if (stores !== "nothing") expect(output).toContain(`${own.length} updated`);
    expect(await place.writes()).toEqual([]);
    expect(types().toSorted()).toEqual(own.map((type) => type.replace(before, after)).toSorted());
  });

  // The engine saves the whole state for each resource whose inputs differ.
  const inputs = () => program.state().resources.map(({ urn, inputs: own }) => [urn, withoutCiphertext(own)]);

  it("is refreshed without a change, keeps its inputs to the byte, and shows no secret", async () => {
    const before = inputs();
    await program.must("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect(inputs()).toEqual(before);
    expect(await place.writes()).toEqual([]);
    const { text } = program.state();
    expect(text).not.toMatch(/the client's secret|cginvite_|repo:acme\/app"/);
  });

  it("is destroyed, and nothing is left", async () => {
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
    expect(program.state().resources.filter(({ type }) => !type.startsWith("pulumi:"))).toEqual([]);
  });
});

/** As text: the order counts. A secret is encrypted again in each run. */
const withoutCiphertext = (value: unknown): string =>
  JSON.stringify(value)?.replaceAll(/"ciphertext":"[^"]*"/g, '"ciphertext":""');
