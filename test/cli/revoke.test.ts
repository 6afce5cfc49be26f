// `irm revoke` at a real server: what it removes, what it writes down first, what it refuses, and how it goes on after a failure.
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { IAM, serve } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { startCommand } from "../support/command.ts";
import { exactFailure, failure, runIrm, success } from "../support/irm.ts";
import { startRevocations } from "./revocations.ts";

const { api, platform, registry, helper, acme, everything, bind, target, heldBy, revoke, revokeAsJson } =
  await startRevocations();

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

describe("refuses", () => {
  test("the caller's own identity, unless --force is given", async () => {
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

  test("the last owner of the organization, unless --force is given", async () => {
    const other = await serve();
    const admin = await createUid(other, "roles", other.organization, {
      name: "admin",
      capabilities: [
        ...["LIST", "DELETE", "CREATE"].map((verb) => `CAP_IAM_ROLE_BINDINGS_${verb}`),
        ...["GROUPS", "IDENTITY", "ROLES"].map((kind) => `CAP_IAM_${kind}_LIST`),
      ],
    });
    const { token } = await other.actor("admin", { role: admin });
    signIn(other, token);
    expect(await revoke("--identity", other.identity, "--yes")).toEqual(
      failure(1, /^irm revoke: owner is the last owner of .* that you can see; give --force/),
    );
    expect((await revoke("--identity", other.identity, "--yes", "--force")).code).toBe(0);
  });

  test("a file that exists, and a folder that cannot be written: nothing is removed", async () => {
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
  ])("an undo file that holds %s", async (text, message) => {
    writeFileSync("undo.json", text);
    expect(await revoke("--undo", "undo.json")).toEqual(failure(1, `irm revoke: ${message}`));
  });
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
