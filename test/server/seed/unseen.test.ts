// What a copy lacks because its reader could not see it: PERMISSION_DENIED, as a service answers a caller who may not read.
import { afterAll, expect, test } from "vitest";
import { copyOf } from "../../../cli/copy.ts";
import { clientOf } from "../../access/client.ts";
import { IAM, REGISTRY, serve } from "../../harness/api-server.ts";
import { copyOfServer, listEverything, startCopy } from "../../harness/copy.ts";
import { createUid } from "../../harness/records.ts";

const api = await serve();
const { organization } = api;
const [platform, other] = [
  await createUid(api, "groups", organization, { name: "platform" }),
  await createUid(api, "groups", organization, { name: "other" }),
];
const below = await createUid(api, "groups", platform, { name: "below" });
const roleIn = (group: string, name: string) =>
  createUid(api, "roles", group, { name, capabilities: ["CAP_REPO_LIST"] });
const hiddenRole = await roleIn(platform, "hidden");
const seenRole = await roleIn(below, "seen");
const bot = await createUid(api, "identities", platform, {
  name: "bot",
  claimMatch: { issuer: "https://i.example", subject: "b" },
});
const repo = await createUid(api, "repos", platform, { name: "repo" });
const binding = await createUid(api, "roleBindings", platform, { identityUid: bot, roleUid: hiddenRole });

/** It lists all there, but for the roles and the repos of `platform` itself: those of `below` it lists. */
const lister = await createUid(api, "roles", organization, {
  name: "lister",
  capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLE_BINDINGS_LIST", "CAP_IAM_IDENTITY_LIST"],
});
const reader = await api.actor("reader", { role: lister });
await createUid(api, "roleBindings", below, { identityUid: reader.uid, roleUid: await api.role("viewer") });
const lists = await listEverything(api, reader.token);
const copy = await copyOfServer(api, reader.token);
const copied = await startCopy(copy);
const twin = await startCopy(copy, { twin: true });
afterAll(() => Promise.all([copied.close(), twin.close()]));

const answerOf = async (method: string, path: string, body?: object, server = copied): Promise<unknown> => {
  const { status, json } = await server.call(method, path.startsWith("/") ? path : `${IAM}/${path}`, body && { body });
  return status === 200 ? 200 : `${status} ${json.message}`;
};
const ADVICE = ": read the original with credentials that may list them";
const mayExist = (word: string, uid: string, words: string) =>
  `403 Permission denied: ${word} ${uid} may exist, and this copy does not have all ${words}${ADVICE}`;
const ABSENT = "0123456789abcdef";

test.each([
  ["GET", "a role that is known by name", `roles/${hiddenRole}`, "role", hiddenRole, "roles"],
  ["PATCH", "the same", `roles/${hiddenRole}`, "role", hiddenRole, "roles"],
  ["DELETE", "the same", `roles/${hiddenRole}`, "role", hiddenRole, "roles"],
  ["GET", "a role that may be there", `roles/${platform}/${ABSENT}`, "role", `${platform}/${ABSENT}`, "roles"],
  ["DELETE", "the same", `roles/${platform}/${ABSENT}`, "role", `${platform}/${ABSENT}`, "roles"],
  ["GET", "a repo", `${REGISTRY}/repos/${repo}`, "repo", repo, "repos"],
  ["DELETE", "the same", `${REGISTRY}/repos/${repo}`, "repo", repo, "repos"],
  ["GET", "a readme", `${REGISTRY}/repos/${repo}/readme`, "repo", repo, "repos"],
])("such a copy refuses %s of %s", async (method, _, path, word, uid, words) => {
  expect(await answerOf(method, path, method === "PATCH" ? { description: "x" } : undefined)).toBe(
    mayExist(word, uid, words),
  );
});

