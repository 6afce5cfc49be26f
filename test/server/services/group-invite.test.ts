// The rules of invites (docs/contract.md#group-invites): the code is shown once and stored as a hash; there is no update.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { createRecord, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, NO_UID, type Violations } from "../../support/refusal.ts";

const PATH = `${IAM}/groupInvites`;
const TTL = "must be more than 0s and at most 315360000s";
const EMAIL = "must be an e-mail address of at most 254 characters";

const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: eng }, { name: sales }]
roles:
  - { name: pusher, group: eng, description: Pushes, capabilities: [repo.create] }
  - { name: seller, group: sales, capabilities: [repo.list] }
`,
  "seed.yaml",
);
const roles: Record<string, Body> = {};
const api = await serve({ seed });
const eng: string = (await api.ok("GET", `${IAM}/groups`, { query: { name: "eng" } })).groups[0].uid;
const viewer: string = await api.role("viewer");
const found = await api.ok("GET", `${IAM}/roles`, { query: { "uidp.descendantsOf": api.organization } });
for (const role of found.roles) roles[role.name] = role;

const create = (body: Body = {}) =>
  api.call("POST", `${PATH}/${eng}`, { body: { roleUid: viewer, ttl: "3600s", ...body } });
const createdRecord = (body: Body = {}) => recordOf(create(body));

describe("an invite", () => {
  test("shows its role, its expiry, and its code only once", async () => {
    const { uid: roleUid, name, description, capabilities } = roles.pusher as Body;
    const answer = await create({ roleUid, email: "new@acme.example", singleUse: true, ttl: "86400.5s" });
    const { code, ...shown } = answer.json;
    expect(shown).toEqual({
      uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`),
      roleUid,
      role: { uid: roleUid, name, description, capabilities },
      email: "new@acme.example",
      singleUse: true,
      expirationTime: new Date(START_MS + 86_400_500).toISOString(),
      keyId: createHash("sha256").update(code).digest("hex").slice(0, 16),
      createTime: new Date(START_MS).toISOString(),
    });
    expect(code).toMatch(/^cginvite_[0-9a-f]{64}$/);
    expect(await api.ok("GET", `${PATH}/${shown.uid}`)).toEqual(shown);
    const { groupInvites } = await api.ok("GET", PATH, { query: { keyId: shown.keyId } });
    expect(groupInvites).toEqual([shown]);
  });

  test("has a new code each time", async () => {
    expect((await createdRecord()).code).not.toBe((await createdRecord()).code);
  });

  test.each<[string, Body, Violations]>([
    ["neither role nor life", { roleUid: undefined, ttl: undefined }, { roleUid: NO_UID, ttl: "is required" }],
    ["no life", { ttl: "0s" }, { ttl: TTL }],
    ["an unlimited lifetime", { ttl: "315360001s" }, { ttl: TTL }],
    ["a malformed address", { email: "acme.example" }, { email: EMAIL }],
    ["an address too long for any mail", { email: `${"a".repeat(250)}@b.example` }, { email: EMAIL }],
  ])("is refused with %s", async (_, body, violations) => {
    expectInvalid(await create(body), violations);
  });

  test("may be valid for ten years", async () => {
    expect((await createdRecord({ ttl: "315360000s" })).expirationTime).toBe("2036-01-26T12:54:21.189Z");
  });
});

describe("the role of an invite", () => {
  test("of another group is refused like a missing one", async () => {
    const roleUid = roles.seller?.uid;
    expectInvalid(await create({ roleUid }), { roleUid: `role ${roleUid} does not exist at ${eng} or above` });
  });

  test("is absent once it was deleted, which an invite does not prevent", async () => {
    const body = { name: "short", capabilities: ["CAP_REPO_LIST"] };
    const { uid: roleUid } = await createRecord(api, "roles", eng, body);
    const { uid, code, role, ...rest } = await createdRecord({ roleUid });
    expect(role.name).toBe("short");
    await api.ok("DELETE", `${IAM}/roles/${roleUid}`);
    expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual({ uid, ...rest });
    expect(rest.roleUid).toBe(roleUid);
  });
});

test("a code is only in the response of the create, and in no log line", async () => {
  const invite = await createdRecord({ email: "x@acme.example" });
  const answers = [
    await api.call("GET", `${PATH}/${invite.uid}`),
    await api.call("GET", PATH, { query: { page_size: 200 } }),
    await api.call("DELETE", `${PATH}/${invite.uid}`),
  ];
  for (const { text } of answers) expect(text).not.toContain(invite.code);
  expect(api.log.join("\n")).not.toContain(invite.code);
});
