// `irm review --policy`: a policy file against the API, and against a stack.
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Report } from "../../access/review/report.ts";
import { startServer } from "../harness/api-server.ts";
import { createPullToken } from "../harness/pull-token.ts";
import { createUid } from "../harness/records.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const folder = temporaryFolder();
const api = await startServer();
afterAll(async () => {
  await api.close();
  folder.remove();
});
beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
});
afterEach(() => vi.unstubAllEnvs());

const { write } = folder;

const policy = (access: string) =>
  write(
    "access.yaml",
    `organization: { uid: "${api.organization}" }
groups: { team: {} }
identities:
  next: { in: team, github: { repository: acme/images, branch: main } }
access: ${access}
`,
  );

test("compares the file with the API, and claims no loss of what it does not declare", async () => {
  const file = policy("{ team: { viewer: [next] } }");
  const { stdout } = await runIrm("review", "--policy", file, "--format", "json");
  const { identities, findings, undeclared } = Report.parse(JSON.parse(stdout));
  expect(identities.map(({ name, change }) => [name, change])).toEqual([["next", "created"]]);
  expect(findings.map(({ rule }) => rule)).not.toContain("last-owner-goes");
  expect(undeclared).toContainEqual(expect.objectContaining({ identity: api.owner.uid, role: "owner" }));
});

test("refuses a default role of people, as irm check does", async () => {
  const file = write("people.yaml", "organization: acme\npeople: { sso: { defaultRole: owner } }\n");
  const { code, stderr } = await runIrm("review", "--policy", file);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("people.sso.defaultRole: AccessPolicy changes no identity provider"),
  });
});