test("such a copy says NOT_FOUND of what was deleted: there the reader could list it", async () => {
  for (const path of [`roles/${below}/${ABSENT}`, `identities/${platform}/${ABSENT}`, `groups/${platform}/${ABSENT}`])
    expect(await answerOf("GET", path), path).toMatch(/^404 /);
  // Groups can be listed everywhere, so this one is gone, and so is what was in it. The reader may not ask for that above.
  expect(await answerOf("GET", `roles/${below}/${ABSENT}/${ABSENT}`)).toMatch(/^404 /);
  expect(await answerOf("GET", `roles/${platform}/${ABSENT}/${ABSENT}`)).toMatch(/^403 /);
});

test("such a copy creates nothing there, in whose way a hidden record may be", async () => {
  const fields = { name: "new", capabilities: ["CAP_REPO_LIST"] };
  expect(await answerOf("POST", `roles/${platform}`, fields)).toBe(
    `403 Permission denied: this copy does not have the roles of ${platform}${ADVICE}`,
  );
  expect(await answerOf("POST", `roles/${below}`, fields)).toBe(200);
});

test("such a copy binds no role whose capabilities are not known: who gains what would not be known either", async () => {
  const bind = (roleUid: string, path = `roleBindings/${platform}`, body: object = { identityUid: bot, roleUid }) =>
    answerOf("POST", path, body);
  expect(await bind(hiddenRole)).toBe(mayExist("role", hiddenRole, "roles"));
  const batch = { parent: platform, requests: [{ roleBinding: { identityUid: bot } }], roleUid: hiddenRole };
  expect(await bind("", "roleBindings:batchCreate", batch)).toBe(mayExist("role", hiddenRole, "roles"));
  const change = { roleUid: `${platform}/${ABSENT}` };
  expect(await answerOf("PATCH", `roleBindings/${binding}`, change)).toBe(mayExist("role", change.roleUid, "roles"));
  const seen = { identityUid: bot, roleUid: seenRole };
  expect(await bind("", `roleBindings/${below}`, seen)).toBe(200);
  expect(await bind("", `roleBindings/${below}`, { ...seen, identityUid: `${"f".repeat(40)}/${ABSENT}` })).toBe(
    mayExist("identity", `${"f".repeat(40)}/${ABSENT}`, "identities"),
  );
});

test("such a copy deletes no group that may hold what is hidden, and no role that may be in use", async () => {
  const keep = (word: string, uid: string) =>
    `403 Permission denied: records that keep ${word} ${uid} may exist, and this copy does not have them${ADVICE}`;
  expect(await answerOf("DELETE", `groups/${other}`)).toBe(keep("group", other));
  const fresh = await createUid(copied, "groups", other, { name: "fresh" });
  await createUid(copied, "roles", fresh, { name: "own", capabilities: ["CAP_REPO_LIST"] });
  expect(await answerOf("DELETE", `groups/${fresh}`)).toMatch(/^400 .*cannot delete group with child roles/);
  const roles = await api.actor("roles", {
    role: await createUid(api, "roles", organization, {
      name: "role lister",
      capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"],
    }),
  });
  const server = await startCopy(await copyOfServer(api, roles.token));
  expect(await answerOf("DELETE", `roles/${seenRole}`, undefined, server)).toBe(keep("role", seenRole));
  await server.close();
});

test("such a copy lists what its reader saw; a twin refuses a list of what it lacks", async () => {
  expect(await listEverything(twin)).toEqual(lists);
  const listIn = async (server: typeof twin, group: string) =>
    (await server.call("GET", `${IAM}/roles`, { query: { "uidp.childrenOf": group } })).json;
  expect((await listIn(copied, platform)).roles).toEqual([]);
  expect((await listIn(twin, below)).roles).toMatchObject([{ name: "seen" }]);
  expect((await listIn(twin, platform)).message).toBe(
    `Permission denied: this copy does not have the roles of ${platform}${ADVICE}`,
  );
});

test("such a copy is copied again with the same gaps", async () => {
  expect((await copyOf(clientOf(copied), copied.baseUrl)).copy.notVisible).toEqual(copy.copy.notVisible);
});
