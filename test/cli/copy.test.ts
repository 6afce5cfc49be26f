// A copy of a service: the same lists, the owner who is in none of them, what is not copied, and services that hide, change or lie.
import { expect, test } from "vitest";
import { copyText } from "../../access/copy/copy.ts";
import { copyLines } from "../../cli/copy.ts";
import { parseSeed } from "../../server/index.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createStore } from "../../server/store/store.ts";
import { IAM, openGrpc, serve } from "../harness/api-server.ts";
import { createByHand } from "../harness/by-hand.ts";
import { MINUTE_MS } from "../harness/clock.ts";
import { copyOfServer, listEverything, serveCopy } from "../harness/copy.ts";
import { createPullToken, usePullToken } from "../harness/pull-token.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

const store = createStore(openDatabase(":memory:"));
const api = await serve({ store });
const made = await createByHand(api, api.organization);
// Times differ from record to record, and from its creation to its last change.
api.clock.advance(10 * MINUTE_MS);
await api.ok("PATCH", `${IAM}/groups/${made.platform}`, { body: { description: "changed" } });
await api.actor("seen", { role: "viewer" });
// A newer service may have capabilities that this version does not know, by name or by number.
const future = await createUid(api, "roles", made.platform, { name: "future" });
const bound = await createUid(api, "roleBindings", made.platform, { identityUid: made.release, roleUid: future });
store
  .statement("UPDATE roles SET body = json_set(body, '$.capabilities', json(?)) WHERE uid = ?")
  .run('["CAP_IAM_GROUPS_LIST","CAP_OF_THE_FUTURE",98765]', future);
// So may the built-in roles of another environment.
const EDITOR = "e".repeat(40);
const editor = await api.role("editor");
store.database.exec("PRAGMA foreign_keys = OFF");
store.statement("UPDATE roles SET uid = ? WHERE uid = ?").run(EDITOR, editor);
for (const table of ["role_bindings", "external_group_role_mappings"])
  store.statement(`UPDATE ${table} SET body = json_set(body, '$.roleUid', ?) WHERE role_uid = ?`).run(EDITOR, editor);
store.database.exec("PRAGMA foreign_keys = ON");
const everything = await listEverything(api);
const copy = await copyOfServer(api);
const copied = await serveCopy(copy, { clock: api.clock });

const listsOf = async (...given: Parameters<typeof serveCopy>) => listEverything(await serveCopy(...given));
const seen = (everything.identities ?? []).find(({ name }) => name === "seen") as Body;

test("a copy has the same lists, field by field, unknown capabilities, and the uids of built-in roles", async () => {
  for (const [plural, records] of Object.entries(everything)) expect(records.length, plural).toBeGreaterThan(0);
  expect(await listEverything(copied)).toEqual(everything);
  expect(copied.organization).toBe(api.organization);
  const { capabilities } = await copied.ok("GET", `${IAM}/roles/${future}`);
  expect(capabilities).toEqual(["CAP_IAM_GROUPS_LIST", "CAP_OF_THE_FUTURE", 98765]);
  // Over gRPC, a value of an enum is a number.
  const { json } = await openGrpc(copied.baseUrl).call("GetRole", { uid: future }, { token: copied.owner.token });
  expect(json.capabilities).toEqual(["CAP_IAM_GROUPS_LIST", 98765]);
  const { roles } = await copied.ok("GET", `${IAM}/roles`, { query: { name: "editor" } });
  expect(roles).toMatchObject([{ uid: EDITOR }]);
  const { role } = await copied.ok("GET", `${IAM}/roleBindings/${bound}`);
  expect(role).toEqual({ uid: future, name: "future", description: "" });
});

test("a copy as a file is a seed of the same records, and so is a copy of the copy", async () => {
  const text = copyText(copy);
  expect(await listsOf(parseSeed(text, "copy.yaml"))).toEqual(everything);
  const again = await copyOfServer(copied);
  expect(again.records).toEqual(copy.records);
  expect(again.named).toEqual(copy.named);
  expect(await listsOf(again)).toEqual(everything);
});

test("a copy stays in its database, with what is changed there", async () => {
  const options = { store: folder.path("copy.db") };
  const first = await serveCopy(copy, options);
  await first.ok("PATCH", `${IAM}/groups/${made.platform}`, { body: { description: "tried here" } });
  const lists = await listEverything(first);
  const { identity } = first;
  await first.close();
  for (const seed of [undefined, copy, parseSeed(copyText(copy), "copy.yaml")]) {
    const next = await serve({ ...options, ids: undefined as never, ...(seed && { seed }) });
    expect(next.identity).toBe(identity);
    expect(await listEverything(next)).toEqual(lists);
    await next.close();
  }
  const other = { ...copy, copy: { ...copy.copy, of: "https://other.example" } };
  const needsOwn = "a copy needs a database of its own: name another file with --db";
  await expect(serveCopy(other, options)).rejects.toThrow(
    `the database has another copy (${api.baseUrl} at ${copy.copy.time}); ${needsOwn}`,
  );
  const named = parseSeed("organization: { name: acme }", "f.yaml");
  await expect(serveCopy(named, options)).rejects.toThrow(
    "the database has a copy, which takes no other seed: name another file with --db",
  );
  const own = { store: folder.path("own.db") };
  await (await serve(own)).close();
  await expect(serveCopy(copy, own)).rejects.toThrow(`the database has records of its own; ${needsOwn}`);
});

