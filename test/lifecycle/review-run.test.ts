// `irm review` runs the update on a copy of the organization: what it would do, without a trace of it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Change } from "../../access/change/change.ts";
import { Report } from "../../access/review/report.ts";
import { engineWith } from "../../pulumi/command.ts";
import { startCloud } from "../harness/cloud.ts";
import { openWorkplace, type Program } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";

const SECRET = "a very secret text";
const CLIENT_SECRET = "the secret of a client";
/** the service shows them as they are */
const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] }, null, 1);

const first = `
import * as pulumi from "@pulumi/pulumi";
import { Group, Identity, IdentityProvider } from "pulumi-irm";
import { appendFileSync } from "node:fs";
class Other extends pulumi.dynamic.Resource {
  constructor(name: string, text: string) {
    const create = async (inputs: any) => {
      require("node:fs").appendFileSync(inputs.file, "created\\n");
      return { id: "1", outs: inputs };
    };
    super({ create }, name, { text, file: process.env.OTHERS });
  }
}
new Other("other", "stays");
export const named = "of the reference";
export const secret = pulumi.secret("${SECRET}");
const platform = new Group("platform", { parent: process.env.ORG!, name: "platform", description: secret });
const issuer = "https://issuer.example";
new Identity("signer", { parent: platform, name: "signer", staticKeys: { issuer, subject: "signer", issuerKeys: process.env.KEYS! } });
new IdentityProvider("people", { parent: platform, name: "people", defaultRole: "viewer", oidc: { issuer, clientId: "c", clientSecret: "${CLIENT_SECRET}" } });
`;

/** The run itself looks for secrets in the folder of the run. */
const edited = `${first}
import { Role, RoleBinding } from "pulumi-irm";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
const bot = new Identity("bot", { parent: platform, name: "bot", claimMatch: { issuer: "https://issuer.example", subject: "bot" } });
const pusher = new Role("pusher", { parent: platform, name: "pusher", capabilities: ["repo.list", "repo.create"] });
new RoleBinding("bot-pushes", { parent: platform, identity: bot, role: pusher });
const stack = new pulumi.StackReference("organization/dynamic/dev");
new Group("referenced", { parent: platform, name: stack.requireOutput("named") as pulumi.Output<string> });
new Group("hidden", { parent: platform, name: "hidden", description: secret });
const fresh = new Other("fresh", "new");
new Group("of-fresh", { parent: platform, name: fresh.id });
if (process.env.IRM_RUN && !pulumi.runtime.isDryRun()) {
  const folder = dirname(process.env.IRM_RUN);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map((one) => readFileSync(one.parentPath + "/" + one.name, "latin1"));
  const found = files.filter((_, i) => texts[i]!.includes("${SECRET}") || texts[i]!.includes("${CLIENT_SECRET}")).map(({ name }) => name);
  const held = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE", "PULUMI_ACCESS_TOKEN"].filter((name) => process.env[name]);
  writeFileSync(process.env.FOUND!, JSON.stringify({ files: files.length, found, held }));
}
`;

const onCloud = `
import * as pulumi from "@pulumi/pulumi";
import { Group } from "pulumi-irm";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const config = new pulumi.Config();
const parent = process.env.ORG!;
const name = new pulumi.StackReference("elsewhere/network/dev").requireOutput("name") as pulumi.Output<string>;
const description = pulumi.all([config.requireSecret("hidden"), "before"]).apply((texts) => texts.join(" "));
new Group("team", { parent, name, description });
new Group(pulumi.getOrganization(), { parent, name: config.require("name"), description: process.env.FROM_ENVIRONMENT! });
// new new Group("not-targeted", { parent, name: "not-targeted" });
const { IRM_RUN: run } = process.env;
if (run) writeFileSync(process.env.FOUND!, JSON.stringify(readdirSync(join(dirname(run), "journal")).filter((one) => one.endsWith(".jsonl"))));
`;

const deploymentWith = (outputs: object) => {
  const urn = "urn:pulumi:dev::network::pulumi:pulumi:Stack::network-dev";
  const manifest = { time: "2026-01-01T00:00:00Z", magic: "", version: "" };
  return {
    version: 3,
    deployment: { manifest, resources: [{ urn, custom: false, type: "pulumi:pulumi:Stack", outputs }] },
  };
};

const named = (list: readonly { urn: string; op: string }[]) =>
  list.map(({ urn, op }) => `${op} ${urn.split("::").at(-1)}`).toSorted();

const place = openWorkplace();
let program: Program;
let others: string;
beforeAll(async () => {
  others = join(place.folder, "others");
  const env = { ORG: place.server.organization, KEYS, OTHERS: others, FOUND: join(place.folder, "found.json") };
  program = await place.program("dynamic", first, env);
  await program.must("up", "--yes", "--skip-preview");
});

