// `irm apply`: the writes that were reviewed reach the service, and no others, whatever the program does.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { digestOf } from "../../access/canonical.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";

const claims = (subject: string) => `claimMatch: { issuer: "https://issuer.example", subject: "${subject}" }`;

/** `isApplied`: this run is the one that reaches the service. A review and the preview of an apply look the same to the program. */
const source = (module: string, resources = "", head = "") => `
import { readFileSync, writeFileSync } from "node:fs";
import { isDryRun } from "@pulumi/pulumi/runtime/index.js";
import { Group, Identity, Role, RoleBinding } from "${module}";
const org = process.env.ORG;
const run = process.env.IRM_RUN ? JSON.parse(readFileSync(process.env.IRM_RUN, "utf8")) : { services: [] };
const isApplied = run.kind === "apply" && !isDryRun();
${head}
const team = new Group("team", { parent: org, name: "team" });
const bot = new Identity("bot", { parent: team, name: "bot", ${claims("bot")} });
const pusher = new Role("pusher", { parent: team, name: "pusher", capabilities: ["repo.list", "repo.create"] });
new RoleBinding("bot-pushes", { parent: team, identity: bot, role: pusher });
${resources}
`;

interface Report {
  applied: number;
  refused: { method: string; message: string }[];
  missing: number;
  tokens: object[];
  narrowed: boolean;
}

