// `irm export --from-tfstate` at a real server: what is taken over from a state of Terraform, and what stays with it.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { IAM, serve } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { requestsOf, serveSignedIn, signIn } from "../harness/signed-in.ts";
import { createManaged, SECRETS } from "../harness/terraform-state.ts";
import { runIrm, usageError } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const api = await serveSignedIn();
const viewer = await api.role("viewer");
const made = await createManaged(api, { organization: api.organization, viewer, nowMs: api.clock.today() });
folder.write("pulled.json", made.pulled);
folder.write("shown.json", made.shown);

const take = (state: string, ...flags: string[]) => runIrm("export", "--from-tfstate", folder.path(state), ...flags);
const uid = (address: string): string => made.uids.get(address) as string;

interface PulledResource {
  module?: string;
  mode: string;
  type: string;
  name: string;
  provider: string;
  instances: { index_key?: string | number; attributes: Record<string, unknown>; [name: string]: unknown }[];
}
const pulledWith = (name: string, change: (resources: PulledResource[]) => PulledResource[]): string => {
  const state = JSON.parse(made.pulled);
  folder.write(name, JSON.stringify({ ...state, resources: change(state.resources) }));
  return name;
};
const NEEDS_UIDS = "--out FOLDER also writes adopt.json: without that file the program creates these records again\n";
const resource = (type: string, name: string, attributes: Record<string, unknown>, more = {}): PulledResource => ({
  mode: "managed",
  type,
  name,
  provider: 'provider["registry.terraform.io/chainguard-dev/chainguard"]',
  instances: [{ attributes, ...more }],
});

test("writes exactly what Terraform manages, the same for both forms of a state, and sends only a few reads", async () => {
  await createUid(api, "groups", uid("chainguard_group.platform"), { name: "made by hand" });
  api.log.length = 0;
  const { code, stdout, stderr } = await take("pulled.json");
  expect(code, stderr).toBe(0);
  const requests = requestsOf(api);
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(requests.length).toBeLessThanOrEqual(10);
  // What Terraform does not manage is named by its uid.
  expect(stdout).toContain(`parent: "${api.organization}"`);
  expect(stdout).toContain("...githubActions({");
  expect(stdout).not.toContain("made by hand");
  expect(stderr).toBe(
    `ignored: 1 resource of another provider, 2 data sources\nhandover.md has the commands for Terraform: give --out FOLDER\n${NEEDS_UIDS}`,
  );
  expect((await take("shown.json")).stdout).toBe(stdout);
});

test("--out writes a project and handover.md, and no secret of the state is in any of them", async () => {
  const { code, stderr } = await take("pulled.json", "--out", folder.path("whole"));
  expect(code, stderr).toBe(0);
  expect(readdirSync(folder.path("whole")).sort()).toEqual([
    ...["Pulumi.yaml", "adopt.json", "handover.md", "index.ts", "package.json", "tsconfig.json"],
  ]);
  const { resources } = JSON.parse(readFileSync(folder.path("whole/adopt.json"), "utf8"));
  expect(Object.values(resources).sort()).toEqual([...made.uids.values()].sort());
  const texts = readdirSync(folder.path("whole")).map((name) => readFileSync(folder.path(`whole/${name}`), "utf8"));
  for (const secret of SECRETS) {
    expect(made.pulled).toContain(secret);
    expect(`${texts.join()}${stderr}`).not.toContain(secret);
  }
  const handover = readFileSync(folder.path("whole/handover.md"), "utf8");
  // One block for each resource, however many instances it has.
  expect(handover.match(/^ {2}from = .*$/gm)).toEqual(
    [
      ...["chainguard_account_associations.accounts", "chainguard_group.platform", "chainguard_group.team"],
      ...["chainguard_group_invite.ann", "chainguard_identity.cloud", "chainguard_identity.keys"],
      ...["chainguard_identity.service", "chainguard_identity_provider.sso", "chainguard_role.publisher"],
      ...["chainguard_rolebinding.cloud", "chainguard_rolebinding.release"],
      "module.workflow.chainguard_identity.this",
    ].map((from) => `  from = ${from}`),
  );
  expect(handover).toContain(String.raw`  'chainguard_group.team["it'\''s \"odd\""]' \
  'chainguard_group.team["registry"]' \
`);
  expect(handover).toContain("- `terraform_data.elsewhere`: `chainguard_group.platform`\n");
  // Pulumi adopts before Terraform forgets. test/access/export/terraform/state.test.ts has the whole.
  expect(handover.match(/^## .*$/gm)).toEqual([
    "## 1. Terraform has nothing to change",
    "## 2. Pulumi adopts the records",
    "## 3. Pulumi gets the secrets",
    "## 4. Terraform forgets the records",
    "## 5. Verify",
  ]);
});

