// `irm export` against a real server: what it prints, writes, refuses and requests; and `--into` a policy.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import { IAM, startPlainServer } from "../harness/api-server.ts";
import { createByHand, ODD } from "../harness/by-hand.ts";
import { createUid } from "../harness/records.ts";
import { requestsOf, serveSignedIn, signIn } from "../harness/signed-in.ts";
import { failure, runIrm, usageError } from "../support/irm.ts";
import { testFolder, useOwnFolder } from "../support/test-folder.ts";

const ownPackage = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

const api = await serveSignedIn();
const made = await createByHand(api, api.organization);
const { name: acme } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
const folder = testFolder();
useOwnFolder();

const into = (...flags: string[]) => runIrm("export", "--into", "access.yaml", ...flags);
const read = (file = "access.yaml") => readFileSync(file, "utf8");

test("adds what exists to a policy of two lines, with a file of uids, and a second run changes nothing", async () => {
  const first = `# ours\norganization: ${acme} # the company\n`;
  writeFileSync("access.yaml", first);
  const { code, stdout, stderr } = await into();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect((await runIrm("check")).stderr).toMatch(/^access\.yaml has no mistakes: 8 groups, 7 identities, 1 role, /);
  const [text, uids] = [read(), read("adopt.json")];
  expect(text.startsWith(`${first}groups:\n`)).toBe(true);
  const { identities, access } = parse(text);
  expect(identities["platform-release"]).toEqual({
    in: "platform",
    name: "release",
    github: { repository: "acme/images", branch: "main" },
  });
  expect(access["platform/registry"]).toEqual({ publisher: ["platform-release"] });
  expect(JSON.parse(uids)).toMatchObject({
    groups: { "/": api.organization, platform: made.platform },
    identities: { "platform-release": made.release },
    roles: { publisher: made.publisher },
  });
  // What a policy has no word for is named, and so is each entry.
  expect(stderr).toContain('not added, a policy has no word for 2 repos: "Nginx_1", "mirror"\n');
  expect(stderr).toContain('not added, a policy has no word for 2 identity providers: "sso", "sso with secret"\n');
  expect(stderr).toContain(`not declared: role binding ${made.twin}: grants the same`);
  expect(stderr).toContain("\nadded 23 entries to access.yaml\n  groups.constructor\n  groups.constructor/registry\n");
  expect(stderr).toContain("\n  access.platform/registry.publisher: platform-release\n");
  expect(stderr).toMatch(
    /\nwrote adopt\.json: give it to AccessPolicy, adopt: \{ file: "adopt\.json" \}, or it creates these records again\n$/,
  );
  expect((await into()).stderr).toMatch(/\nadded 0 entries to access\.yaml\n$/);
  expect([read(), read("adopt.json")]).toEqual([text, uids]);
});