test("a copy has no codes and secrets, and says so", () => {
  expect(copy.copy).toEqual({
    of: api.baseUrl,
    time: expect.stringMatching(/^2026-01-28T13:04:21\.\d+Z$/),
    notVisible: [],
    leftOut: [],
    notCopied: [
      "the client secret, if there is one, of 2 identity providers",
      "the code of 2 group invites",
      "the readme of 2 repos",
      "advisories",
    ],
    unknownFields: [],
  });
  expect(copyLines(copy)).toEqual([
    expect.stringMatching(/^copied \d+ records of http:/),
    ...copy.copy.notCopied.map((text) => `not copied: ${text}`),
  ]);
  for (const text of ["clientSecret", "cginvite"]) expect(copyText(copy)).not.toContain(text);
});

test("the owner of a copy is in no list, and owns it also when every role binding is deleted", async () => {
  const [local] = copied.identity.split("/");
  for (const path of [`groups/${local}`, `identities/${copied.identity}`])
    expect((await copied.call("GET", `${IAM}/${path}`)).status).toBe(403);
  const group = await createRecord(copied, "groups", made.platform, { name: "new here" });
  const roleUid = await copied.role("viewer");
  const binding = await createRecord(copied, "roleBindings", group.uid, { identityUid: made.release, roleUid });
  await copied.ok("DELETE", `${IAM}/roleBindings/${binding.uid}`);
  await copied.ok("DELETE", `${IAM}/groups/${group.uid}`);
  const organization = await createRecord(copied, "groups", "", { name: "another" });
  const founding = await copied.ok("GET", `${IAM}/roleBindings`, { query: { group: organization.uid } });
  expect(founding.roleBindings).toMatchObject([{ identity: { uid: copied.identity, name: "owner" } }]);
  await copied.ok("DELETE", `${IAM}/groups/${organization.uid}`);
  expect(await listEverything(copied)).toEqual(everything);
  const server = await serveCopy(copy);
  for (const { uid } of everything.roleBindings ?? []) await server.ok("DELETE", `${IAM}/roleBindings/${uid}`);
  expect((await listEverything(server)).roleBindings).toEqual([]);
  await createRecord(server, "groups", made.platform, { name: "still" });
});

test("the owner of a copy lets somebody act as a copied identity only by a change of whom it trusts", async () => {
  const server = await serveCopy(copy);
  const token = await server.identityToken("release");
  // Its role has a capability that only the owner of the original may have.
  expect((await server.exchange(token, { identity: made.release })).status).toBe(403);
  const claimMatch = { issuer: server.issuer, subject: "release" };
  await server.ok("PATCH", `${IAM}/identities/${made.release}`, { body: { claimMatch } });
  expect((await server.exchange(token, { identity: made.release })).status).toBe(200);
});

test("an identity of the copy is assumed with a token of its real issuer, for the address of the copy", async () => {
  const token = await api.identityToken("seen", { audience: copied.authUrl });
  expect((await copied.exchange(token, { identity: seen.uid })).status).toBe(200);
  const forAnother = await api.identityToken("seen");
  expect((await copied.exchange(forAnother, { identity: seen.uid })).status).toBe(403);
});

test("static keys are copied, and sign in at the original alone: not at a copy, its file or its database, whoever set them", async () => {
  const key = await createPullToken(api, { name: "copied", group: api.organization });
  await usePullToken(api, key, "copied");
  const { staticKeys } = await api.ok("GET", `${IAM}/identities/${key.uid}`);
  const own = await copyOfServer(api);
  const options = { clock: api.clock, store: folder.path("keys.db") };
  const starts = [
    () => serveCopy(own, { clock: api.clock }),
    () => serveCopy(parseSeed(copyText(own), "copy.yaml"), options),
    () => serve({ ...options, ids: undefined as never }),
  ];
  for (const start of starts) {
    const server = await start();
    expect((await server.ok("GET", `${IAM}/identities/${key.uid}`)).staticKeys).toEqual(staticKeys);
    const fresh = await createPullToken(server, { name: "fresh", group: server.organization });
    const changed = { staticKeys: { subject: "pull-token-changed" } };
    await server.ok("PATCH", `${IAM}/identities/${key.uid}`, { body: changed });
    for (const [one, name] of [
      [key, "copied"],
      [key, "changed"],
      [fresh, "fresh"],
    ] as const)
      await expect(usePullToken(server, one, name)).rejects.toThrow("may not be exchanged for this identity");
    await server.ok("PATCH", `${IAM}/identities/${key.uid}`, { body: { staticKeys } });
    expect(server.log.some((line) => line.includes('"static_keys_copied"'))).toBe(true);
    await server.close();
  }
});

