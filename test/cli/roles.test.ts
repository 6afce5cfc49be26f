// `irm roles`: what the service has changed in its built-in roles since they were written down, and whom that reaches.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import type { RolesReport } from "../../access/format/roles.ts";
import { BUILT_IN_ROLE_CAPABILITIES, BUILT_IN_ROLES_SOURCE, type RoleBundles } from "../../schema/index.ts";
import { ensureRoles } from "../../server/seed/roles.ts";
import { openDatabase } from "../../server/store/database.ts";
import { shapes } from "../../server/store/shape.ts";
import { createStore } from "../../server/store/store.ts";
import { createUid } from "../harness/records.ts";
import { serveSignedIn } from "../harness/signed-in.ts";
import { failure, runIrm } from "../support/irm.ts";
import { startProxy } from "../support/proxy.ts";
import { testFolder } from "../support/test-folder.ts";

const store = createStore(openDatabase(":memory:"));
const api = await serveSignedIn({ store });
const { organization } = api;
const platform = await createUid(api, "groups", organization, { name: "platform" });
const registry = await createUid(api, "groups", platform, { name: "registry" });
const reader = await api.actor("reader", { role: "viewer", at: registry });
const folder = testFolder();
const LOCK = "roles.lock.yaml";

const useFolder = (name: string): void => {
  mkdirSync(folder.path(name), { recursive: true });
  vi.spyOn(process, "cwd").mockReturnValue(folder.path(name));
};
beforeEach(() => {
  useFolder("live");
  return () => {
    vi.restoreAllMocks();
    change(BUILT_IN_ROLE_CAPABILITIES);
  };
});
const lockIn = (name: string): string => readFileSync(folder.path(`${name}/${LOCK}`), "utf8");

const change = (bundles: RoleBundles): void => ensureRoles(store, bundles, 0);
const withRole = (name: string, capabilities: readonly string[]): RoleBundles => ({
  ...BUILT_IN_ROLE_CAPABILITIES,
  [name]: capabilities,
});
const VIEWER = BUILT_IN_ROLE_CAPABILITIES.viewer as readonly string[];

const roles = (...flags: string[]) => runIrm("roles", ...flags);
const json = async (...flags: string[]): Promise<RolesReport & { code: number }> => {
  const { code, stdout } = await roles("--format", "json", ...flags);
  return { code, ...JSON.parse(stdout) };
};

test("without a lock lists what the service has, compares with the table, and exits with 0", async () => {
  const { code, roles: listed, changed } = await json();
  expect({ code, changed }).toEqual({ code: 0, changed: [] });
  expect(listed).toHaveLength(20);
  expect(listed.find(({ name }) => name === "viewer")).toEqual({
    name: "viewer",
    uid: await api.role("viewer"),
    capabilities: VIEWER,
  });
  change(withRole("viewer", [...VIEWER, "skills.publish"]));
  const { stdout, code: other } = await roles();
  expect(other).toBe(0);
  expect(stdout).toContain("Built-in roles: 20 roles, 0 changes");
  expect(stdout).toContain(`- viewer differs from the table of ${BUILT_IN_ROLES_SOURCE.date}: +skills.publish\n`);
  expect(stdout).toContain("- viewer: 52 capabilities (1 write, 2 use, 49 read)");
});