test("docs/take-over.md#export shows what its example prints", async () => {
  const page = readFileSync(new URL("../../docs/take-over.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Add to your policy\n");
  const [text = "", printed, after] = [...section.matchAll(/```(?:yaml)?\n(.*?)```\n/gs)].map(([, one = ""]) => one);
  const other = await startPlainServer("{ name: acme }");
  const root = (await other.ok("GET", `${IAM}/groups`)).groups as [{ uid: string }];
  const platform = await createUid(other, "groups", root[0].uid, { name: "platform" });
  const product = await createUid(other, "groups", root[0].uid, { name: "product" });
  const github = (repository: string) => ({
    issuer: "https://token.actions.githubusercontent.com",
    subject: `repo:acme@123456/${repository}:ref:refs/heads/main`,
  });
  const identity = (name: string, repository: string) =>
    createUid(other, "identities", platform, { name, claimMatch: github(repository) });
  const [release, nightly] = [await identity("release", "images@456789"), await identity("nightly", "nightly@456798")];
  const bind = async (group: string, identityUid: string, role: string) =>
    createUid(other, "roleBindings", group, { identityUid, roleUid: await other.role(role) });
  for (const one of [release, nightly]) await bind(platform, one, "registry.push");
  await bind(product, release, "viewer");
  await createUid(other, "repos", platform, { name: "nginx" });
  signIn(other);
  // Whoever runs it has an identity too.
  const own = {
    identities: "  root: { github: { repository: acme/x, branch: x } }\n",
    access: "  /: { owner: [root] }\n",
  };
  const withOwner = text.replace(/^(identities|access):\n/gm, (line, name: keyof typeof own) => line + own[name]);
  writeFileSync("access.yaml", withOwner);
  const { stderr } = await into();
  expect(`$ npx pulumi-irm export --into access.yaml\n${stderr}`).toBe(printed);
  expect(read().replace(own.identities, "").replace(own.access, "")).toBe(after);
});

test("--no-adopt writes no file of uids; what the caller cannot see is named, with exit code 3", async () => {
  const reader = await api.actor("reader", { role: "viewer", at: made.platform });
  writeFileSync("access.yaml", `organization: { uid: "${api.organization}" }\n`);
  vi.stubEnv("IRM_TOKEN", reader.token);
  const { code, stderr } = await into("--no-adopt");
  expect(code, stderr).toBe(3);
  expect(stderr).toContain(
    "not visible: identities of this group cannot be listed: identity.list is needed at it (/, ",
  );
  expect(Object.keys(parse(read()).groups)).toEqual(["platform"]);
  expect(existsSync("adopt.json")).toBe(false);
});

const stays = async (text: string, message: RegExp, ...flags: string[]) => {
  writeFileSync("access.yaml", text);
  expect(await into(...flags)).toEqual(failure(1, message));
  expect([read(), existsSync("adopt.json")]).toEqual([text, false]);
};

test("refuses, and changes nothing: a policy with mistakes, before any request", async () => {
  vi.stubEnv("IRM_TOKEN", "");
  await stays(
    `organization: ${acme}\naccess: { /: { viewer: [a] } }\n`,
    /^irm export: access\.yaml:2:25: access\.\/\.viewer\[0\]: there is no identity a/,
  );
});

test("refuses, and changes nothing: a policy of another organization", () =>
  stays(
    "organization: other\n",
    new RegExp(
      `^irm export: access\\.yaml is of the organization "other", which you cannot see; you can see these:\n  ${api.organization} "${acme}"\n$`,
    ),
  ));

test("refuses, and changes nothing: a name that several records have, with their uids", async () => {
  const twins = [
    await createUid(api, "groups", api.organization, { name: "twin" }),
    await createUid(api, "groups", api.organization, { name: "twin" }),
  ];
  await stays(
    `organization: ${acme}\ngroups: { twin: }\n`,
    /^irm export: access\.yaml:2:11: groups\.twin: the API has 2 groups of this name: \S+, \S+\nin adopt\.json, the uid of a key says which record it is\n$/,
  );
  writeFileSync("adopt.json", JSON.stringify({ groups: { twin: twins[1] } }));
  const { stderr } = await into();
  expect(stderr).toContain(
    `not added: group ${twins[0]} "twin": the policy would have a mistake: group twin has the same name in this group; choose another\n`,
  );
  for (const uid of twins) await api.ok("DELETE", `${IAM}/groups/${uid}`);
});

const exportTo = (...flags: string[]) => runIrm("export", ...flags);

/** The statement of a program that declares it, on one line. */
const declared = (program: string, resource: string): string | undefined =>
  program
    .split("\n\n")
    .find((one) => one.includes(`new ${resource}`))
    ?.replace(/\s+/g, " ");

const ODD_TEXT = JSON.stringify(ODD).replace(/[\u2028\u202e]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);

test("prints a program with every record, by name and with presets; it sends one list of each kind, and nothing that writes", async () => {
  const { code, stdout, stderr } = await exportTo();
  expect(code).toBe(0);
  const at = (resource: string) => declared(stdout, resource);
  expect(at('Group("platform"')).toContain(`{ parent: devGroup, name: "platform", description: ${ODD_TEXT}, });`);
  expect(at('Identity("platform-release"')).toContain(
    '{ parent: platformGroup, name: "release", ...githubActions({ repository: "acme/images", branch: "main" }), });',
  );
  expect(at('Identity("class"')).toContain(`subject: ${ODD_TEXT}, audience: "a", claims: { "b-c": "1", ${ODD_TEXT}: `);
  expect(at('RoleBinding("platform-release-publisher-platform-registry"')).toContain(
    "{ parent: platformRegistryGroup, identity: platformReleaseIdentity, role: publisherRole, });",
  );
  expect(at('RoleBinding("cloud-viewer-platform"')).toContain('role: "viewer" });');
  expect(at('AccountAssociation("accounts"')).toContain("{ serviceBindings: { SYNCER: platformReleaseIdentity } }");
  expect(stdout.match(/^(const \w+ = )?new Tag\(/gm)).toHaveLength(4);
  expect(at('IdentityProvider("sso-with-secret"')).toMatch(/ = ssoWithSecretClientSecret && new /);
  expect(at('ExternalGroupRoleMapping("sso-with-secret-everyone-viewer"')).toContain(`?? "${made.withSecret}"`);
  // Of two equal bindings the second one is named.
  const twin = `role binding ${made.twin}: grants the same as another role binding of its group`;
  expect(stdout).toContain(`//   - ${twin}\n`);
  expect(stdout).not.toContain("adopt:");
  expect(stderr).toBe(
    `not declared: ${twin}\n--out FOLDER also writes adopt.json: without that file the program creates these records again\n`,
  );
  expect((await exportTo()).stdout).toBe(stdout);
  api.log.length = 0;
  await exportTo();
  const requests = requestsOf(api);
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(requests.length).toBeLessThanOrEqual(20);
});

test("--group takes a path or a uid, and what is above stays outside", async () => {
  const { stdout } = await exportTo("--group", "platform/registry");
  expect(declared(stdout, 'Group("registry"')).toContain(`{ parent: "${made.platform}", name: "registry", });`);
  expect(stdout).not.toContain('Group("platform"');
  expect(declared(stdout, 'RoleBinding("release-publisher-registry"')).toContain(
    `identity: "${made.release}", role: "${made.publisher}", });`,
  );
  expect((await exportTo("--group", made.registry)).stdout).toBe(stdout);
});

test("--no-adopt writes a program that creates the organization, and names what it cannot create", async () => {
  const { code, stdout, stderr } = await exportTo("--no-adopt");
  expect(code).toBe(0);
  expect(stdout).not.toContain("adopt:");
  expect(declared(stdout, 'Group("dev"')).toMatch(/ root: true, .*allowDuplicate: true, \}\);$/);
  expect(stdout.match(/allowDuplicate: true/g)).toHaveLength(1);
  expect(declared(stdout, 'ExternalGroupRoleMapping("sso-with-secret-everyone-viewer"')).toMatch(
    / = ssoWithSecretIdentityProvider && new /,
  );
  expect(stderr).toContain("grants the same as another role binding");
  const { stdout: part, stderr: missing } = await exportTo("--no-adopt", "--group", "platform/registry");
  expect(declared(part, 'Group("registry"')).toContain("{ root: true, ");
  expect(missing).toContain(
    `refers to what this program does not create: identity ${made.release}, role ${made.publisher}`,
  );
});

