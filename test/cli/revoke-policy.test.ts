// `irm revoke` in the folder of a policy, with `--undo`; and `--binding` and `--external-group`.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { IAM, serve, startPlainServer, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { exactFailure, failure, success } from "../support/irm.ts";
import { startRevocations } from "./revocations.ts";

const { acme, api, platform, everything, bind, target, heldBy, revoke, revokeAsJson } = await startRevocations();

const read = (file = "access.yaml") => readFileSync(file, "utf8");
const policyOf = (name: string, access: string) =>
  `organization: ${acme}\ngroups: { platform: { groups: { registry: {} } } }\nidentities:\n  # of CI\n  ${name}: { in: platform, claimMatch: { issuer: "https://issuer.example", subject: a } }\n  other: { claimMatch: { issuer: "https://issuer.example", subject: b } }\naccess:\n${access}`;
/** An identity, which NAME stands for in what access.yaml grants. */
const targetOf = async (rows: string) => {
  const { name, uid } = await target();
  const policy = (access: string) => policyOf(name, access.replaceAll("NAME", name));
  writeFileSync("access.yaml", policy(rows));
  return { name, uid, policy, revoked: () => revokeAsJson("--identity", uid, "--yes") };
};
const AS_IT_WAS =
  "irm revoke: access.yaml is as it was, and an update that refreshes may grant the access again: access.yaml:";

describe("with access.yaml in the folder", () => {
  test("takes what it grants out of it, and a program is named for the rest", async () => {
    const { name, uid, policy } = await targetOf(
      "  platform: { editor: [NAME, other] } # both\n  platform/registry:\n    registry.push: [NAME]\n",
    );
    const { code, stdout, stderr } = await revoke("--identity", name, "--yes");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        "if a program or another policy declares this role binding, change it, or an update that refreshes grants the access again\n",
    });
    expect(stdout).toContain(`  access.yaml  access.platform.editor: ${name}\n`);
    expect(stdout).toMatch(/\nremoved 2 entries from access\.yaml\n$/);
    expect(read()).toBe(policy("  platform: { editor: [other] } # both\n"));
    const [file = ""] = readdirSync(".").filter((one) => one.startsWith("irm-revoke-"));
    expect(await revoke("--undo", file)).toEqual(
      success(
        expect.stringMatching(
          `\n  access.yaml  access.platform.editor: ${name}\n  access.yaml  access.platform/registry.registry.push: ${name}\nput back 3 role bindings of ${name}\nput back 2 entries in access.yaml\n$`,
        ),
      ),
    );
    const restored = policy(
      "  platform: { editor: [other, NAME] } # both\n  platform/registry:\n    registry.push: [ NAME ]\n",
    );
    expect(read()).toBe(restored);
    // A second time there is nothing to put back.
    expect((await revoke("--undo", file)).stdout).toMatch(`\nput back 0 role bindings of ${name}; 3 existed\n`);
    expect([read(), await heldBy(uid)]).toEqual([restored, everything]);
  });

  test("an undo says what is to be put back where it cannot edit the policy, or has none", async () => {
    const { name, revoked } = await targetOf("  platform: { editor: [NAME, other] }\n");
    const { undo } = await revoked();
    const changed = policyOf("another", "  platform: { editor: [other] }\n");
    writeFileSync("access.yaml", changed);
    const { code, restored, stderr } = await revokeAsJson("--undo", undo);
    expect({ code, restored: restored.length, stderr, text: read() }).toEqual({
      ...{ code: 1, restored: 3, text: changed },
      stderr: `irm revoke: access.yaml is as it was, and its next update removes the access again: after that, access.platform.editor[1]: there is no identity ${name}; declare it in identities\n`,
    });
    rmSync("access.yaml");
    expect(await revoke("--undo", undo)).toEqual({
      code: 0,
      stdout: expect.stringContaining(`\nput back 0 role bindings of ${name}; 3 existed\n`),
      stderr: `there is no access.yaml here; put these back in the policy too, or its next update removes the access: access.platform.editor: ${name}\n`,
    });
  });

  test("an undo gives no role in the policy to another identity", async () => {
    const { name, uid, revoked } = await targetOf("  platform: { editor: [NAME, other] }\n");
    const { undo } = await revoked();
    const left = read();
    writeFileSync(undo, read(undo).replace(`"identity": "${name}"`, '"identity": "other"'));
    const { code, stderr } = await revoke("--undo", undo);
    expect({ code, stderr, text: read() }).toEqual({
      ...{ code: 1, text: left },
      stderr: `irm revoke: access.yaml is as it was, and its next update removes the access again: access.yaml: identities.other is not ${uid}\n`,
    });
  });

  test("takes it out also where the role bindings are gone already", async () => {
    const { uid, policy, revoked } = await targetOf("  /: { viewer: [NAME] }\n");
    for (const { uid: binding } of (await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: uid } }))
      .roleBindings)
      await api.ok("DELETE", `${IAM}/roleBindings/${binding}`);
    expect(await revoked()).toMatchObject({ code: 0, removed: [], undo: expect.any(String) });
    expect(read()).toBe(policy("").replace(/access:\n$/, "access: {}\n"));
  });

  test.each([
    [
      "  /: &rows { viewer: [NAME] }\n  platform: { <<: *rows, editor: [other] }\n",
      "an alias stands for an entry that would go; write it out",
    ],
    ["  /: { viewer: [NAME, nobody-here] }\n", "there is no identity nobody-here; declare it in identities"],
  ])("removes the access, and fails, where it cannot edit %j", async (rows, why) => {
    const { uid, policy, revoked } = await targetOf(rows);
    const { code, removed, stderr } = await revoked();
    expect({ code, removed: removed.length }).toEqual({ code: 1, removed: 3 });
    expect(stderr).toContain(AS_IT_WAS);
    expect(stderr).toContain(why);
    expect([await heldBy(uid), read()]).toEqual([[], policy(rows)]);
  });
});