it("the run of a review is without a trace, and what is not ours never runs", async () => {
  program.write(edited);
  const settings = join(program.folder, "Pulumi.dev.yaml");
  const kept = [program.state().text, readFileSync(settings, "utf8")];
  const tmp = join(place.folder, "tmp");
  mkdirSync(tmp);
  await place.server.takeRequests();
  const flags = ["review", "--stack", "dev", "--format", "json", "--out", "change.json"];
  const { code, stdout, stderr } = await irmIn(program, flags, { TMPDIR: tmp });
  expect(code, stderr).toBe(0);
  const change = readFileSync(join(program.folder, "change.json"), "utf8");
  const { writes } = JSON.parse(change) as Change;
  const hidden = { name: "hidden", description: { $secret: true } };
  expect(writes).toContainEqual(expect.objectContaining({ method: "CreateGroup", fields: hidden }));
  const report = Report.parse(JSON.parse(stdout));
  expect(named(report.steps)).toEqual(
    ["bot", "bot-pushes", "hidden", "pusher", "referenced"].map((name) => `create ${name}`),
  );
  expect(named(report.others)).toEqual(["create fresh"]);
  const message = "group of-fresh: it waits for fresh, which another provider changes";
  expect(report).toMatchObject({ errors: [], differs: [], writes: 5, unknown: [{ subject: "of-fresh", message }] });
  const row = { groupName: "platform", role: "pusher" };
  expect(report.identities).toMatchObject([
    {
      uid: null,
      name: "bot",
      change: "created",
      gains: ["repo.create", "repo.list"].map((capability) => ({ ...row, capability })),
    },
  ]);
  const { files, ...found } = JSON.parse(readFileSync(join(place.folder, "found.json"), "utf8"));
  expect(found).toEqual({ found: [], held: [] });
  expect(files).toBeGreaterThan(3);
  expect(stdout + stderr + change).not.toContain(SECRET);
  expect(await place.writes()).toEqual([]);
  expect([program.state().text, readFileSync(settings, "utf8")]).toEqual(kept);
  expect(readFileSync(others, "utf8")).toBe("created\n");
  expect(readdirSync(tmp).filter((name) => name.startsWith("irm-"))).toEqual([]);
});

it("the run of a review on Pulumi Cloud reads there what the update would read, and writes nothing there", async () => {
  const journal = join(place.folder, "cloud-journal");
  const cloud = await startCloud({
    pulumiConfig: { "cloud:name": "of-an-environment", "cloud:hidden": `secret:${SECRET}`, "irm:journal": journal },
    environmentVariables: { FROM_ENVIRONMENT: "variable" },
  });
  try {
    const found = join(place.folder, "cloud-found.json");
    const {
      folder,
      write,
      env: own,
    } = await place.program("cloud", onCloud, { ORG: place.server.organization, FOUND: found });
    writeFileSync(join(folder, "Pulumi.dev.yaml"), "environment: [shared]\n");
    cloud.stacks.set("acme/cloud/dev", { version: 3, deployment: null });
    cloud.stacks.set("elsewhere/network/dev", deploymentWith({ name: "of-another" }));
    const env = { ...own, ...cloud.env };
    const engine = engineWith(["pulumi"]);
    await engine.must(["up", "--yes", "--skip-preview", "--stack", "acme/cloud/dev"], { cwd: folder, env });
    // What a killed run left: its secrets, too, are decrypted by Pulumi Cloud alone.
    const stored = cloud.stacks.get("acme/cloud/dev") as {
      deployment: { resources: { urn: string }[]; pending_operations: unknown };
    };
    const resource = stored.deployment.resources.find(({ urn }) => urn.endsWith("::team"));
    stored.deployment.pending_operations = [{ resource, type: "updating" }];
    const kept = structuredClone(cloud.stacks);
    write(onCloud.replace('"before"', '"after"').replace("// new", ""));
    await place.server.takeRequests();
    cloud.takeRequests();
    const flags = ["review", "--stack", "acme/cloud/dev", "--format", "json", "--", "--target", "**::team"];
    const { code, stdout, stderr } = await irmIn({ folder, env }, flags);
    expect(code, stderr).toBe(0);
    const { steps, errors } = Report.parse(JSON.parse(stdout));
    expect({ steps: named(steps), errors }).toEqual({ steps: ["update team"], errors: [] });
    // Of the run, one journal, which it has found.
    expect(JSON.parse(readFileSync(found, "utf8"))).toEqual([expect.stringMatching(/^acme\.cloud\.dev\./)]);
    const requests = cloud.takeRequests();
    const ofRun = requests.slice(requests.findIndex((one) => one.endsWith("/complete")) + 1);
    expect(ofRun.filter((one) => !/^GET |crypt$|\/yaml\/(open|check)$/.test(one))).toEqual([]);
    expect(cloud.stacks).toEqual(kept);
    expect(JSON.stringify([...kept.values()]) + stdout + stderr).not.toContain(SECRET);
    expect(await place.writes()).toEqual([]);
  } finally {
    cloud.close();
  }
});
