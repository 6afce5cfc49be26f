// `irm revoke --binding` and `--external-group`: one grant goes, and everything else stays.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { IAM, serve, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { failure } from "../support/irm.ts";
import { startRevocations } from "./revocations.ts";

const { api, acme, platform, everything, bind, target, heldBy, revoke, revokeAsJson } = await startRevocations();

describe("--binding", () => {
  /** uid of the role binding of an identity with this role */
  const bindingOf = async (identity: string, role: string): Promise<string> => {
    const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity } });
    const found = (roleBindings as { uid: string; role: { name: string } }[]).find((one) => one.role.name === role);
    return found?.uid as string;
  };

  test("removes one role binding, and --undo puts it back", async () => {
    const { name, uid } = await target();
    const editor = await bindingOf(uid, "editor");
    const { code, stdout } = await revoke("--binding", editor, "--yes");
    const [file = ""] = readdirSync(".");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${name}  in platform  ${uid}
  platform  editor
removed 1 role binding; \`npx pulumi-irm revoke --undo ${process.cwd()}/${file}\` puts back what is missing
`,
    });
    expect(await heldBy(uid)).toEqual(everything.filter((one) => one !== "platform editor"));
    expect((await revoke("--undo", file)).stdout).toMatch(`\nput back 1 role binding of ${name}\n`);
    expect(await heldBy(uid)).toEqual(everything);
  });

  test("removes one of two that grant the same, so the policy keeps its entry, and then the other with the entry", async () => {
    const { name, uid } = await target();
    await bind(uid, platform, "editor");
    const policy = (rows: string) =>
      `organization: ${acme}\ngroups: { platform: { groups: { registry: {} } } }\nidentities: { ${name}: { in: platform, claimMatch: { issuer: "https://issuer.example", subject: a } } }\naccess:\n${rows}`;
    const rows = `  platform: { editor: [${name}] }\n  platform/registry: { registry.push: [${name}] }\n`;
    writeFileSync("access.yaml", policy(rows));
    const first = await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes");
    expect(first).toMatchObject({ code: 0, removed: [{ group: platform, role: "editor" }] });
    expect([await heldBy(uid), readFileSync("access.yaml", "utf8")]).toEqual([everything, policy(rows)]);
    expect((await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes")).code).toBe(0);
    expect(await heldBy(uid)).toEqual(everything.filter((one) => one !== "platform editor"));
    expect(readFileSync("access.yaml", "utf8")).toBe(policy(`  platform/registry: { registry.push: [${name}] }\n`));
  });

  test("says what another uid is", async () => {
    const { uid } = await target();
    expect(await revoke("--binding", uid, "--yes")).toEqual({
      code: 1,
      stdout: "",
      stderr: `irm revoke: --binding: you can see no role binding with the uid "${uid}"; it is an identity: --identity removes all its access\n`,
    });
    expect((await revoke("--binding", `${platform}/0000000000000000`, "--yes")).stderr).toContain(
      "; `npx pulumi-irm drift` prints the uids of grants that nothing declares\n",
    );
  });
});

describe("--external-group", async () => {
  const oidc = { issuer: "https://acme.okta.example", clientId: "irm", pkceEnabled: true, groupsClaim: "groups" };
  const createProvider = async (at: TestServer) =>
    createUid(at, "identityProviders", at.organization, { name: "sso", defaultRole: await at.role("viewer"), oidc });
  const sso = await createProvider(api);
  const map = async (externalGroupId: string, role: string, at = api, provider = sso) => {
    const fields = { externalGroupId, roleUid: await at.role(role), scope: at.organization };
    return createUid(at, "externalGroupRoleMappings", provider, fields);
  };
  const mapped = async (): Promise<string[]> => {
    const { externalGroupRoleMappings = [] } = await api.ok("GET", `${IAM}/externalGroupRoleMappings`);
    const names = new Map([
      [await api.role("editor"), "editor"],
      [await api.role("owner"), "owner"],
    ]);
    return (externalGroupRoleMappings as { externalGroupId: string; roleUid: string }[])
      .map((one) => `${one.externalGroupId} ${names.get(one.roleUid)}`)
      .sort();
  };

  test("removes one mapping, with the same report and undo", async () => {
    const [mapping] = [await map("SRE", "editor"), await map("SRE", "owner"), await map("Dev", "editor")];
    const { code, removed, undo, stderr } = await revokeAsJson("--external-group", mapping as string, "--yes");
    expect({ code, removed }).toEqual({ code: 0, removed: [{ mapping, group: api.organization, role: "editor" }] });
    expect(stderr).toBe(
      "if a program or another policy declares this external group role mapping, change it, or an update that refreshes grants the access again\n",
    );
    expect(await mapped()).toEqual(["Dev editor", "SRE owner"]);
    expect(await revoke("--undo", undo)).toEqual({
      code: 0,
      stdout: `external group SRE of sso  in /  ${sso}\n  /  editor\nput back 1 external group role mapping of external group SRE of sso\n`,
      stderr: "",
    });
    expect((await revoke("--undo", undo)).stdout).toContain("put back 0 external group role mappings of");
    expect(await mapped()).toEqual(["Dev editor", "SRE editor", "SRE owner"]);
  });

  test("exits with 1 and names the entry of a policy that would grant it again", async () => {
    const mapping = await map("Ops", "editor");
    writeFileSync("access.yaml", `organization: ${acme}\npeople: { sso: { externalGroups: { Ops: [editor] } } }\n`);
    const { code, stderr } = await revokeAsJson("--external-group", mapping, "--yes");
    expect({ code, left: (await mapped()).filter((one) => one.startsWith("Ops")) }).toEqual({ code: 1, left: [] });
    expect(stderr).toContain("may grant the access again: take out people.sso.externalGroups.Ops: editor\n");
  });

  test("refuses the last owner, where only people are owners", async () => {
    const other = await serve();
    const mapping = await map("SRE", "owner", other, await createProvider(other));
    const admin = await createUid(other, "roles", other.organization, {
      name: "admin",
      capabilities: ["GROUPS", "IDENTITY", "ROLES", "ROLE_BINDINGS", "IDENTITY_PROVIDERS"].flatMap((kind) => [
        `CAP_IAM_${kind}_LIST`,
        `CAP_IAM_${kind}_DELETE`,
      ]),
    });
    const { token } = await other.actor("admin", { role: admin });
    signIn(other, token);
    expect((await revoke("--identity", other.identity, "--yes", "--force")).code).toBe(0);
    expect(await revoke("--external-group", mapping, "--yes")).toEqual(
      failure(1, /^irm revoke: external group SRE of sso is the last owner of .* that you can see/),
    );
    expect((await revoke("--external-group", mapping, "--yes", "--force")).code).toBe(0);
  });
});
