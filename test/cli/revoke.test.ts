// `irm revoke` at a real server, of identities that have three role bindings each: what it removes, what it writes down first, what it refuses, and
// how it goes on after a failure. Beside a policy: what leaves it, what `--undo` puts back, and what cannot be edited. `--binding` and
// `--external-group`: one grant goes, and everything else stays.
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, expect, test, vi } from "vitest";
import { IAM, serve, startPlainServer, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { startCommand } from "../support/command.ts";
import { exactFailure, failure, runIrm, success } from "../support/irm.ts";
import { useOwnFolder } from "../support/test-folder.ts";

const api = await serve({ faults: {} });
const platform = await createUid(api, "groups", api.organization, { name: "platform" });
const registry = await createUid(api, "groups", platform, { name: "registry" });
const helper = await api.actor("helper", { role: "owner" });
const { name: acme } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
const everything = [`${acme} viewer`, "platform editor", "registry registry.push"].sort();

useOwnFolder();
beforeEach(() => {
  signIn(api, helper.token);
  return () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    api.faults.set({});
  };
});

const bind = async (identity: string, at: string, role: string) =>
  createUid(api, "roleBindings", at, { identityUid: identity, roleUid: await api.role(role) });

let count = 0;
const target = async () => {
  count += 1;
  const name = `release-${count}`;
  const { uid, token } = await api.actor(name, { role: "viewer", in: platform });
  await bind(uid, platform, "editor");
  await bind(uid, registry, "registry.push");
  return { name, uid, token };
};

const heldBy = async (identity: string): Promise<string[]> => {
  const { roleBindings = [] } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity } });
  return (roleBindings as { group: { name: string }; role: { name: string } }[])
    .map(({ group, role }) => `${group.name} ${role.name}`)
    .sort();
};

const revoke = (...flags: string[]) => runIrm("revoke", ...flags);
const revokeAsJson = async (...flags: string[]) => {
  const { code, stdout, stderr } = await revoke(...flags, "--format", "json");
  return { code, stderr, ...JSON.parse(stdout) };
};

test("removes every role binding, writes them down first, and --undo puts back what is missing, not twice", async () => {
  const { name, uid } = await target();
  const { code, stdout, stderr } = await revoke("--identity", name, "--yes");
  const [file = ""] = readdirSync(".");
  expect(file).toMatch(
    new RegExp(`^irm-revoke-${uid.split("/").at(-1)}-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ\\.json$`),
  );
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `${name}  in platform  ${uid}
  /  viewer
  platform  editor
  platform/registry  registry.push
removed 3 role bindings; \`npx pulumi-irm revoke --undo ${process.cwd()}/${file}\` puts back what is missing
`,
  });
  expect(stderr).toBe(
    "if a program or another policy declares these role bindings, change it, or an update that refreshes grants the access again\n",
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await heldBy(uid)).toEqual([]);

  await bind(uid, platform, "editor");
  expect(await revoke("--undo", file)).toEqual(
    success(`${name}  in platform  ${uid}
  /  viewer
  platform  editor
  platform/registry  registry.push
put back 2 role bindings of ${name}; 1 existed
`),
  );
  expect(await heldBy(uid)).toEqual(everything);
  const again = await revokeAsJson("--undo", file);
  expect(again).toMatchObject({ code: 0, restored: [], present: [{}, {}, {}] });
  const { roleBindings } = await api.ok("GET", "/iam/v2beta1/roleBindings", { query: { identity: uid } });
  const uids = (list: readonly Record<string, string>[], key: string) => list.map((one) => one[key]).sort();
  expect(uids(again.present, "binding")).toEqual(uids(roleBindings, "uid"));
  expect(await heldBy(uid)).toEqual(everything);
});

test("prints JSON: binding and group by uid, the role by name, and the file; a second run removes nothing", async () => {
  const { uid } = await target();
  const { code, removed, undo } = await revokeAsJson("--identity", uid, "--yes", "--undo-file", "kept.json");
  expect({ code, undo }).toEqual({ code: 0, undo: join(process.cwd(), "kept.json") });
  const binding = (group: string) => expect.stringMatching(`^${group}/`);
  expect(removed).toHaveLength(3);
  expect(removed).toEqual(
    expect.arrayContaining([
      { binding: binding(api.organization), group: api.organization, role: "viewer" },
      { binding: binding(platform), group: platform, role: "editor" },
      { binding: binding(registry), group: registry, role: "registry.push" },
    ]),
  );
  expect(await revokeAsJson("--identity", uid, "--yes")).toEqual({ code: 0, stderr: "", removed: [], undo: null });
  expect(readdirSync(".")).toEqual(["kept.json"]);
});