test("--exclusive: what the API holds and the file lacks is removed", async () => {
  const file = policy("{ team: { viewer: [next] } }");
  const flags = ["--policy", file, "--exclusive", "--format", "json"];
  const { code, stdout, stderr } = await runIrm("review", ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { source, identities, findings } = Report.parse(JSON.parse(stdout));
  expect(source).toBe("policy");
  const next = identities.find(({ name }) => name === "next");
  expect(next).toMatchObject({ uid: null, groupName: "team", change: "created", losses: [] });
  expect(next?.gains).toContainEqual({ group: null, groupName: "team", capability: "groups.list", role: "viewer" });
  expect(identities.find(({ uid }) => uid === api.owner.uid)).toMatchObject({ change: "deleted", gains: [] });
  expect(findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["last-owner-goes", api.organization]);
});

test("names the pull tokens that an exclusive policy would remove, in each format", async () => {
  const { uid, expires } = await createPullToken(api, { name: "cluster", group: api.organization });
  const file = policy("{ team: { viewer: [next] } }");
  const reviewed = async (...flags: string[]) => (await runIrm("review", "--policy", file, ...flags)).stdout;
  const { pullTokens } = Report.parse(JSON.parse(await reviewed("--exclusive", "--format", "json")));
  expect(pullTokens).toMatchObject([{ uid, name: "cluster", role: "registry.pull", groupName: "/", expires }]);
  expect(Report.parse(JSON.parse(await reviewed("--format", "json"))).pullTokens).toEqual([]);
  const text = (await reviewed("--exclusive")).replaceAll(/\s+/g, " ");
  expect(text).toMatch(/Pull tokens that lose a role - cluster is registry\.pull at \/; \d+ days old, not used yet, e/);
  expect(await reviewed("--exclusive", "--format", "markdown")).toMatch(
    /Pull tokens that lose a role.*- `cluster` is `registry\.pull` at `\/`; \d+ days old, not used yet, e/s,
  );
  expect(await reviewed("--exclusive", "--format", "html")).toContain(
    "<bdi>cluster</bdi> is <bdi>registry.pull</bdi> at <bdi>/</bdi>",
  );
});

test("takes records by the uids beside the policy, so two of one name are no obstacle", async () => {
  const team = await createUid(api, "groups", api.organization, { name: "twins" });
  const claimMatch = { issuer: "https://issuer.example.com", subject: "next" };
  const uids = [];
  for (const name of ["next", "next"]) uids.push(await createUid(api, "identities", team, { name, claimMatch }));
  const file = write(
    "twins/access.yaml",
    `organization: { uid: "${api.organization}" }
groups: { twins: {} }
identities: { next: { in: twins, claimMatch: { issuer: "https://issuer.example.com", subject: next } } }
access: { twins: { viewer: [next] } }
`,
  );
  const byName = await runIrm("review", "--policy", file, "--format", "json");
  expect(byName.code).toBe(1);
  expect(byName.stderr).toContain(`the API has 2 identities of this name: ${uids.join(", ")}`);
  write("twins/adopt.json", JSON.stringify({ identities: { next: uids[1] } }));
  const { stdout, stderr } = await runIrm("review", "--policy", file, "--format", "json");
  expect(stderr).toBe("");
  const { identities } = Report.parse(JSON.parse(stdout));
  expect(identities).toMatchObject([{ uid: uids[1], change: "none", losses: [] }]);
  write("twins/adopt.json", JSON.stringify({ identities: { next: "none" }, people: {} }));
  const wrong = await runIrm("review", "--policy", file);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("twins/adopt.json: people: there is no such section");
  expect(wrong.stderr).toContain("twins/adopt.json: identities.next: must be a uid");
});

describe("with a stack, and a key that the stack has no record for", async () => {
  const team = await createUid(api, "groups", api.organization, { name: "taken" });
  const held = await createUid(api, "identities", team, {
    name: "held",
    claimMatch: { issuer: "https://issuer.example.com", subject: "held" },
  });
  const roleUid = await api.role("owner");
  // Somebody made it by hand: no stack has it.
  const breakGlass = await createUid(api, "identities", team, {
    name: "break-glass",
    claimMatch: { issuer: "https://issuer.example.com", subject: "break-glass" },
  });
  await createUid(api, "roleBindings", api.organization, { identityUid: breakGlass, roleUid });

  const component = "urn:pulumi:prod::access::irm:index:AccessPolicy::acme";
  const resource = (type: string, name: string, id: string) => ({
    ...{ urn: `urn:pulumi:prod::access::irm:index:AccessPolicy$irm:index:${type}::${name}`, id },
    ...{ type: `irm:index:${type}`, parent: component, inputs: {}, outputs: {} },
  });
  const resources = [
    { urn: component, type: "irm:index:AccessPolicy", outputs: { organization: api.organization } },
    resource("Group", "acme", api.organization),
    resource("Group", "acme/taken", team),
    resource("Identity", "acme:identity/held", held),
  ];
  const reviewWith = async (uids: object) => {
    write("taken/state.json", JSON.stringify({ version: 3, deployment: { resources } }));
    writeFileSync(folder.path("taken/pulumi"), `#!/bin/sh\ncat "${folder.path("taken/state.json")}"\n`, {
      mode: 0o755,
    });
    vi.stubEnv("GITHUB_ACTION_PATH", process.cwd());
    vi.stubEnv("PATH", `${folder.path("taken")}:${process.env.PATH}`);
    write("taken/Pulumi.yaml", "name: access\nruntime: yaml\n");
    write("taken/adopt.json", JSON.stringify({ identities: uids }));
    const file = write(
      "taken/access.yaml",
      `organization: { uid: "${api.organization}" }
groups: { taken: {} }
identities:
  held: { in: taken, claimMatch: { issuer: "https://issuer.example.com", subject: held } }
  helper: { in: taken, claimMatch: { issuer: "https://evil.example.com", subject: me } }
`,
    );
    const { code, stdout, stderr } = await runIrm("review", "--policy", file, "--stack", "prod", "--format", "json");
    return { code, stderr, report: code === 1 ? undefined : Report.parse(JSON.parse(stdout)) };
  };

  test("a uid beside the policy shows whose access it would get", async () => {
    const { report } = await reviewWith({ helper: breakGlass });
    expect(report?.identities).toMatchObject([{ name: "helper", uid: breakGlass }]);
    expect(report?.findings.map(({ rule, subject }) => [rule, subject])).toContainEqual([
      "assumed-by-others",
      breakGlass,
    ]);
    // What the stack has keeps its record, whatever the file says.
    const { report: other } = await reviewWith({ held: breakGlass });
    expect(other?.identities.map(({ name, uid }) => [name, uid])).toEqual([["helper", null]]);
  });

  test("a uid that the API does not show there counts as the worst", async () => {
    const unknown = `${team}/0123456789abcdef`;
    const { report } = await reviewWith({ helper: unknown });
    expect(report?.unknown).toContainEqual({
      subject: "helper",
      message: `identity helper: the update takes over ${unknown}, by adopt.json, and the API does not show that where the policy has it`,
    });
    expect(report?.findings.map(({ rule }) => rule)).toContain("gains-owner");
  });

  test("a uid of two keys is a mistake", async () => {
    const both = await reviewWith({ helper: held });
    expect(both.code).toBe(1);
    expect(both.stderr).toContain(`adopt.json: identities.helper: ${held} is the record of identities.held\n`);
  });
});

test("with mistakes has no review, and exits with 1", async () => {
  const { code, stdout, stderr } = await runIrm("review", "--policy", policy("{ team: { viewr: [next] } }"));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("viewr: the API shows no built-in role of this name; did you mean viewer?");
});
