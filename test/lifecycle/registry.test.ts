// examples/registry through a real engine. Nothing that the engine stores shows a secret.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import { type Json, openWorkplace, type Program } from "../harness/engine-workplace.ts";

const SECRET = "the secret of the client";
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

const place = openWorkplace();
let program: Program;
let code: string;

const source = () => readFileSync(join(root, "examples", "registry", "index.ts"), "utf8");
const row = (table: string, name: string) => place.rows(table, "name = ?", name)[0];
const requests = async () =>
  (await place.writes()).map(({ operation, query, fields }) => [operation, query?.updateMask ?? fields]).sort();

const inviteCode = async () => (await program.must("stack", "output", "inviteCode", "--show-secrets")).stdout.trim();

const written = (): string =>
  [join(program.folder, "state"), place.env.IRM_JOURNAL as string]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");

beforeAll(async () => {
  program = await place.program("registry", source());
  await program.must("config", "set", "parent", place.server.organization);
  await program.must("config", "set", "--secret", "clientSecret", SECRET);
});

it("examples/registry is created, with no secret in any output or on the disk", async () => {
  const { output } = await program.must("up", "--yes", "--skip-preview", "--diff");
  expect((await requests()).map(([operation]) => operation)).toEqual([
    "CreateAccountAssociation",
    "CreateExternalGroupRoleMapping",
    "CreateGroup",
    "CreateGroupInvite",
    "CreateIdentity",
    "CreateIdentityProvider",
    "CreateRepo",
    "CreateRepo",
    "CreateRole",
    "CreateTag",
  ]);
  code = await inviteCode();
  expect(code).toMatch(/^cginvite_/);
  for (const text of [output, written()]) for (const secret of [SECRET, code]) expect(text).not.toContain(secret);
  const [mapping] = place.rows("external_group_role_mappings", "external_group_id = ?", "Auditors");
  expect(mapping?.parent).toBe(row("identity_providers", "login")?.uid);
  expect(row("account_associations", "clouds")?.uid).toBe(row("groups", "images")?.uid as string);
  const { resources } = program.state();
  const outputs = (type: string) => resources.find((one) => one.type.endsWith(`:${type}`))?.outputs as Json;
  // The block stays readable; the secret is a separate output.
  expect(outputs("IdentityProvider").oidc).toMatchObject({ issuer: "https://login.example.com", clientId: "images" });
  expect(outputs("IdentityProvider").__secrets).toHaveProperty("ciphertext");
  expect(outputs("GroupInvite").code).toHaveProperty("ciphertext");
});

it("examples/registry shows changes by hand after a refresh, which keeps the secrets", async () => {
  await place.call("PATCH", `/iam/v2beta1/identityProviders/${row("identity_providers", "login")?.uid}`, {
    oidc: { clientId: "by hand" },
  });
  await place.call("PATCH", `/iam/v2beta1/accountAssociations/${row("account_associations", "clouds")?.uid}`, {
    amazon: { account: "210987654321" },
  });
  const parent = row("repos", "nginx")?.uid;
  await place.call("POST", `/registry/v2beta1/tags/${parent}`, { name: "latest", digest: digest("f") });
  const refresh = await program.must("refresh", "--yes", "--skip-preview", "--diff");
  for (const text of ["by hand", "210987654321", digest("f")]) expect(refresh.output).toContain(text);
  for (const text of [refresh.output, written()])
    for (const secret of [SECRET, code]) expect(text).not.toContain(secret);
  expect(await inviteCode()).toBe(code);
  await place.server.takeRequests();
});

it("examples/registry is repaired with minimal requests, and a changed invite is replaced", async () => {
  program.write(
    source()
      .replace('"604800s"', '"86400s"')
      .replace('["email", "profile"]', '["profile", "email"]')
      .replace('"web:latest"', '"web:latest", "www:latest"'),
  );
  await program.must("config", "set", "--secret", "clientSecret", "another secret of the client");
  const { output } = await program.must("up", "--yes", "--skip-preview", "--diff");
  expect(await requests()).toEqual([
    ["CreateGroupInvite", "roleUid,email,ttl,singleUse"],
    ["CreateTag", "name,digest"],
    ["DeleteGroupInvite", undefined],
    ["UpdateAccountAssociation", "amazon.account"],
    ["UpdateIdentityProvider", "oidc.clientId,oidc.clientSecret"],
    ["UpdateRepo", "aliases"],
  ]);
  const another = await inviteCode();
  expect(another).not.toBe(code);
  for (const text of [output, written()])
    for (const secret of [SECRET, "another secret of the client", code, another]) expect(text).not.toContain(secret);
  await program.must("preview", "--expect-no-changes");
});