test("writes the removal as a change, which review shows and apply carries out", async () => {
  const { uid } = await target();
  const { code, stdout } = await revoke("--identity", uid, "--out", "change.json");
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^change\.json removes 3 role bindings; `npx pulumi-irm review change\.json` shows it/,
    ),
  });
  expect(await heldBy(uid)).toEqual(everything);
  const reviewed = await runIrm("review", "change.json", "--format", "json");
  expect(reviewed.code, reviewed.stderr).toBe(0);
  expect(JSON.parse(reviewed.stdout)).toMatchObject({ writes: 3, identities: [{ uid, gains: [] }] });
  // One of them is gone meanwhile: the rest is still the change.
  const [first] = JSON.parse(readFileSync("change.json", "utf8")).writes;
  await api.ok("DELETE", `/iam/v2beta1/roleBindings/${first.uid}`);
  const applied = await runIrm("apply", "change.json", "--yes", "--format", "json");
  expect(applied.code, applied.stderr).toBe(0);
  expect(JSON.parse(applied.stdout)).toMatchObject({ applied: 2, refused: [], missing: 0 });
  expect(await heldBy(uid)).toEqual([]);
}, 60_000);

const deletes = () => api.faults.attempts().filter(({ operation }) => operation === "DeleteRoleBinding");

test("half done, lists what it removed with the file of all, exits with 1, and goes on in the next run", async () => {
  const { name, uid } = await target();
  const steps = Array.from({ length: 20 }, () => ({ status: 403 }));
  api.faults.set({ rules: [{ operation: "DeleteRoleBinding", steps: [{ delay: "1ms" }, ...steps] }] });
  const first = await revokeAsJson("--identity", name, "--yes");
  expect({ code: first.code, removed: first.removed.length }).toEqual({ code: 1, removed: 1 });
  expect(first.stderr).toContain("irm revoke: 2 role bindings not removed; run it again:\n  ");
  expect(await heldBy(uid)).toHaveLength(2);
  expect(JSON.parse(readFileSync(first.undo, "utf8")).bindings).toHaveLength(3);
  api.faults.set({});
  expect(await revokeAsJson("--identity", name, "--yes")).toMatchObject({ code: 0, removed: [{}, {}] });
  expect(await heldBy(uid)).toEqual([]);
  expect((await revoke("--undo", first.undo)).stdout).toMatch(`\nput back 3 role bindings of ${name}\n`);
  expect(await heldBy(uid)).toEqual(everything);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "half done, by %s, it reports that, and sends nothing more",
  async (signal) => {
    const { name, uid } = await target();
    for (let at = 0; at < 7; at += 1)
      await bind(uid, await createUid(api, "groups", platform, { name: `${name}-${at}` }), "viewer");
    const steps = Array.from({ length: 8 }, () => ({ hold: true }) as const);
    api.faults.set({ rules: [{ operation: "DeleteRoleBinding", steps }] });
    const running = startCommand("revoke", "--identity", uid, "--yes", "--format", "json");
    await vi.waitFor(() => expect(deletes()).toHaveLength(8), 20_000);
    running.process.kill(signal);
    await vi.waitFor(() => expect(running.stderr()).toContain("waiting for the requests under way\n"), 20_000);
    api.faults.release();
    const { code, stdout, stderr } = await running.finished;
    const { removed, undo } = JSON.parse(stdout);
    expect({ code, removed: removed.length }).toEqual({ code: 1, removed: 8 });
    expect(stderr).toContain("irm revoke: 2 role bindings not removed; run it again:\n  ");
    expect(stderr).toContain(": interrupted\n");
    expect(await heldBy(uid)).toHaveLength(2);
    expect(JSON.parse(readFileSync(undo, "utf8")).bindings).toHaveLength(10);
  },
);

test("half done, an undo that fails can be run again", async () => {
  const { name, uid } = await target();
  const { undo } = await revokeAsJson("--identity", name, "--yes");
  api.faults.set({ rules: [{ operation: "CreateRoleBinding", steps: [{ status: 403 }] }] });
  const { code, stdout, stderr } = await revoke("--undo", undo);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining(`\nput back 2 role bindings of ${name}\n`),
  });
  expect(stderr).toContain("1 role binding not put back; run it again:\n  ");
  expect((await revoke("--undo", undo)).stdout).toMatch(`\nput back 1 role binding of ${name}; 2 existed\n`);
  expect(await heldBy(uid)).toEqual(everything);
});