const rows = "  platform: { editor: [NAME] }\n";
const adopt = (uids: object) => writeFileSync("adopt.json", JSON.stringify(uids));

test("with adopt.json beside it, equal names are no obstacle: a key is the record of its uid", async () => {
  const { name, uid, policy, revoked } = await targetOf(rows);
  const other = await createUid(api, "identities", platform, { name });
  const doubt = await revokeAsJson("--identity", other, "--yes");
  expect({ code: doubt.code, stderr: doubt.stderr }).toEqual({
    code: 1,
    stderr: `${AS_IT_WAS} identities.${name} may be another one: platform has 2 identities of the name ${name}\n`,
  });
  adopt({ groups: {}, identities: { [name]: uid } });
  expect(await revokeAsJson("--identity", other, "--yes")).toEqual({ code: 0, stderr: "", removed: [], undo: null });
  expect(read()).toBe(policy(rows));
  expect(await revoked()).toMatchObject({ code: 0, removed: [{}, {}, {}] });
  expect(read()).toBe(policy("").replace(/access:\n$/, "access: {}\n"));
});

test("with adopt.json beside it, an entry of a record that is gone counts by its name", async () => {
  const { name, revoked } = await targetOf(rows);
  adopt({ identities: { [name]: `${platform}/${"f".repeat(16)}` } });
  expect((await revoked()).code).toBe(0);
  expect(read()).toContain("access: {}");
});

test("with adopt.json beside it, a file with mistakes is reported, and the access goes", async () => {
  const { policy, revoked } = await targetOf(rows);
  adopt({ identities: { a: "b" }, x: {} });
  const { code, removed, stderr } = await revoked();
  expect({ code, removed: removed.length, text: read() }).toEqual({ code: 1, removed: 3, text: policy(rows) });
  expect(stderr).toContain(
    "may grant the access again: adopt.json: x: there is no such section; there are groups, identities, roles, resources\nadopt.json: identities.a: must be a uid\n",
  );
});