test("--no-adopt as a policy leaves the kind of the organization to the other service, and says so", async () => {
  const { organization } = api;
  const query = { updateMask: "kind" };
  await api.ok("PATCH", `${IAM}/groups/${organization}`, { query, body: { kind: "ORG_KIND_CUSTOMER" } });
  const out = folder.path("policy-copy");
  const { code, stderr } = await exportTo("--format", "yaml", "--no-adopt", "--out", out);
  await api.ok("PATCH", `${IAM}/groups/${organization}`, { query, body: { kind: "ORG_KIND_UNSPECIFIED" } });
  expect(code).toBe(0);
  expect(stderr).toContain(
    `not declared: group ${organization} "dev": a policy cannot say its kind, ORG_KIND_CUSTOMER, which is up to the other service\n`,
  );
  expect(parse(readFileSync(`${out}/access.yaml`, "utf8")).organization).toMatchObject({ name: "dev" });
  expect(readFileSync(`${out}/index.ts`, "utf8")).toContain(
    'new AccessPolicy("dev", { file: "access.yaml", allowDuplicate: true });',
  );
});

test("names what the caller cannot see, in the program and on stderr, and exits with 3", async () => {
  const { token } = await api.actor("other-reader", { role: "viewer", at: made.platform });
  vi.stubEnv("IRM_TOKEN", token);
  const { code, stdout, stderr } = await exportTo();
  expect(code).toBe(3);
  expect(stderr).toContain(
    "not visible: identities of this group cannot be listed: identity.list is needed at it (/, ",
  );
  expect(stdout).toContain("// The caller cannot see, so the program does not have:\n//   - ");
  expect(declared(stdout, 'Group("platform"')).toContain(`{ parent: "${api.organization}", `);
});