test("refuses the caller's own identity, unless --force is given", async () => {
  const { name, uid, token } = await target();
  await bind(uid, platform, "owner");
  vi.stubEnv("IRM_TOKEN", token);
  expect(await revoke("--identity", uid, "--yes")).toEqual(
    exactFailure(1, `irm revoke: ${name} is your own identity; give --force to remove its access all the same\n`),
  );
  expect(readdirSync(".")).toEqual([]);
  // It may remove what is in platform, and the right to do so goes last.
  const { code, removed } = await revokeAsJson("--identity", uid, "--yes", "--force");
  expect({ code, removed: removed.map(({ role }: { role: string }) => role) }).toEqual({
    code: 1,
    removed: ["registry.push", "editor", "owner"],
  });
  expect(await heldBy(uid)).toEqual([`${acme} viewer`]);
});

test("refuses a file that exists, and a folder that cannot be written: nothing is removed", async () => {
  const { uid } = await target();
  writeFileSync("mine.json", "mine");
  for (const [out, why] of [
    ["mine.json", `${process.cwd()}/mine.json exists already; give another name`],
    ["/no/undo.json", "cannot write /no/undo.json: ENOENT"],
  ] as const)
    expect(await revoke("--identity", uid, "--yes", "--format", "json", "--undo-file", out)).toEqual(
      exactFailure(1, `irm revoke: ${why}. Nothing was removed.\n`),
    );
  expect(await heldBy(uid)).toEqual(everything);
  expect(readFileSync("mine.json", "utf8")).toBe("mine");
});

test.each([
  ["{}", "undo.json is not a file that irm revoke wrote: "],
  ["no", "undo.json is not JSON"],
])("refuses an undo file that holds %s", async (text, message) => {
  writeFileSync("undo.json", text);
  expect(await revoke("--undo", "undo.json")).toEqual(failure(1, `irm revoke: ${message}`));
});

const changed = async (change: (text: string) => string) => {
  const { name, uid } = await target();
  const { undo } = await revokeAsJson("--identity", uid, "--yes");
  writeFileSync(undo, change(readFileSync(undo, "utf8")));
  return { name, uid, undo };
};
const refused = (undo: string, problem: string) =>
  exactFailure(
    1,
    `irm revoke: ${undo} names records as they are not called: ${problem}. Somebody has changed the file, or renamed them since. Nothing was put back; give --force to go by the uids.\n`,
  );

test("does not put back a changed file under the name of a smaller role, and --force shows what it is", async () => {
  const [viewer, owner] = [await api.role("viewer"), await api.role("owner")];
  const { name, uid, undo } = await changed((text) => text.replace(viewer, owner));
  expect(await revoke("--undo", undo)).toEqual(refused(undo, `role ${owner} is "owner", and not "viewer"`));
  expect(await heldBy(uid)).toEqual([]);
  const { code, stdout } = await revoke("--undo", undo, "--force");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `${name}  in platform  ${uid}\n  /  owner\n  platform  editor\n  platform/registry  registry.push\nput back 3 role bindings of ${name}\n`,
  });
});

