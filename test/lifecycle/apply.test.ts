// `irm apply`: the writes that were reviewed reach the service, and no others, whatever the program does.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { createWorkplace, openWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { formsOf } from "../support/form.ts";

const claims = (subject: string) => `claimMatch: { issuer: "https://issuer.example", subject: "${subject}" }`;

/** `isApplied`: this run is the one that reaches the service. A review and the preview of an apply look the same to the program. */
const source = (module: string, resources = "", head = "") => `
import { readFileSync, writeFileSync } from "node:fs";
import { isDryRun } from "@pulumi/pulumi/runtime/index.js";
import { Group, Identity, Role, RoleBinding, RoleBindingSet } from "${module}";
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

const commandsOf = (place: Workplace, program: Program) => {
  const irm = (...args: string[]) => irmIn(program, args);
  const writes = async (): Promise<string[]> =>
    (await place.writes()).map(({ operation, status }) => `${operation} ${status}`);
  return {
    writes,
    review: async (): Promise<void> => {
      await place.server.takeRequests();
      const { code, stderr } = await irm("review", "--stack", "dev", "--out", "change.json");
      expect(code, stderr).toBe(0);
      expect(await writes()).toEqual([]);
    },
    apply: async (...flags: string[]) => {
      const { code, stdout, stderr } = await irm("apply", "change.json", "--yes", "--format", "json", ...flags);
      return { code, stderr, report: (stdout === "" ? {} : JSON.parse(stdout)) as Report };
    },
    uidOf: (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string,
  };
};

it.each(formsOf("pulumi-irm", "pulumi-irm/plugin"))(
  "a reviewed change of %s is applied, and a program that does more is refused what it adds",
  async (module) => {
    const place = await createWorkplace();
    try {
      // A program sees the variables of its own process alone.
      const form = module === "pulumi-irm" ? {} : { plugin: inject("pluginFolder") };
      const options = { ownProcess: true, ...form };
      const program = await place.program("access", source(module), { ORG: place.server.organization }, options);
      const { review, apply, writes, uidOf } = commandsOf(place, program);
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
    } finally {
      await place.close();
    }
  },
);

// The command decides the rest, whatever the form is.
describe("a reviewed change", () => {
  const module = "pulumi-irm/plugin";
  const views = `new RoleBinding("bot-views", { parent: org, identity: bot, role: "viewer" });`;
  const place = openWorkplace();
  const other = openWorkplace();
  let program: Program;
  beforeAll(async () => {
    const second = { SECOND_TOKEN: other.server.token, IRM_ALLOW_TOKEN_SOURCES: "SECOND_TOKEN" };
    const own = { ORG: place.server.organization, ...second };
    program = await place.program("access", source(module), own, { plugin: inject("pluginFolder") });
    await program.must("up", "--yes", "--skip-preview");
  });

  it("stops where the digest or the program is another one, and is applied once", async () => {
    const { review, apply, writes, uidOf } = commandsOf(place, program);
    const lab = await place.create(`groups/${place.server.organization}`, { name: "lab" });
    const guest = await place.create(`identities/${lab}`, {
      name: "guest",
      claimMatch: { issuer: "https://issuer.example", subject: "guest" },
    });
    const [viewer] = place.rows("roles", "name = 'viewer' AND parent IS NULL");
    await place.create(`roleBindings/${lab}`, { identityUid: guest, roleUid: viewer?.uid });
    const edited = `${views}
new RoleBindingSet("lab", { parent: "${lab}", exclusive: true, bindings: [{ identity: bot, role: "viewer" }] });
new Identity("second", { parent: team, name: "second", description: "\${1.uid}", ${claims("second")} });`;
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
    expect(await writes()).toEqual([]);

    // An edit by hand of what decides none of this access does not matter.
    program.write(source(module, edited));
    await place.call("POST", `/iam/v2beta1/groups/${place.server.organization}`, { name: "elsewhere" });
    const { code, report, stderr } = await apply("--digest", change.digest);
    expect(code, stderr).toBe(0);
    // The binding of the guest, which the first update of the set finds, is not part of the change.
    expect(report).toMatchObject({ applied: 3, refused: [], missing: 0 });
    expect(place.rows("identities", "name = 'second'")[0]?.body.description).toBe("$".concat("{1.uid}"));

    const [bound] = place.rows("role_bindings", "role_uid = ?", uidOf("roles", "pusher"));
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${bound?.uid}`);
    const removed = await apply();
    expect(removed.code).toBe(3);
    expect(removed.stderr).toContain("change.json is not the change that would be applied now:");
    expect(removed.stderr).toMatch(/the change was applied at .*, and something has changed since/);
  });

  it("reaches each of two services through its own gate, and drift of both is repaired in the same way", async () => {
    const { baseUrl, authUrl, organization } = other.server;
    const twoIrm = async (...args: string[]) => {
      const flags = ["--stack", "dev", "--service", `${baseUrl}=SECOND_TOKEN`];
      const { code, stdout, stderr } = await irmIn(program, [...args, ...flags]);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const there = `
const provider = new Provider("second", ${JSON.stringify({ baseUrl, authUrl, tokenEnv: "SECOND_TOKEN" })});
const away = new Group("away", { parent: "${organization}", name: "away" }, { provider });
new Role("reads", { parent: away, name: "reads", capabilities: ["repo.list"] }, { provider });`;
    program.write(source(module, `${views}${there}`, `import { Provider } from "${module}";`));
    await twoIrm("review", "--out", "change.json");
    const report = JSON.parse(await twoIrm("apply", "change.json", "--yes", "--format", "json"));
    // The binding that is gone comes back; the second identity and the set go. The token of the second service cannot be exchanged.
    expect(report).toMatchObject({ applied: 5, refused: [], missing: 0, narrowed: false });

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
  });
});
