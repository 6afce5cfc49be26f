// `irm rehearse` runs the engine against a copy of the organization: what an update would do, without a trace of it.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Rehearsal } from "../../access/rehearsal/report.ts";
import { Report } from "../../access/review/report.ts";
import { rehearsalEngine } from "../../cli/rehearse/engine.ts";
import { createPlace } from "../../cli/rehearse/place.ts";
import { copyStack } from "../../cli/rehearse/stack.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
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

/** The run itself looks for secrets in the folder of the rehearsal. */
const edited = `${first}
import { Role, RoleBinding } from "pulumi-irm";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
const bot = new Identity("bot", { parent: platform, name: "bot", claimMatch: { issuer: "https://issuer.example", subject: "bot" } });
const pusher = new Role("pusher", { parent: platform, name: "pusher", capabilities: ["repo.list", "repo.create"] });
new RoleBinding("bot-pushes", { parent: platform, identity: bot, role: pusher });
const stack = new pulumi.StackReference("organization/dynamic/dev");
new Group("referenced", { parent: platform, name: stack.requireOutput("named") as pulumi.Output<string> });
const fresh = new Other("fresh", "new");
new Group("of-fresh", { parent: platform, name: fresh.id });
if (process.env.IRM_REHEARSAL && !pulumi.runtime.isDryRun()) {
  const folder = dirname(process.env.IRM_REHEARSAL);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map((one) => readFileSync(one.parentPath + "/" + one.name, "latin1"));
  const found = files.filter((_, i) => texts[i]!.includes("${SECRET}") || texts[i]!.includes("${CLIENT_SECRET}")).map(({ name }) => name);
  const held = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE", "PULUMI_ACCESS_TOKEN"].filter((name) => process.env[name]);
  writeFileSync(process.env.FOUND!, JSON.stringify({ files: files.length, found, held }));
}
`;

const refused = `
import { Group, Role } from "pulumi-irm/plugin";
const team = new Group("team", { parent: process.env.ORG!, name: "team" });
new Group("below", { parent: team, name: "below" });
new Role("reader", { parent: process.env.ORG!, name: "reader", capabilities: ["repo.list"] });
`;

