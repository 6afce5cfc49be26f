// `irm export` against a real server: what it prints, writes and refuses, and how many requests it sends.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import { IAM } from "../harness/api-server.ts";
import { createByHand, ODD } from "../harness/by-hand.ts";
import { requestsOf, serveSignedIn } from "../harness/signed-in.ts";
import { runIrm, usageError } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const ownPackage = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

const api = await serveSignedIn();
const made = await createByHand(api, api.organization);
const reader = await api.actor("reader", { role: "viewer", at: made.platform });
const folder = testFolder();

const exportTo = (...flags: string[]) => runIrm("export", ...flags);

/** What a program declares: the arguments of each resource, by its class and name. It runs without the packages that it imports. */
const declared = (program: string) => {
  const resources = new Map<string, Record<string, unknown>>();
  const classOf = (type: string) =>
    class {
      readonly resource: string;
      constructor(name: string, args: Record<string, unknown>) {
        this.resource = `${type} ${name}`;
        expect(resources.has(this.resource)).toBe(false);
        resources.set(this.resource, args);
      }
    };
  const imports = /^import (?:\{([^}]*)\}|\* as (\w+)) from .*;$/gm;
  const names = [...program.matchAll(imports)].flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()));
  const classes = names.filter((name) => /^[A-Z]/.test(name)).map((name) => [name, classOf(name)]);
  const presets = names
    .filter((name) => /^[a-z]/.test(name))
    .map((name) => [name, (args: unknown) => ({ [name]: args })]);
  const pulumi = {
    Config: class {
      getSecret = () => undefined;
    },
  };
  // Whatever else the program would touch does not exist there.
  runInNewContext(
    `"use strict";${program.replace(imports, "")}`,
    Object.fromEntries([...classes, ...presets, ["pulumi", pulumi]]),
  );
  return resources;
};

test("prints a program with every record, by name and with presets; it sends one list of each kind, and nothing that writes", async () => {
  const { code, stdout, stderr } = await exportTo();
  expect(code).toBe(0);
  const resources = declared(stdout);
  const at = (name: string) => JSON.parse(JSON.stringify(resources.get(name)));
  expect(at("Group platform")).toEqual({
    parent: { resource: expect.stringMatching(/^Group /) },
    name: "platform",
    description: ODD,
  });
  expect(at("Identity platform-release")).toEqual({
    parent: { resource: "Group platform" },
    name: "release",
    githubActions: { repository: "acme/images", branch: "main" },
  });
  expect(at("Identity class").claimMatch).toMatchObject({ subject: ODD, claims: { [ODD]: ODD, "b-c": "1" } });
  expect(at("RoleBinding platform-release-publisher-platform-registry")).toMatchObject({
    parent: { resource: "Group platform-registry" },
    identity: { resource: "Identity platform-release" },
    role: { resource: "Role publisher" },
  });
  expect(at("RoleBinding cloud-viewer-platform")).toMatchObject({ role: "viewer" });
  expect(at("AccountAssociation accounts").chainguard).toEqual({
    serviceBindings: { SYNCER: { resource: "Identity platform-release" } },
  });
  expect([...resources.keys()].filter((name) => name.startsWith("Tag "))).toHaveLength(4);
  // Without its secret, the provider is named by its uid and not declared.
  expect(resources.has("IdentityProvider sso-with-secret")).toBe(false);
  expect(at("ExternalGroupRoleMapping sso-with-secret-everyone-viewer").parent).toBe(made.withSecret);
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
  const resources = declared(stdout);
  expect(resources.get("Group registry")).toMatchObject({ parent: made.platform, name: "registry" });
  expect(resources.has("Group platform")).toBe(false);
  const binding = resources.get("RoleBinding release-publisher-registry");
  expect(binding).toMatchObject({ identity: made.release, role: made.publisher });
  expect((await exportTo("--group", made.registry)).stdout).toBe(stdout);
});

test("--no-adopt writes a program that creates the organization, and names what it cannot create", async () => {
  const { code, stdout, stderr } = await exportTo("--no-adopt");
  expect(code).toBe(0);
  expect(stdout).not.toContain("adopt:");
  const [organization] = declared(stdout).values();
  // The other service may have one of this name.
  expect(organization).toMatchObject({ root: true, allowDuplicate: true });
  expect(stdout.match(/allowDuplicate: true/g)).toHaveLength(1);
  expect(declared(stdout).has("ExternalGroupRoleMapping sso-with-secret-everyone-viewer")).toBe(false);
  expect(stderr).toContain("grants the same as another role binding");
  const { stdout: part, stderr: missing } = await exportTo("--no-adopt", "--group", "platform/registry");
  expect(declared(part).get("Group registry")).toMatchObject({ root: true });
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
  vi.stubEnv("IRM_TOKEN", reader.token);
  const { code, stdout, stderr } = await exportTo();
  expect(code).toBe(3);
  expect(stderr).toContain(
    "not visible: identities of this group cannot be listed: identity.list is needed at it (/, ",
  );
  expect(stdout).toContain("// The caller cannot see, so the program does not have:\n//   - ");
  // The organization itself is named by its uid.
  expect(declared(stdout).get("Group platform")).toMatchObject({ parent: api.organization });
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
  // The program declares it once its secret is set.
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
