// examples/policy and examples/environments through a real engine, and a policy with people, whose identity provider is somebody else's.
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import { openWorkplace, type Program } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";

const example = (file: string, name = "policy"): string => readFileSync(join(root, "examples", name, file), "utf8");
const policy = example("access.yaml");
const source = example("index.ts");

interface Step {
  op: string;
  urn: string;
  newState: { protect?: boolean; retainOnDelete?: boolean };
}

const CALL = 'new AccessPolicy("acme", { file: "access.yaml" })';
const ADOPTING = source.replace(CALL, 'new AccessPolicy("acme", { file: "access.yaml", adopt: "match" })');

const place = openWorkplace();

const names = (table: string) => place.rows(table).map(({ name }) => name);

describe("examples/policy", () => {
  let program: Program;
  beforeAll(async () => {
    program = await place.program("policy", source);
  });

  it("is created: groups first, role bindings last", async () => {
    writeFileSync(join(program.folder, "access.yaml"), policy);
    await program.must("up", "--yes", "--skip-preview");
    const made = await place.operations();
    expect(made.filter((operation) => operation === "CreateGroup")).toHaveLength(5);
    expect(made[0]).toBe("CreateGroup");
    expect(made.filter((operation) => operation.includes("RoleBinding"))).toHaveLength(3);
    expect(made.at(-1)).toContain("RoleBinding");
    expect(names("roles")).toContain("publisher");
  });

  it("with an ambiguous record to adopt ends nothing in the process of an inline program", async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "twin" };
    const twin = await place.create(`identities/${place.uidOf("groups", "platform")}`, { name: "release", claimMatch });
    await place.server.takeRequests();
    program.write(ADOPTING);
    const up = await program.run("up", "--yes", "--skip-preview");
    expect(up.code).not.toBe(0);
    expect(up.output).toContain("identities.release: 2 identities");
    expect(await place.operations()).toEqual([]);
    await place.call("DELETE", `/iam/v2beta1/identities/${twin}`);
  });

  it("takes the options of a component: an alias for its earlier name, protect and transforms reach every resource", async () => {
    const transform = "({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } })";
    // A run that fails once the component has its new name.
    program.write(`
import { ComponentResource } from "@pulumi/pulumi";
const { urn } = new ComponentResource("irm:index:AccessPolicy", "company", {}, { aliases: [{ name: "acme" }] });
await new Promise((resolve) => urn.apply(resolve));
throw new Error("half-way");`);
    expect((await program.run("up", "--yes", "--skip-preview")).output).toContain("half-way");
    const options = `{ aliases: [{ name: "acme" }], protect: true, transforms: [${transform}] }`;
    program.write(source.replace(CALL, `new AccessPolicy("company", { file: "access.yaml" }, ${options})`));
    const preview = await program.must("preview", "--json", "--show-sames");
    const { steps } = JSON.parse(preview.stdout) as { steps: Step[] };
    const resources = steps.filter(({ urn }) => urn.includes("irm:index:AccessPolicy$"));
    expect(resources).toHaveLength(12);
    for (const { op, newState } of resources)
      expect([op, newState.protect, newState.retainOnDelete]).toEqual(["same", true, true]);
  });

  describe("and irm revoke", () => {
    const held = (name: string) => place.rows("role_bindings", "identity_uid = ?", place.uidOf("identities", name));
    const irm = (...args: string[]) => irmIn(program, args, { IRM_IDENTITY: place.env.IRM_IDENTITY as string });
    const revoke = (name: string) => irm("revoke", "--identity", name, "--yes", "--format", "json");
    beforeAll(async () => {
      program.write(source);
      await program.must("stack", "select");
      // The run that failed has renamed the component.
      await program.must("up", "--yes", "--skip-preview");
    });

    it("takes the entry out of the policy, and no update that refreshes grants it again", async () => {
      const body = { identityUid: place.uidOf("identities", "release"), roleUid: place.uidOf("roles", "viewer") };
      await place.create(`roleBindings/${place.uidOf("groups", "product")}`, body);
      const { code, stdout, stderr } = await revoke("release");
      expect(code, stderr).toBe(0);
      const removed: { role: string }[] = JSON.parse(stdout).removed;
      expect(removed.map(({ role }) => role).sort()).toEqual(["publisher", "viewer"]);
      expect(stderr).toContain("does not declare this role binding; another program may\n");
      expect(readFileSync(join(program.folder, "access.yaml"), "utf8")).toBe(
        policy.replace("  platform/registry: { publisher: [release] }\n", ""),
      );
      await place.server.takeRequests();
      await program.must("up", "--yes", "--skip-preview", "--refresh");
      expect(held("release")).toEqual([]);
      expect((await place.operations()).filter((operation) => operation.startsWith("Create"))).toEqual([]);
    });

    it("an undo puts it back, also before an update has run, and no update removes it, or grants it twice", async () => {
      const undoes = () => readdirSync(program.folder).filter((name) => name.startsWith("irm-revoke-"));
      const [first = ""] = undoes();
      expect(await irm("revoke", "--undo", first)).toMatchObject({ code: 0, stderr: "" });
      // The state still has the role binding that is removed.
      expect((await revoke("review")).code).toBe(0);
      const [second = ""] = undoes().filter((name) => name !== first);
      expect((await irm("revoke", "--undo", second)).code).toBe(0);
      const before = [...held("release"), ...held("review")];
      expect(before).toHaveLength(3);
      await place.server.takeRequests();
      await program.must("up", "--yes", "--skip-preview");
      await program.must("up", "--yes", "--skip-preview", "--refresh");
      expect(await place.operations()).toEqual([]);
      expect([...held("release"), ...held("review")]).toEqual(before);
    });

    it("names the resource of the stack where the folder has no access.yaml", async () => {
      renameSync(join(program.folder, "access.yaml"), join(program.folder, "other.yaml"));
      const { code, stderr } = await revoke("deploy");
      const named = "an update of stack dev that refreshes grants the access again: take AccessPolicy acme out of ";
      expect({ code, isNamed: stderr.startsWith(named) }, stderr).toEqual({ code: 0, isNamed: true });
      expect(held("deploy")).toEqual([]);
    });
  });

  it("is destroyed", async () => {
    // The role binding that the undo has made, and nobody declares.
    const [foreign] = place.rows("role_bindings", "parent = ?", place.uidOf("groups", "product"));
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${foreign?.uid}`);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
    expect(names("roles")).not.toContain("publisher");
  });
});

const sourceOf = (people: object) => `
import { AccessPolicy, IdentityProvider } from "pulumi-irm";
const uid = "${place.server.organization}";
const oidc = { issuer: "https://own.example", clientId: "console", pkceEnabled: true };
new AccessPolicy("acme", {
  policy: { organization: { uid }, roles: { auditor: { can: ["groups.list"] } }, people: ${JSON.stringify(people)} },
  identityProviders: { own: new IdentityProvider("own", { parent: uid, name: "own", defaultRole: "viewer", oidc }) },
});
`;
const own = { externalGroups: { Dev: ["viewer"] } };
const externalGroups = { "/SRE": ["owner"], Audit: ["auditor", "viewer"] };

it("the people of a policy are of an identity provider that exists, or that the same program creates, and come back after a refresh", async () => {
  const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
  const record = { name: "acme-sso", defaultRole: place.uidOf("roles", "viewer"), oidc };
  const sso = await place.create(`identityProviders/${place.server.organization}`, record);
  const mappings = () => {
    const providers = new Map(place.rows("identity_providers").map(({ uid, name }) => [uid, name]));
    const roles = new Map(place.rows("roles").map(({ uid, name }) => [uid, name]));
    return place
      .rows("external_group_role_mappings")
      .map(
        (row) => `${providers.get(row.parent as string)} ${row.external_group_id} ${roles.get(row.role_uid as string)}`,
      )
      .sort();
  };
  const program = await place.program("people", sourceOf({ own, "acme-soo": { externalGroups } }));
  const mistaken = await program.run("preview");
  expect(mistaken.code).not.toBe(0);
  expect(mistaken.output).toContain(
    `AccessPolicy acme: people.acme-soo: the organization ${place.server.organization} has no identity provider of this name; did you mean acme-sso?`,
  );

  program.write(sourceOf({ own, "acme-sso": { externalGroups } }));
  await program.must("up", "--yes", "--skip-preview");
  const all = ["acme-sso /SRE owner", "acme-sso Audit auditor", "acme-sso Audit viewer", "own Dev viewer"];
  expect(mappings()).toEqual(all);
  const [sre] = place.rows("external_group_role_mappings", "external_group_id = ?", "/SRE");
  await place.call("DELETE", `/iam/v2beta1/externalGroupRoleMappings/${sre?.uid}`);
  await place.server.takeRequests();
  await program.must("up", "--refresh", "--yes", "--skip-preview");
  expect(await place.operations()).toEqual(["CreateExternalGroupRoleMapping"]);
  expect(mappings()).toEqual(all);

  await program.must("destroy", "--yes", "--skip-preview");
  expect(mappings()).toEqual([]);
  expect(await place.operations()).not.toContain("UpdateIdentityProvider");
  expect(place.rows("identity_providers").map(({ uid }) => uid)).toEqual([sso]);
});

describe("examples/environments", () => {
  const environment = (file: string) => example(file, "environments");
  let copy: ReturnType<typeof place.example>;
  let irm: (...args: string[]) => ReturnType<typeof irmIn>;
  beforeAll(async () => {
    const trial = await place.program("trial", environment("trial/index.ts"));
    await trial.must("up", "--yes", "--skip-preview");
    copy = place.example("environments");
  });

  /** Who has which role where in an organization: workloads by name, people by the group of their identity provider. */
  const holders = (organization: string) => {
    const named = ["groups", "identities", "roles"].flatMap((table) => place.rows(table));
    const nameOf = (uid: unknown) => named.find((row) => row.uid === uid)?.name;
    const below = (table: string) => place.rows(table, "uid LIKE ?", `${organization}/%`);
    return [
      ...below("external_group_role_mappings").map((row) => [row.external_group_id, row.role_uid, row.scope]),
      ...below("role_bindings").map((row) => [row.identity_uid, row.role_uid, row.parent]),
    ].map(([who, ...at]) => [nameOf(who) ?? who, ...at.map(nameOf)].join(" "));
  };
  const both = ["images publisher registry", "shop publisher shop", "shop registry.pull registry"];

  it.each([
    ["staging", "3 tests", ["Engineering editor", "Platform-SRE editor", "pull-requests viewer"]],
    ["production", "5 tests", ["Engineering viewer", "Platform-SRE editor"]],
  ])("has a stack of %s, whose policy passes %s, and gives what README says", async (name, count, own) => {
    const organization = place.uidOf("groups", `acme-${name}`);
    const policy = `${name}.yaml`;
    const { folder, open } = copy;
    writeFileSync(join(folder, policy), environment(policy).replace(/uid: \w+/, `uid: ${organization}`));
    const { must, env, sharedEngine } = await open(name);
    irm = (...args) => irmIn({ folder, env, sharedEngine }, args);
    const passed = { code: 0, stdout: expect.stringContaining(`${count}, all passed\n`) };
    expect(await irm("check", policy)).toMatchObject(passed);
    await must("up", "--yes", "--skip-preview");
    const held = ["owner owner", ...own].map((one) => `${one} acme-${name}`);
    expect(holders(organization).sort()).toEqual([...both, ...held].sort());
  });

  it("has a test that denies the edit of README, in a review of production", async () => {
    const file = join(copy.folder, "production.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("Engineering: [viewer]", "Engineering: [editor]"));
    const { code, stdout } = await irm("review", "--stack", "production", "--tests", "production.yaml");
    expect([code, stdout]).toEqual([3, expect.stringContaining("5 tests of access: 1 failed\n")]);
    const shown = environment("README.md").match(/^Findings\n(?:.+\n){2}/m)?.[0];
    expect(stdout).toContain(shown);
  });
});
