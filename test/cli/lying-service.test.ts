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

const COMMANDS: [string, ...string[]][] = [
  ["export"],
  ["revoke", "--identity", release, "--yes"],
  ["access", "--unused", "90d"],
];
const AGAIN =
  "Run it again; if it happens again, the service, or a proxy or cache before it, gives wrong answers: is irm:baseUrl (IRM_BASE_URL) the right address?\n";

// test/access/graph/live.test.ts has the other lies about a record.
test.each(COMMANDS)(
  "a role binding without a uid ends irm %s, which has changed nothing",
  async (command, ...flags) => {
    await lie("roleBindings", (roleBindings) => ({ roleBindings: roleBindings.map(({ uid: _, ...one }) => one) }));
    const { code, stdout, stderr } = await runIrm(command, ...flags);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(`irm ${command}: ListRoleBindings: the service lists a record without a uid. ${AGAIN}`);
    expect((await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: release } })).roleBindings).toHaveLength(1);
  },
);

test("whoami: a group without a uid", async () => {
  await lie("groups", () => ({ groups: [{ name: "acme" }] }));
  expect(await runIrm("access", "whoami")).toEqual({
    code: 1,
    stdout: "",
    stderr: `irm access whoami: ListGroups: the service lists a record "acme" without a uid. ${AGAIN}`,
  });
});
