// What only reads needs no more than the role viewer, GET and the token exchange, over HTTP with JSON.
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { unusedPort } from "../support/listen.ts";
import { type HoldingProxy, type Seen, startProxy } from "../support/proxy.ts";

const source = (description = "first", further = "") => `
import { Group, Identity, Role, RoleBinding, RoleBindingSet, getRoleOutput } from "pulumi-irm";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "team", description: "${description}" });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
const role = new Role("role", { parent: team, name: "role", capabilities: ["groups.list"] });
const below = new Group("below", { parent: team, name: "below" });
new RoleBinding("binding", { parent: below, identity: ci, role });
new RoleBindingSet("set", { parent: team, exclusive: true, bindings: [{ identity: ci, role: "viewer" }] });
export const viewer = getRoleOutput({ name: "viewer" }).name;
${further}
`;

const NEW = `
new Group("new", { parent: team, name: "new" });
new RoleBinding("new", { parent: below, identity: ci, role: "editor" });
`;

const isRead = ({ method, path }: Seen): boolean => method === "GET" || /^\/sts\/exchange\b/.test(path);

let proxy: HoldingProxy;
let place: Workplace;
let program: Program;
let refused: Seen[];

beforeAll(async () => {
  const port = await unusedPort();
  proxy = await startProxy(() => `http://127.0.0.1:${port}`);
  place = await createWorkplace(["--port", `${port}`, "--public-url", proxy.url]);
  const { issuer, organization } = place.server;
  // Each run assumes the identity whose subject the token in the file has.
  program = await place.program("dynamic", source(), { ORG: organization, IRM_IDENTITY: "" });
  await program.must("up", "--yes", "--skip-preview");
  const claimMatch = { issuer, subject: "reader" };
  const identityUid = await place.create(`identities/${organization}`, { name: "reader", claimMatch });
  const [viewer] = place.rows("roles", "name = ? AND parent IS NULL", "viewer");
  await place.create(`roleBindings/${organization}`, { identityUid, roleUid: viewer?.uid });
  const token = await mintDevToken(issuer, { subject: "reader" });
  writeFileSync(place.env.IRM_IDENTITY_TOKEN_FILE as string, token, { mode: 0o600 });
  refused = proxy.only(isRead);
  proxy.seen.length = 0;
});
afterAll(async () => {
  await place.close();
  await proxy.close();
});

/** It asked the service, and for nothing that the proxy refuses. */
const expectReadOnly = () => {
  expect(refused).toEqual([]);
  expect(proxy.seen.filter(({ path }) => path.startsWith("/iam/")).length).toBeGreaterThan(0);
  expect(proxy.seen.some(({ path }) => path.startsWith("/sts/exchange"))).toBe(true);
  proxy.seen.length = 0;
};

it("with the role viewer, a preview and a review of creates, updates and deletes work", async () => {
  program.write(source("second", NEW).replace(/^new RoleBinding\("binding".*\n/m, ""));
  const { stdout } = await program.must("preview", "--json", "--refresh");
  const { changeSummary } = JSON.parse(stdout) as { changeSummary: Record<string, number> };
  expect(changeSummary).toMatchObject({ create: 2, update: 1, delete: 1 });
  expectReadOnly();
  const review = await irmIn(program, ["review", "--stack", "dev", "--format", "json"]);
  expect(review.code, review.stderr).toBe(0);
  expectReadOnly();
});

it("with the role viewer, irm drift, irm access, irm export and irm access whoami work", async () => {
  const drift = await irmIn(program, ["drift", "--stack", "dev", "--format", "json"]);
  expect(drift.code, drift.stderr).toBe(3);
  const { drift: found, notVisible } = JSON.parse(drift.stdout) as Record<string, { resource: string }[]>;
  expect(found?.map(({ resource }) => resource.replace(/^.*:/, "")).sort()).toEqual(["binding", "new", "new", "team"]);
  expect(notVisible).toEqual([]);
  expectReadOnly();
  // The others read no program.
  const others = [
    ["access"],
    ["access", "whoami"],
    ["export", "--format", "typescript", "--out", `${place.folder}/export`],
  ];
  for (const args of others) {
    const { code, stderr } = await irmIn(program, args);
    expect(code, stderr).toBe(0);
    expectReadOnly();
  }
});

it("with the role viewer, an update is refused at its first write", async () => {
  const { code, output } = await program.run("up", "--yes", "--skip-preview");
  expect(code, output).not.toBe(0);
  expect(refused).not.toEqual([]);
  expect(refused.filter(isRead)).toEqual([]);
});