test("--write writes the lock; then a change is shown with whom it reaches, and exits with 3 until it is accepted", async () => {
  const { code, stderr } = await roles("--write");
  expect({ code, stderr }).toEqual({ code: 0, stderr: `wrote ${LOCK}: commit it\n` });
  expect(lockIn("live")).toMatch(
    new RegExp(
      `  ${api.baseUrl}:\n    date: "\\d{4}-\\d\\d-\\d\\d"\n    roles:\n      actions.viewer:\n        - actions.list\n`,
    ),
  );
  expect((await json()).changed).toEqual([]);

  change(withRole("viewer", [...VIEWER.filter((one) => one !== "groups.list"), "skills.publish"]));
  const { code: found, changed } = await json();
  expect(found).toBe(3);
  expect(changed).toEqual([
    {
      name: "viewer",
      change: "changed",
      uid: await api.role("viewer"),
      service: api.baseUrl,
      added: ["skills.publish"],
      removed: ["groups.list"],
      complete: true,
      against: "lock",
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      reaches: [
        {
          identity: reader.uid,
          name: "reader",
          group: registry,
          groupName: "platform/registry",
          binding: expect.stringContaining(`${registry}/`),
          gains: ["skills.publish"],
          losses: ["groups.list"],
        },
      ],
    },
  ]);
  const text =
    "the service changed viewer: +skills.publish, -groups.list; 1 identity gained it at 1 group and 1 identity lost it at 1 group; no pull request did";
  expect((await roles()).stdout).toContain(text);
  for (const [format, part] of [
    ["markdown", "- the service changed `viewer`: `+skills.publish, -groups.list`; 1 identity gained it"],
    ["html", reader.uid],
  ] as const)
    expect(await roles("--format", format)).toMatchObject({ code: 3, stdout: expect.stringContaining(part) });
  expect((await roles("--write")).stderr).toBe(`updated ${LOCK}: commit it\n`);
  expect(await json()).toMatchObject({ code: 0, changed: [] });
  expect((await roles("--write")).stderr).toBe(`${LOCK} is up to date\n`);
  change(BUILT_IN_ROLE_CAPABILITIES);
  await roles("--write");
});

test("who may not list everything is not told that nobody is reached", async () => {
  change(withRole("viewer", [...VIEWER, "skills.publish"]));
  const blind = await api.actor("blind");
  vi.stubEnv("IRM_TOKEN", blind.token);
  const { stdout } = await roles();
  expect(stdout).toContain("+skills.publish; nobody that you can see gained or lost access by it");
  expect(stdout).toContain("you can see no group, so all of them may be hidden: groups.list is needed");
  vi.stubEnv("IRM_TOKEN", (await api.actor("lister", { role: "apk.pull" })).token);
  expect((await roles()).stdout).toContain("nobody that you can see gained or lost access by it");
});

test("a capability that only the service knows, by its number, is written so that it can be read", async () => {
  const proxy = await startProxy(() => api.baseUrl);
  const { roles: listed } = await api.ok("GET", "/iam/v2beta1/roles", { query: { page_size: 200 } });
  const body = {
    roles: listed.map((one: Record<string, unknown>) =>
      one.name === "viewer" ? { ...one, capabilities: [...(one.capabilities as string[]), 99999] } : one,
    ),
  };
  const stop = proxy.answer("GET", /\/roles(\?|$)/, 200, body);
  vi.stubEnv("IRM_BASE_URL", proxy.url);
  useFolder("number");
  expect((await roles("--write")).code).toBe(0);
  expect(lockIn("number")).toContain('- "99999"\n');
  expect(await json()).toMatchObject({ code: 0, changed: [] });
  stop();
  await proxy.close();
});

test("a lock without an entry for the service is said, and drift counts it", async () => {
  useFolder("other");
  const entry = { date: "2026-11-28", roles: { viewer: ["groups.list"] } };
  writeFileSync(folder.path(`other/${LOCK}`), JSON.stringify({ services: { "https://other.example.com": entry } }));
  const { code, stderr } = await roles();
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `${LOCK} has no entry for ${api.baseUrl}, so what it changes in its built-in roles is not known; \`npx pulumi-irm roles --write\` adds it\n`,
  });
  await roles("--write");
  const text = lockIn("other");
  expect(text).toContain("https://other.example.com:\n");
  expect(text).toContain(`${api.baseUrl}:\n`);
});

test.each([
  ["refuses its list of roles", 403, { code: 7, message: "Permission denied: no" }, "irm roles: the roles of http"],
  [
    "names a role so that nobody can read it",
    200,
    { roles: [{ uid: "a".repeat(40), name: "__proto__", capabilities: ["CAP_IAM_GROUPS_LIST"] }] },
    "__proto__ cannot be a name here",
  ],
  ["lists a role with no uid", 200, { roles: [{ name: "acme" }] }, 'lists a record "acme" without a uid. Run it again'],
])("a service that %s is one error, and nothing is written", async (_, status, body, text) => {
  const proxy = await startProxy(() => api.baseUrl);
  const stop = proxy.answer("GET", /\/roles(\?|$)/, status, body);
  vi.stubEnv("IRM_BASE_URL", proxy.url);
  const before = lockIn("live");
  expect(await roles("--write")).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
  stop();
  await proxy.close();
  expect(lockIn("live")).toBe(before);
});