test("docs/access.md#revoke shows what its example prints", async () => {
  const [, page = ""] = readFileSync(new URL("../../docs/access.md", import.meta.url), "utf8").split(
    '<a id="revoke"></a>',
  );
  const fences = [...page.matchAll(/```(?:yaml)?\n(.*?)```\n/gs)].map(([, text = ""]) => text);
  const [policy = "", printed, left] = fences;
  const other = await startPlainServer("{ name: acme }");
  const { groups } = await other.ok("GET", `${IAM}/groups`);
  const [{ uid: root }] = groups as [{ uid: string }];
  const team = await createUid(other, "groups", root, { name: "platform" });
  const images = await createUid(other, "groups", team, { name: "registry" });
  const identityUid = await createUid(other, "identities", team, { name: "release" });
  for (const [group, role] of [
    [root, "editor"],
    [team, "viewer"],
    [images, "registry.push"],
  ] as const)
    await createUid(other, "roleBindings", group, { identityUid, roleUid: await other.role(role) });
  signIn(other);
  writeFileSync("access.yaml", policy);
  const { stdout, stderr } = await revoke("--identity", "release", "--yes");
  const plain = (text = "") => text.replace(/[0-9a-f]{40}[0-9a-f/]*/g, "UID").replace(/--undo \S+`/, "--undo FILE`");
  expect(`$ npx pulumi-irm revoke --identity release --yes\n${plain(stdout + stderr)}`).toBe(plain(printed));
  expect(readFileSync("access.yaml", "utf8")).toBe(left);
  const [, undone] = /irm-revoke-[^\n]*\.json\n```\n\n```\n(.*?)```\n/s.exec(page.slice(page.indexOf("## Undo"))) ?? [];
  const [file = ""] = readdirSync(".").filter((name) => name.startsWith("irm-revoke-"));
  expect(plain((await revoke("--undo", file)).stdout)).toBe(plain(undone));
});

const bindingOf = async (identity: string, role: string): Promise<string> => {
  const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity } });
  const found = (roleBindings as { uid: string; role: { name: string } }[]).find((one) => one.role.name === role);
  return found?.uid as string;
};

test("--binding removes one of two equal ones and keeps the entry, and then the other with it; --undo puts one back", async () => {
  const rows = "  platform: { editor: [NAME] }\n  platform/registry: { registry.push: [NAME] }\n";
  const { name, uid, policy } = await targetOf(rows);
  await bind(uid, platform, "editor");
  const first = await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes");
  expect(first).toMatchObject({ code: 0, removed: [{ group: platform, role: "editor" }] });
  expect([await heldBy(uid), read()]).toEqual([everything, policy(rows)]);
  const { code, undo } = await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes");
  expect([code, await heldBy(uid)]).toEqual([0, everything.filter((one) => one !== "platform editor")]);
  expect(read()).toBe(policy("  platform/registry: { registry.push: [NAME] }\n"));
  expect((await revoke("--undo", undo)).stdout).toContain(`\nput back 1 role binding of ${name}\n`);
  expect(await heldBy(uid)).toEqual(everything);
});

test("--binding says what another uid is", async () => {
  const { uid } = await target();
  expect(await revoke("--binding", uid, "--yes")).toEqual(
    exactFailure(
      1,
      `irm revoke: --binding: you can see no role binding with the uid "${uid}"; it is an identity: --identity removes all its access\n`,
    ),
  );
  expect((await revoke("--binding", `${platform}/0000000000000000`, "--yes")).stderr).toContain(
    "; `npx pulumi-irm drift` prints the uids of grants that nothing declares\n",
  );
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
    expect(await revoke("--undo", undo)).toEqual(
      success(
        `external group SRE of sso  in /  ${sso}\n  /  editor\nput back 1 external group role mapping of external group SRE of sso\n`,
      ),
    );
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