test("does not put back a changed file to another identity, or in another group", async () => {
  const other = await target();
  const { name, uid, undo } = await changed((text) => text.replace(/"uid": "[^"]+"/, `"uid": "${other.uid}"`));
  expect(await revoke("--undo", undo)).toEqual(
    refused(undo, `identity ${other.uid} is "${other.name}", and not "${name}"`),
  );
  const moved = await changed((text) => text.replace(`"group": "${platform}"`, `"group": "${api.organization}"`));
  expect(await revoke("--undo", moved.undo)).toEqual(
    refused(moved.undo, `group ${api.organization} is "${acme}", and not "platform"`),
  );
  expect([await heldBy(uid), await heldBy(moved.uid)]).toEqual([[], []]);
});

test("does not put back a changed file from a file that every user of the machine can write", async () => {
  const { uid, undo } = await changed((text) => text);
  chmodSync(undo, 0o666);
  expect(await revoke("--undo", undo)).toEqual(
    exactFailure(
      1,
      `irm revoke: ${undo} can be written by every user of this machine, who can change what it grants. Nothing was put back; read it, and give a copy of your own.\n`,
    ),
  );
  expect(await heldBy(uid)).toEqual([]);
});

test("says what it cannot see, and reports a role that the identity gets meanwhile", async () => {
  const { name, uid } = await target();
  const part = await api.actor(`part-of-${name}`, { role: "owner", at: platform });
  vi.stubEnv("IRM_TOKEN", part.token);
  const { code, removed, stderr } = await revokeAsJson("--identity", name, "--yes");
  expect({ code, removed: removed.length }).toEqual({ code: 0, removed: 2 });
  expect(stderr).toContain("not visible to you, so access may be left: role bindings of /\n");
  expect(await heldBy(uid)).toEqual([`${acme} viewer`]);

  vi.stubEnv("IRM_TOKEN", helper.token);
  api.faults.set({ rules: [{ operation: "DeleteRoleBinding", steps: [{ hold: true }] }] });
  const running = revokeAsJson("--identity", name, "--yes");
  await vi.waitFor(() => expect(deletes()).toHaveLength(1), 20_000);
  await bind(uid, registry, "viewer");
  api.faults.release();
  const late = await running;
  expect({ code: late.code, removed: late.removed.length }).toEqual({ code: 1, removed: 1 });
  expect(late.stderr).toContain(`irm revoke: ${name} has got 1 role binding meanwhile; run it again\n`);
});

test("does not believe a service that says of a binding that it is gone, and lists it", async () => {
  const { name, uid } = await target();
  api.faults.set({ rules: [{ operation: "DeleteRoleBinding", steps: [{ status: 404 }] }] });
  const { code, stderr } = await revokeAsJson("--identity", name, "--yes");
  expect(await heldBy(uid)).toHaveLength(1);
  expect(code).toBe(1);
  expect(stderr).toContain(`irm revoke: ${name} still has 1 role binding, though the service says`);
});

const terminal = () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as never);
  return stdin;
};
const answer = (text: string) => terminal().end(text);

test.each([["n\n"], ["\n"], [""]])("at a terminal, it asks, and %j removes nothing", async (text) => {
  const { uid } = await target();
  answer(text);
  const { code, stderr } = await revoke("--identity", uid);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/\? \(y\/N\) [\s\S]*irm revoke: nothing was removed\n/)]);
  expect([await heldBy(uid), readdirSync(".")]).toEqual([everything, []]);
});

test("at a terminal, what somebody removes before the answer is not put back by an undo", async () => {
  const { name, uid } = await target();
  const stdin = terminal();
  const running = revokeAsJson("--identity", uid);
  await vi.waitFor(
    () => expect(stdin.listenerCount("data") + stdin.listenerCount("readable")).toBeGreaterThan(0),
    20_000,
  );
  const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: uid } });
  const [other] = roleBindings as [{ uid: string; group: { name: string }; role: { name: string } }];
  await api.ok("DELETE", `${IAM}/roleBindings/${other.uid}`);
  stdin.end("yes\n");
  const { code, removed, undo } = await running;
  expect({ code, removed: removed.length }).toEqual({ code: 0, removed: 2 });
  expect((await revoke("--undo", undo, "--yes")).stdout).toMatch(`\nput back 2 role bindings of ${name}\n`);
  expect(await heldBy(uid)).toEqual(everything.filter((one) => one !== `${other.group.name} ${other.role.name}`));
});

test("at a terminal, it shows what an undo grants, and asks", async () => {
  const { name, uid } = await target();
  const { undo } = await revokeAsJson("--identity", uid, "--yes");
  answer("n\n");
  const { code, stdout, stderr } = await revoke("--undo", undo);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("  platform  editor\n") });
  expect(stderr).toContain(`Put this access of ${name} back? (y/N) `);
  expect(stderr).toContain("irm revoke: nothing was put back\n");
  expect(await heldBy(uid)).toEqual([]);
});