test.each([
  ["yaml", "access.yaml"],
  ["python", "__main__.py"],
  ["pulumi-yaml", "Pulumi.yaml"],
])("--format %s writes %s and handover.md too", async (format, program) => {
  const { code, stderr } = await take("pulled.json", "--format", format, "--out", folder.path(format));
  // A program in YAML leaves the identity provider with Terraform, since it cannot ask for its secret.
  expect(code, stderr).toBe(format === "pulumi-yaml" ? 3 : 0);
  expect(readdirSync(folder.path(format))).toEqual(expect.arrayContaining([program, "handover.md"]));
  const handover = readFileSync(folder.path(`${format}/handover.md`), "utf8");
  expect(handover.includes("from = chainguard_identity_provider.sso")).toBe(format !== "pulumi-yaml");
});

test("names what is gone or may not be read, by address and uid, and exits with 3", async () => {
  const other = await serve();
  const nowMs = other.clock.today();
  const own = await createManaged(other, {
    ...{ organization: other.organization, viewer: await other.role("viewer"), nowMs },
  });
  const at = (address: string) => own.uids.get(address) as string;
  const [cloud, binding] = ["chainguard_identity.cloud[0]", "chainguard_rolebinding.cloud[0]"];
  await other.ok("DELETE", `${IAM}/roleBindings/${at(binding)}`);
  const reader = await other.actor("reader", { role: "viewer", at: at("chainguard_group.platform") });
  signIn(other, reader.token);
  const out = folder.path("differs");
  const state = folder.write("differs.json", own.pulled);
  const { code, stderr } = await runIrm("export", "--from-tfstate", state, "--out", out);
  expect(code).toBe(3);
  expect(stderr.split("\n")).toEqual(
    expect.arrayContaining([
      `gone: ${binding} (role binding ${at(binding)}): it does not exist any more`,
      `stays with Terraform: ${cloud} (identity ${at(cloud)}): you may not read it`,
    ]),
  );
  const handover = readFileSync(`${out}/handover.md`, "utf8");
  // The removed block of a resource names all its instances, and one of these stays.
  expect(handover).not.toContain("from = chainguard_identity.cloud\n");
  expect(handover).toContain("from = chainguard_rolebinding.cloud\n");
  expect(handover).toContain("## 2. Decide\n");
  expect(handover).toContain("terraform state rm \\\n  'chainguard_rolebinding.cloud[0]'\n");
});

test("repos and tags are adopted, and the readme of a repo is named", async () => {
  const { organization } = api;
  const catalogTier = "CATALOG_TIER_BASE";
  const repo = await createUid(api, "repos", organization, { name: "nginx", bundles: ["base"], catalogTier });
  const mirror = await createUid(api, "repos", organization, { name: "mirror", sync_config: { source: repo } });
  const tag = await createUid(api, "tags", repo, { name: "latest-20260101" });
  const sync = { source: "dev/nginx", google: null, amazon: null, azure: null, expiration: null, unique_tags: false };
  const nginx = { name: "nginx", bundles: ["base"], tier: "BASE", readme: "# nginx", sync_config: null };
  const mirrored = { name: "mirror", bundles: null, tier: null, readme: null, sync_config: sync };
  const latest = { name: "latest-20260101", bundles: null, deprecated: false, digest: "sha256:0" };
  const state = pulledWith("repos.json", () => [
    resource("chainguard_image_repo", "nginx", { id: repo, ...nginx }),
    resource("chainguard_image_repo", "mirror", { id: mirror, ...mirrored }),
    resource("chainguard_image_tag", "latest", { id: tag, ...latest }),
  ]);
  const { code, stdout, stderr } = await take(state);
  expect(stderr).toMatch(
    new RegExp(
      String.raw`^not declared: chainguard_image_repo\.nginx \(repo ${repo}\): its readme stays as it is\nhandover`,
    ),
  );
  expect(code).toBe(3);
  expect(stdout.match(/^(const \w+ = )?new (Repo|Tag)/gm)).toHaveLength(3);
});