describe("irm rehearse", () => {
  let place: Workplace;
  let program: Program;
  let others: string;
  beforeAll(async () => {
    place = await createWorkplace();
    others = join(place.folder, "others");
    const env = { ORG: place.server.organization, KEYS, OTHERS: others, FOUND: join(place.folder, "found.json") };
    program = await place.program("dynamic", first, env);
    await program.must("up", "--yes", "--skip-preview");
  });
  afterAll(() => place.close());

  it("runs the update without a trace: the twin decides as the review, and what is not ours never runs", async () => {
    program.write(edited);
    const settings = join(program.folder, "Pulumi.dev.yaml");
    const kept = [program.state().text, readFileSync(settings, "utf8")];
    const tmp = join(place.folder, "tmp");
    mkdirSync(tmp);
    await place.server.takeRequests();
    const flags = ["review", "--rehearse", "--seal", "seal.json", "--stack", "dev", "--format", "json"];
    const { code, stdout, stderr } = await irmIn(program, flags, { TMPDIR: tmp });
    expect(code, stderr).toBe(3);
    const { rehearsal, identities } = Report.parse(JSON.parse(stdout));
    const { steps, notRehearsed, others: changes, ...rest } = rehearsal as Rehearsal;
    const named = (list: readonly { urn: string; op: string }[]) =>
      list.map(({ urn, op }) => `${op} ${urn.split("::").at(-1)}`).toSorted();
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(named(steps)).toEqual(["create bot", "create bot-pushes", "create pusher", "create referenced"]);
    expect(notRehearsed).toMatchObject([{ why: "it waits for fresh, which another provider changes" }]);
    expect([named(notRehearsed), named(changes)]).toEqual([["create of-fresh"], ["create fresh"]]);
    const row = { groupName: "platform", role: "pusher", uid: null, name: "bot" };
    expect(rest).toMatchObject({
      gains: ["repo.create", "repo.list"].map((capability) => ({ ...row, capability })),
      ...{ losses: [], differences: [], undecided: [], agrees: true, secondPreviewEmpty: true, errors: [] },
    });
    expect(identities[0]?.gains).toEqual(rest.gains.map(({ uid: _, name: _name, ...own }) => own));
    expect(rest.requests).toBeGreaterThan(4);
    const { files, ...found } = JSON.parse(readFileSync(join(place.folder, "found.json"), "utf8"));
    expect(found).toEqual({ found: [], held: [] });
    expect(files).toBeGreaterThan(3);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
    expect([program.state().text, readFileSync(settings, "utf8")]).toEqual(kept);
    expect(readFileSync(others, "utf8")).toBe("created\n");
    expect(readdirSync(tmp).filter((name) => name.startsWith("irm-"))).toEqual([]);
  });

  it("encrypts secrets again that only the backend of the stack could decrypt, and writes none in clear text", async () => {
    program.configure({ "dynamic:plain": "of the settings" });
    await program.commandLine.must("config", "set", "--secret", "dynamic:hidden", SECRET);
    const { env } = program;
    const own = createPlace(env, []);
    try {
      const engine = rehearsalEngine(["pulumi"], new AbortController().signal);
      const original = { name: "dev", cwd: program.folder, env, settings: join(program.folder, "Pulumi.dev.yaml") };
      const target = { project: "dynamic", stack: "dev", reencrypt: true };
      const copied = await copyStack(engine, own, original, target);
      const files = readdirSync(own.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
      const clear = files.filter((one) => readFileSync(join(one.parentPath, one.name), "latin1").includes(SECRET));
      expect(clear.map(({ name }) => name)).toEqual([]);
      expect(readFileSync(copied.settings, "utf8")).toContain("of the settings");
      const read = { cwd: own.projectOf("dynamic"), env: { ...own.env, ...copied.env } };
      expect(await engine.must(["config", "get", "dynamic:hidden", "--stack", "dev"], read)).toBe(`${SECRET}\n`);
      const shown = ["stack", "output", "secret", "--show-secrets", "--stack", "dev"];
      expect(await engine.must(shown, read)).toBe(`${SECRET}\n`);
    } finally {
      own.remove();
    }
  });

  it("prints each refused step with what its identity lacks, and exits with 3", async () => {
    const { organization } = place.server;
    const send = async (path: string, body: object) =>
      (await place.call("POST", `/iam/v2beta1/${path}`, body)).json.uid;
    const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
    const ci = (await send(`identities/${organization}`, { name: "ci", claimMatch })) as string;
    const [viewer] = place.rows("roles", "name = ? AND parent IS NULL", "viewer");
    await send(`roleBindings/${organization}`, { identityUid: ci, roleUid: viewer?.uid });
    const env = { ORG: organization };
    const native = await place.program("native", refused, env, { plugin: inject("pluginFolder") });
    const flags = ["rehearse", "--stack", "dev", "--as", ci, "--rate-limit", "1", "--format", "json"];
    const { code, stdout, stderr } = await irmIn(native, flags);
    expect(code, stderr).toBe(3);
    const { as, steps, requests, seconds, agrees } = JSON.parse(stdout) as Rehearsal;
    expect(as).toEqual({ uid: ci, name: "ci" });
    const at = { group: organization, groupName: "/" };
    const byName = Object.fromEntries(steps.map(({ urn, ...step }) => [urn.split("::").at(-1), step]));
    expect(byName).toMatchObject({
      team: { op: "create", ok: false, missing: { capabilities: ["groups.create"], ...at } },
      reader: { op: "create", ok: false, missing: { capabilities: ["roles.create"], ...at } },
      below: { op: "create", ok: false, error: "it did not run, since team failed" },
    });
    expect(byName.team?.error).toContain(
      `PERMISSION_DENIED: Permission denied: needs groups.create at ${organization}`,
    );
    expect([agrees, seconds]).toEqual([true, requests]);
  });
});