test("names the program of the folder", async () => {
  const { uid } = await target();
  writeFileSync("Pulumi.yaml", "name: none\nruntime: nodejs\n");
  vi.stubEnv("PATH", "/nowhere");
  const { stderr } = await revokeAsJson("--identity", uid, "--yes");
  expect(stderr).toContain(
    `if the program in ${process.cwd()} declares these role bindings, change it, or an update that refreshes grants the access again\n`,
  );
  expect(existsSync("access.yaml")).toBe(false);
});

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

test("with access.yaml: takes what it grants out of it, and a program is named for the rest", async () => {
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

test("with access.yaml: an undo says what is to be put back where it cannot edit the policy, or has none", async () => {
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

test("with access.yaml: an undo gives no role in the policy to another identity", async () => {
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

test("with access.yaml: takes it out also where the role bindings are gone already", async () => {
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
])("with access.yaml: removes the access, and fails, where it cannot edit %j", async (rows, why) => {
  const { uid, policy, revoked } = await targetOf(rows);
  const { code, removed, stderr } = await revoked();
  expect({ code, removed: removed.length }).toEqual({ code: 1, removed: 3 });
  expect(stderr).toContain(AS_IT_WAS);
  expect(stderr).toContain(why);
  expect([await heldBy(uid), read()]).toEqual([[], policy(rows)]);
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

test("docs/revoke.md shows what its example prints", async () => {
  const page = readFileSync(new URL("../../docs/revoke.md", import.meta.url), "utf8");
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

test("--binding removes one role binding, and --undo puts it back", async () => {
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

test("--binding removes one of two equal ones and keeps the entry, and then the other with it", async () => {
  const rows = "  platform: { editor: [NAME] }\n  platform/registry: { registry.push: [NAME] }\n";
  const { uid, policy } = await targetOf(rows);
  await bind(uid, platform, "editor");
  const first = await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes");
  expect(first).toMatchObject({ code: 0, removed: [{ group: platform, role: "editor" }] });
  expect([await heldBy(uid), read()]).toEqual([everything, policy(rows)]);
  expect((await revokeAsJson("--binding", await bindingOf(uid, "editor"), "--yes")).code).toBe(0);
  expect(await heldBy(uid)).toEqual(everything.filter((one) => one !== "platform editor"));
  expect(read()).toBe(policy("  platform/registry: { registry.push: [NAME] }\n"));
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

test("--external-group removes one mapping, with the same report and undo", async () => {
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

test("--external-group exits with 1 and names the entry of a policy that would grant it again", async () => {
  const mapping = await map("Ops", "editor");
  writeFileSync("access.yaml", `organization: ${acme}\npeople: { sso: { externalGroups: { Ops: [editor] } } }\n`);
  const { code, stderr } = await revokeAsJson("--external-group", mapping, "--yes");
  expect({ code, left: (await mapped()).filter((one) => one.startsWith("Ops")) }).toEqual({ code: 1, left: [] });
  expect(stderr).toContain("may grant the access again: take out people.sso.externalGroups.Ops: editor\n");
});

test("--external-group refuses the last owner, also where only people are owners, unless --force is given", async () => {
  const other = await serve();
  const admin = await createUid(other, "roles", other.organization, {
    name: "admin",
    capabilities: ["GROUPS", "IDENTITY", "ROLES", "ROLE_BINDINGS", "IDENTITY_PROVIDERS"].flatMap((kind) => [
      `CAP_IAM_${kind}_LIST`,
      `CAP_IAM_${kind}_DELETE`,
    ]),
  });
  const { token } = await other.actor("admin", { role: admin });
  signIn(other, token);
  expect(await revoke("--identity", other.identity, "--yes")).toEqual(
    failure(1, /^irm revoke: owner is the last owner of .* that you can see; give --force/),
  );
  const mapping = await map("SRE", "owner", other, await createProvider(other));
  expect((await revoke("--identity", other.identity, "--yes", "--force")).code).toBe(0);
  expect(await revoke("--external-group", mapping, "--yes")).toEqual(
    failure(1, /^irm revoke: external group SRE of sso is the last owner of .* that you can see/),
  );
  expect((await revoke("--external-group", mapping, "--yes", "--force")).code).toBe(0);
});