test("two built-in roles of one name are two, and one that grants nothing any more has taken something", async () => {
  store.insert(shapes.role, {
    ...{ uid: "b".repeat(40), createTime: 0, updateTime: 0 },
    body: { name: "viewer", description: "", capabilities: ["CAP_TAG_LIST"] },
  });
  const { roles: listed } = await json("--write");
  expect(listed.filter(({ name }) => name === "viewer")).toHaveLength(2);
  const editor = await api.actor("emptied", { role: "actions.viewer", at: registry });
  const uid = await api.role("actions.viewer");
  const emptied = { name: "actions.viewer", description: "", capabilities: [] };
  store.update(shapes.role, { uid, updateTime: 0, body: emptied });
  store.update(shapes.role, {
    ...{ uid: "b".repeat(40), updateTime: 0 },
    body: { name: "viewer", description: "", capabilities: ["CAP_TAG_LIST", "CAP_SKILLS_PUBLISH"] },
  });
  expect((await json()).changed).toMatchObject([
    { name: "actions.viewer", change: "changed", removed: ["actions.list"], reaches: [{ identity: editor.uid }] },
    { name: `viewer (${"b".repeat(40)})`, added: ["skills.publish"], reaches: [] },
  ]);
  store.remove(shapes.role, "b".repeat(40));
  change(BUILT_IN_ROLE_CAPABILITIES);
  await roles("--write");
});

test.each([
  ["services: { https://irm.example.com: { date: today, roles: {} } }", "services.https://irm.example.com.date: "],
  ["{", "roles.lock.yaml"],
])("a lock with mistakes, %s, is refused and stays as it is", async (text, message) => {
  useFolder("wrong");
  writeFileSync(folder.path(`wrong/${LOCK}`), text);
  expect(await roles("--write")).toEqual(failure(1, message));
  expect(lockIn("wrong")).toBe(text);
});

const [A, B] = ["https://a.example.com", "https://b.example.com"] as const;
const POLICY = `organization: acme
identities: { ci: { github: { repository: acme/images, branch: main } } }
access: { /: { ROLE: [ci] } }
tests:
  - name: ci publishes no skill
    identity: ci
    cannot: [skills.publish]
    at: /
`;
const lockOf = (services: Readonly<Record<string, RoleBundles>>): string =>
  JSON.stringify({
    services: Object.fromEntries(
      Object.entries(services).map(([one, held]) => [one, { date: "2026-11-28", roles: held }]),
    ),
  });
const write = (name: string, role: string, lock?: string): string => {
  if (lock !== undefined) folder.write(`${name}/${LOCK}`, lock);
  return folder.write(`${name}/access.yaml`, POLICY.replace("ROLE", role));
};

test("offline, the lock decides: a test passes only with the bundles of every service", async () => {
  const lock = lockOf({ [A]: { viewer: ["groups.list"] }, [B]: { viewer: ["skills.publish"] } });
  const { code, stdout, stderr } = await runIrm("test", write("two", "viewer", lock));
  expect(code).toBe(3);
  expect(stdout).toContain("https://b.example.com: ci can skills.publish at /");
  expect(stderr).toContain(`built-in roles of https://a.example.com as of 2026-11-28, from `);
});

test("a role that the service has and the table lacks needs no line in the policy", async () => {
  const unknown = await runIrm("check", write("unknown", "libraries.go.pull"));
  expect(unknown.code).toBe(1);
  expect(unknown.stdout).toContain("there is no role libraries.go.pull");
  const own = { "libraries.go.pull": ["libraries.go.list"] };
  const known = write("known", "libraries.go.pull", lockOf({ [A]: own }));
  expect((await runIrm("check", known)).code).toBe(0);
  const one = write("one", "libraries.go.pull", lockOf({ [A]: own, [B]: { viewer: ["groups.list"] } }));
  expect((await runIrm("check", one)).stdout).toContain(
    "there is no role libraries.go.pull at https://b.example.com; declare it in roles",
  );
});