test("--out writes a project, and nothing else remains", async () => {
  const out = folder.path("a/new/folder");
  const { code, stdout, stderr } = await exportTo("--out", out);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toMatch(new RegExp(`\\nwrote ${out}: \\d+ records\\n$`));
  expect(readdirSync(out).sort()).toEqual(["Pulumi.yaml", "adopt.json", "index.ts", "package.json", "tsconfig.json"]);
  const { resources } = JSON.parse(readFileSync(`${out}/adopt.json`, "utf8"));
  const program = readFileSync(`${out}/index.ts`, "utf8");
  expect(Object.keys(resources)).toHaveLength(program.match(/\bnew [A-Z]/g)?.length as number);
  expect(resources).toMatchObject({
    "Group::platform": made.platform,
    "Identity::platform-release": made.release,
    "Role::publisher": made.publisher,
  });
  expect(readdirSync(dirname(out))).toEqual(["folder"]);
  expect(program).toBe((await exportTo()).stdout);
  expect(parse(readFileSync(`${out}/Pulumi.yaml`, "utf8"))).toMatchObject({
    runtime: "nodejs",
    options: { refresh: "always" },
  });
  expect(JSON.parse(readFileSync(`${out}/package.json`, "utf8"))).toMatchObject({
    private: true,
    dependencies: { "@pulumi/pulumi": ownPackage.peerDependencies["@pulumi/pulumi"] },
  });
});

test("--out --native imports from the plugin, and import.json has every record", async () => {
  const out = folder.path("native");
  mkdirSync(out);
  expect((await exportTo("--out", out, "--native")).code).toBe(0);
  expect(readFileSync(`${out}/index.ts`, "utf8")).toContain('from "pulumi-irm/plugin";');
  expect(parse(readFileSync(`${out}/Pulumi.yaml`, "utf8")).plugins.providers[0].name).toBe("irm");
  const { resources } = JSON.parse(readFileSync(`${out}/import.json`, "utf8"));
  expect(resources).toContainEqual({ type: "irm:index:Group", name: "platform", id: made.platform });
  expect(JSON.stringify(resources)).not.toContain(`"${made.withSecret}"`);
  expect(existsSync(folder.path("native/access.yaml"))).toBe(false);
});

test("--out refuses a folder with files in it, before any request, and leaves it as it is", async () => {
  const out = folder.path("full");
  folder.write("full/mine.txt", "mine");
  vi.stubEnv("IRM_TOKEN", "");
  expect(await exportTo("--out", out)).toEqual(
    usageError("irm export", `--out: ${out} has files in it; give another folder`),
  );
  expect(readdirSync(out)).toEqual(["mine.txt"]);
});