describe.each([["pulumi-irm"], ["pulumi-irm/plugin"]])("a reviewed change of %s", (module) => {
  let place: Workplace;
  let program: Program;
  beforeAll(async () => {
    place = await createWorkplace();
    // A program sees the variables of its own process alone.
    const options =
      module === "pulumi-irm" ? { ownProcess: true } : { ownProcess: true, plugin: inject("pluginFolder") };
    program = await place.program("access", source(module), { ORG: place.server.organization }, options);
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  const irm = (...args: string[]) => irmIn(program, args);
  const review = async (): Promise<void> => {
    await place.server.takeRequests();
    const { code, stderr } = await irm("review", "--stack", "dev", "--out", "change.json");
    expect(code, stderr).toBe(0);
    expect(await writes()).toEqual([]);
  };
  const apply = async (...flags: string[]) => {
    const { code, stdout, stderr } = await irm("apply", "change.json", "--yes", "--format", "json", ...flags);
    return { code, stderr, report: (stdout === "" ? {} : JSON.parse(stdout)) as Report };
  };
  const writes = async (): Promise<string[]> =>
    writesOf(await place.server.takeRequests()).map(({ operation, status }) => `${operation} ${status}`);
  const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string;

  it("is applied; a program that does more is refused what it adds", async () => {
    await review();
    program.write(
      source(
        module,
        `if (isApplied) new RoleBinding("grab", { parent: org, identity: bot, role: "owner" });`,
        `if (isApplied) {
  const held = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE"].filter((name) => process.env[name]);
  const statusOf = async (at) => {
    const { token, [at]: base } = run.services[0];
    const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
    const body = JSON.stringify({ name: "stolen" });
    return (await fetch(base + "/iam/v2beta1/groups/" + org, { method: "POST", headers, body })).status;
  };
  writeFileSync("seen.json", JSON.stringify([...held, await statusOf("url"), await statusOf("address")]));
}`,
      ),
    );
    const { code, report, stderr } = await apply();
    expect(code, stderr).toBe(3);
    expect(report).toMatchObject({ applied: 4, missing: 0, narrowed: true });
    expect(report.refused.map(({ method }) => method).toSorted()).toEqual(["CreateGroup", "CreateRoleBinding"]);
    expect(stderr).toContain("it is not in the change");
    // Its bearer is for the gate alone, which refuses what the change has not.
    expect(JSON.parse(readFileSync(join(program.folder, "seen.json"), "utf8"))).toEqual([403, 401]);
    const sent = [
      "CreateGroup 200",
      "CreateGroup 401",
      "CreateIdentity 200",
      "CreateRole 200",
      "CreateRoleBinding 200",
    ];
    expect((await writes()).toSorted()).toEqual(sent);
    expect(uidOf("groups", "stolen")).toBeUndefined();
  });

  // The rest is decided by the command, whatever the form is.
  if (module === "pulumi-irm") return;

  it("is applied once", async () => {
    program.write(source(module));
    const again = await apply();
    expect(again.code, again.stderr).toBe(0);
    expect(again.report).toMatchObject({ applied: 0, refused: [], missing: 0 });
    await place.call(
      "DELETE",
      `/iam/v2beta1/roleBindings/${place.rows("role_bindings", "identity_uid = ?", uidOf("identities", "bot"))[0]?.uid}`,
    );
    const removed = await apply();
    expect(removed.code).toBe(3);
    expect(removed.stderr).toContain("change.json is not the change that would be applied now:");
    expect(removed.stderr).toMatch(/the change was applied at .*, and something has changed since/);
    await review();
    expect((await apply()).report).toMatchObject({ applied: 1, refused: [], missing: 0 });
    await writes();
  });

  it("stops where the program, the digest or the service is another one", async () => {
    const edited = `new Identity("second", { parent: team, name: "second", description: "\${1.uid}", ${claims("second")} });`;
    program.write(source(module, edited));
    await review();
    const change = JSON.parse(readFileSync(join(program.folder, "change.json"), "utf8"));
    const digest = await apply("--digest", `sha256:${"0".repeat(64)}`);
    expect(digest.code).toBe(3);
    expect(digest.stderr).toContain(`has the digest ${change.digest}, and sha256:000`);
    program.write(source(module, `${edited}\nnew RoleBinding("owns", { parent: org, identity: bot, role: "owner" });`));
    const other = await apply();
    expect(other.code).toBe(3);
    expect(other.stderr).toMatch(/bot.*role_bindings\.create/s);
    program.write(source(module, edited));
    // A file that says less, with a digest that fits: more would be applied than it shows.
    const { digest: _, ...forged } = { ...change, writes: [], rows: [], after: [], before: [] };
    writeFileSync(join(program.folder, "change.json"), JSON.stringify({ ...forged, digest: digestOf(forged) }));
    expect((await apply()).code).toBe(3);
    writeFileSync(join(program.folder, "change.json"), JSON.stringify(change));
    program.configure({ "irm:baseUrl": "http://127.0.0.1:1" });
    const moved = await apply();
    expect(moved.code, moved.stderr).toBe(1);
    expect(moved.stderr).toContain("differs from");
    program.configure({});
    expect(await writes()).toEqual([]);
    const { code, report, stderr } = await apply("--digest", change.digest);
    expect(code, stderr).toBe(0);
    expect(report.applied).toBe(1);
    expect(place.rows("identities", "name = 'second'")[0]?.body.description).toBe("$".concat("{1.uid}"));
  });

  it("stops where somebody has changed what it rests on, and goes on after another edit", async () => {
    program.write(source(module, `new RoleBinding("bot-views", { parent: org, identity: bot, role: "viewer" });`));
    await review();
    const role = uidOf("roles", "pusher");
    const give = (capabilities: string[]) =>
      place.call("PATCH", `/iam/v2beta1/roles/${role}?updateMask=capabilities`, { capabilities });
    await give(["CAP_REPO_LIST", "CAP_REPO_CREATE", "CAP_REPO_DELETE"]);
    const stopped = await apply();
    expect(stopped.code, stopped.stderr).toBe(3);
    await give(["CAP_REPO_LIST", "CAP_REPO_CREATE"]);
    await place.call("POST", `/iam/v2beta1/groups/${place.server.organization}`, { name: "elsewhere" });
    const { code, report, stderr } = await apply();
    expect(code, stderr).toBe(0);
    // The identity of the last program goes.
    expect(report).toMatchObject({ applied: 2, refused: [], missing: 0 });
  });

  it("reaches each of two services through its own gate, and drift of both is repaired in the same way", async () => {
    const other = await createWorkplace();
    try {
      const { baseUrl, authUrl, token, organization } = other.server;
      const own = { SECOND_TOKEN: token, IRM_ALLOW_TOKEN_SOURCES: "SECOND_TOKEN" };
      const twoIrm = async (...args: string[]) => {
        const flags = ["--stack", "dev", "--service", `${baseUrl}=SECOND_TOKEN`];
        const { code, stdout, stderr } = await irmIn(program, [...args, ...flags], own);
        expect(code, stderr).toBe(0);
        return stdout;
      };
      const there = `
const provider = new Provider("second", ${JSON.stringify({ baseUrl, authUrl, tokenEnv: "SECOND_TOKEN" })});
const away = new Group("away", { parent: "${organization}", name: "away" }, { provider });
new Role("reads", { parent: away, name: "reads", capabilities: ["repo.list"] }, { provider });`;
      program.write(source(module, there, `import { Provider } from "${module}";`));
      await twoIrm("review", "--out", "change.json");
      const report = JSON.parse(await twoIrm("apply", "change.json", "--yes", "--format", "json"));
      // The binding of the last program goes. The token of the second service cannot be exchanged.
      expect(report).toMatchObject({ applied: 3, refused: [], missing: 0, narrowed: false });

      const rolesOf = (at: Workplace, name: string) => at.rows("roles", "name = ?", name)[0];
      const capabilities = ["CAP_REPO_LIST", "CAP_REPO_DELETE"];
      for (const [at, name] of [
        [place, "pusher"],
        [other, "reads"],
      ] as const)
        await at.call("PATCH", `/iam/v2beta1/roles/${rolesOf(at, name)?.uid}?updateMask=capabilities`, {
          capabilities,
        });
      const repaired = JSON.parse(await twoIrm("drift", "--repair", "--yes", "--format", "json"));
      expect(repaired).toMatchObject({ applied: 2, refused: [], missing: 0 });
      // Capabilities are a set.
      expect(rolesOf(place, "pusher")?.body.capabilities).toEqual(["CAP_REPO_CREATE", "CAP_REPO_LIST"]);
      expect(rolesOf(other, "reads")?.body.capabilities).toEqual(["CAP_REPO_LIST"]);
      expect(JSON.parse(await twoIrm("drift", "--repair", "--yes", "--format", "json"))).toMatchObject({ applied: 0 });
    } finally {
      await other.close();
    }
  });
});