test("names what it does not adopt, and why", async () => {
  const { organization } = api;
  const group = uid("chainguard_group.platform");
  const [platform, TAINTED] = [{ id: group, name: "platform" }, { status: "tainted" }];
  const binding = { group, identity: uid("chainguard_identity.cloud[1]"), role: viewer };
  const twin = await createUid(api, "roleBindings", group, { identityUid: binding.identity, roleUid: viewer });
  const state = pulledWith("kept.json", (resources) => [
    ...resources.filter(({ name, type }) => type === "chainguard_rolebinding" && name === "cloud"),
    resource("chainguard_rolebinding", "twin", { id: twin, ...binding }),
    resource("chainguard_subscription", "events", { id: `${organization}/${"5".repeat(16)}`, sink: "https://s" }),
    resource("chainguard_group", "odd", { id: "../identities" }),
    resource("chainguard_group", "flat", {}, { attributes: undefined, attributes_flat: { id: group } }),
    resource("chainguard_group", "old", platform, { deposed: "0123abcd" }),
    resource("chainguard_group", "platform", { ...platform, description: "Builds what others stand on" }, TAINTED),
    { ...resource("google", "p", { id: "p" }), provider: 'provider["registry.terraform.io/hashicorp/google"]' },
  ]);
  const { code, stderr } = await take(state);
  expect(code).toBe(3);
  expect(stderr).toBe(
    [
      `stays with Terraform: chainguard_rolebinding.twin (role binding ${twin}): grants the same as another role binding of its group`,
      "stays with Terraform: chainguard_subscription.events: no resource of this package stands for it",
      "stays with Terraform: chainguard_group.odd: its id is not a uid",
      "stays with Terraform: chainguard_group.flat: its attributes cannot be read",
      `stays with Terraform: chainguard_group.old (group ${group}): it is deposed: Terraform has replaced it and would delete it next`,
      `tainted: chainguard_group.platform (group ${group}): Terraform would have replaced it`,
      "ignored: 1 resource of another provider",
      "handover.md has the commands for Terraform: give --out FOLDER",
      NEEDS_UIDS,
    ].join("\n"),
  );
});

test("adopts organizations too, also several, which a policy cannot", async () => {
  const beside = await createUid(api, "groups", "", { name: "beside" });
  vi.stubEnv("IRM_TOKEN", await api.token(api.owner.uid, { subject: "owner" }));
  const team = await createUid(api, "groups", api.organization, { name: "a team" });
  const { name, description } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
  const state = pulledWith("organizations.json", () => [
    resource("chainguard_group", "own", { id: api.organization, name, description, kind: null }),
    resource("chainguard_group", "beside", { id: beside, name: "beside", description: null, kind: null }),
    resource("chainguard_group", "team", { id: team, name: "a team", description: null, kind: null }),
  ]);
  const { code, stdout, stderr } = await take(state);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("// What Terraform manages, written by irm export.\n");
  expect(stdout.match(/root: true/g)).toHaveLength(2);
  expect(stdout).toContain('new Group("a-team", { parent: devGroup,');
  expect(await take(state, "--format", "yaml", "--out", folder.path("several"))).toEqual(
    usageError(
      "irm export",
      "--format yaml: a policy is of one organization, and these records are in none or in several",
    ),
  );
});

test("asks whether it is the right service where nothing exists", async () => {
  const id = `${api.organization}/${"f".repeat(16)}`;
  const state = pulledWith("elsewhere.json", () => [resource("chainguard_group", "team", { id, name: "team" })]);
  const { code, stderr } = await take(state);
  expect(code).toBe(3);
  expect(stderr).toContain(
    `gone: chainguard_group.team (group ${id}): it does not exist any more\nNone of these records exists: is IRM_BASE_URL the service of this state?\n`,
  );
});

// test/access/export/terraform/state.test.ts has the other texts that are none.
test("refuses a text of others, quotes nothing of it, and writes nothing", async () => {
  const state = folder.write("wrong.json", `resource "x" { token = "s3cret" }`);
  const out = folder.path("refused");
  const { code, stdout, stderr } = await runIrm("export", "--from-tfstate", state, "--out", out);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^irm export: .*\n$/);
  expect(stderr).toContain(`${state} is not JSON.`);
  expect(stderr).not.toContain("s3cret");
  expect(readdirSync(folder.path("."))).not.toContain("refused");
});
