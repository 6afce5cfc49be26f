// A service, or a cache before it, whose lists are wrong: a command says so in one message, and the list decides nothing.
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { IAM, serve } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { runIrm } from "../support/irm.ts";
import { startProxy } from "../support/proxy.ts";

const api = await serve();
const platform = await createUid(api, "groups", api.organization, { name: "platform" });
const { uid: release } = await api.actor("release", { role: "viewer", at: platform });
const proxy = await startProxy(() => api.baseUrl);
afterAll(() => proxy.close());

type Page = Record<string, unknown>;
type Lie = (records: Page[]) => Page;

const lie = async (plural: string, change: Lie): Promise<void> => {
  const { [plural]: records } = await api.ok("GET", `${IAM}/${plural}`);
  const stop = proxy.answer("GET", new RegExp(`/${plural}\\?`), 200, change(records as Page[]));
  stops.push(stop);
};
const stops: (() => void)[] = [];
beforeEach(() => {
  signIn({ ...api, baseUrl: proxy.url });
  return () => {
    for (const stop of stops.splice(0)) stop();
    vi.unstubAllEnvs();
  };
});

const COMMANDS = [["export"], ["revoke", "--identity", release, "--yes"], ["access", "--unused", "90d"]];
const AGAIN =
  "Run it again; if it happens again, the service, or a proxy or cache before it, gives wrong answers: is irm:baseUrl (IRM_BASE_URL) the right address?\n";

const root = "f".repeat(40);
const bindings = (change: Page) => (records: Page[]) => ({
  roleBindings: records.map((one, i) => (i === 0 ? { ...one, ...change } : one)),
});

test.each<[what: string, lieOf: Lie, problem: string]>([
  ["without a uid", bindings({ uid: undefined }), "the service lists a record without a uid."],
  ["with an empty uid", bindings({ uid: "" }), "the service lists a record without a uid."],
  [
    "with a wrong uid",
    bindings({ uid: "../\u001b[2J" }),
    'the service lists a record with the uid "../\\u001b[2J", which is none.',
  ],
  [
    "at the root",
    bindings({ uid: root }),
    `the service lists the role binding ${root}, at a level where there is no role binding.`,
  ],
  ["without an identity", bindings({ identity: undefined }), "whose identity is missing."],
  ["of a role that is no record", bindings({ role: { uid: "x", name: "viewer" } }), 'whose role is not a uid: "x".'],
  [
    "of a list whose page token repeats itself",
    (roleBindings) => ({ roleBindings, nextPageToken: "again" }),
    "the service returned the same page token twice (",
  ],
])("a role binding %s: %s", async (what, lieOf, problem) => {
  // Each of them reads with the same function.
  for (const [command = "", ...flags] of what === "without a uid" ? COMMANDS : COMMANDS.slice(1, 2)) {
    await lie("roleBindings", lieOf);
    const { code, stdout, stderr } = await runIrm(command, ...flags);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`irm ${command}: ListRoleBindings: `);
    expect(stderr).toContain(problem);
    expect(stderr.endsWith(AGAIN)).toBe(true);
  }
  expect((await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: release } })).roleBindings).toHaveLength(1);
});

test("a record that is listed twice counts once", async () => {
  await lie("roleBindings", (roleBindings) => ({ roleBindings: [...roleBindings, ...roleBindings] }));
  const { stdout } = await runIrm("access", "--identity", release);
  expect(stdout).toMatch(/\n1 identity, 1 binding\n$/);
});

test("whoami: a group without a uid", async () => {
  await lie("groups", () => ({ groups: [{ name: "acme" }] }));
  expect(await runIrm("access", "whoami")).toEqual({
    code: 1,
    stdout: "",
    stderr: `irm access whoami: ListGroups: the service lists a record "acme" without a uid. ${AGAIN}`,
  });
});