test("people are copied, and what role bindings show of them", async () => {
  const [root, viewer, outside] = ["a", "b", "c"].map((digit) => digit.repeat(40)) as [string, string, string];
  const [ann, bindings] = [`${root}/${"1".repeat(16)}`, ["2", "3"].map((digit) => `${root}/${digit.repeat(16)}`)];
  const seed = parseSeed(
    `records:
  groups: [{ uid: "${root}", name: acme, kind: ORG_KIND_CUSTOMER, status: ORG_STATUS_READY }]
  roles: [{ uid: "${viewer}", name: viewer, capabilities: [CAP_IAM_GROUPS_LIST] }]
  identities: [{ uid: "${ann}", name: ann, email: ann@acme.example, lastSeenTime: "2025-01-02T03:04:05.678Z" }]
  roleBindings:
    - { uid: "${bindings[0]}", identityUid: "${ann}", roleUid: "${viewer}" }
    - { uid: "${bindings[1]}", identityUid: "${outside}", roleUid: "${viewer}" }
named:
  identities:
    - { uid: "${ann}", issuer: "https://login.example", subject: "1" }
    - { uid: "${outside}", name: ben, email: ben@other.example, issuer: "https://login.example", subject: "2" }
`,
    "people.yaml",
  );
  const people = await serveCopy(seed);
  const lists = await listEverything(people);
  expect(lists.identities).toMatchObject([{ name: "ann", email: "ann@acme.example" }]);
  expect(lists.groups).toMatchObject([{ kind: "ORG_KIND_CUSTOMER", status: "ORG_STATUS_READY" }]);
  const shown = { description: "", issuer: "https://login.example" };
  expect(lists.roleBindings?.map(({ identity }) => identity)).toEqual([
    { ...shown, uid: ann, name: "ann", email: "ann@acme.example", subject: "1" },
    { ...shown, uid: outside, name: "ben", email: "ben@other.example", subject: "2" },
  ]);
  expect(await listsOf(await copyOfServer(people))).toEqual(lists);
});

test("without --dev there is no owner, and no issuer on loopback is asked", async () => {
  const plain = await serveCopy(copy, { dev: false, clock: api.clock });
  expect(plain.organization).toBe(api.organization);
  expect(plain.identity).toBe("");
  const token = await api.identityToken("seen", { audience: plain.authUrl });
  expect((await plain.exchange(token, { identity: seen.uid })).status).toBe(403);
});

const reader = await api.actor("reader", { role: "viewer", at: made.platform });
// Its identity is above, and so not visible.
const part = await copyOfServer(api, reader.token);
const server = await serveCopy(part);

test("of a caller who sees a part, the copy has that part, and says what is known by name alone", async () => {
  const visible = await listEverything(api, reader.token);
  expect(visible.roleBindings?.some(({ identity }) => identity.uid === reader.uid)).toBe(true);
  expect(await listEverything(server)).toEqual(visible);
  expect(server.organization).toBe(made.platform);
  // What is only named is above what the owner of the copy sees.
  expect((await server.call("GET", `${IAM}/identities/${reader.uid}`)).status).toBe(403);
  const lines = copyLines(part);
  expect(lines).toContain(
    `named by others, and in no list: group ${api.organization} "0000000000000000000000000000000000000001"`,
  );
  expect(lines).toContain(`named by others, and in no list: identity ${reader.uid} "reader"`);
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^not visible: .*identities of this group cannot be listed: identity\.list is needed at it \(/,
    ),
  );
  expect(part.copy.notVisible.length).toBeGreaterThan(0);
});

test("of a caller who sees a part, a binding of a role that is not visible grants nothing that is known", async () => {
  const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLE_BINDINGS_LIST"];
  const lister = await createUid(api, "roles", api.organization, { name: "lister", capabilities });
  const actor = await api.actor("lister", { role: lister });
  const hidden = await copyOfServer(api, actor.token);
  expect(hidden.named.roles).toContainEqual({ uid: future, name: "future" });
  const other = await serveCopy(hidden);
  expect((await listEverything(other)).roleBindings).toEqual((await listEverything(api, actor.token)).roleBindings);
  expect((await other.call("GET", `${IAM}/roles/${future}`)).status).toBe(403);
});
