// What else blocks a group's deletion (docs/contract.md#d7): identity providers, invites, account associations, repos and
// advisories, each kind with its own violation.

import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, preconditionFailure } from "../../support/refusal.ts";

const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: advised }]
advisories:
  - { group: advised, advisoryId: CGA-aaaa-aaaa-aaaa, author: a, artifactName: a, artifactType: apk, artifactArchitecture: a, componentName: c, componentLocation: l, componentType: t }
`,
  "seed.yaml",
);
const api = await serve({ seed });
const viewer: string = await api.role("viewer");

const group = (parent = api.organization): Promise<string> => createUid(api, "groups", parent, { name: "g" });
const remove = (uid: string) => api.call("DELETE", `${IAM}/groups/${uid}`);

const KINDS: [word: string, path: string, body: () => Body][] = [
  ["repos", `${REGISTRY}/repos`, () => ({ name: "r" })],
  [
    "identity providers",
    `${IAM}/identityProviders`,
    () => ({
      name: "p",
      defaultRole: viewer,
      oidc: { issuer: "https://idp.example", clientId: "c", pkceEnabled: true },
    }),
  ],
  ["group invites", `${IAM}/groupInvites`, () => ({ roleUid: viewer, ttl: "1s" })],
  ["account associations", `${IAM}/accountAssociations`, () => ({ name: "a" })],
];
const text = (word: string) => `cannot delete group with child ${word}`;

describe("a group with", () => {
  test.each(KINDS)("%s cannot be deleted until they are", async (word, path, body) => {
    const uid = await group();
    const child = await api.ok("POST", `${path}/${uid}`, { body: body() });
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text(word), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text(word))],
    });
    expect((await api.call("GET", `${path}/${child.uid}`)).status).toBe(200);
    await api.ok("DELETE", `${path}/${child.uid}`);
    expect((await remove(uid)).status).toBe(200);
  });

  test("all of them has a violation for each, and for a group below", async () => {
    const uid = await group();
    await group(uid);
    for (const [, path, body] of KINDS) await api.ok("POST", `${path}/${uid}`, { body: body() });
    const texts = ["groups", ...KINDS.map(([word]) => word)].map(text);
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text("groups"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", ...texts)],
    });
  });

  test("an account association of the group below is blocked by that group alone", async () => {
    const uid = await group();
    const below = await group(uid);
    await createRecord(api, "accountAssociations", below, { name: "a" });
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text("groups"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text("groups"))],
    });
  });

  test("advisories, which no method deletes, cannot be deleted", async () => {
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "advised" } });
    expectRefusal(await remove(groups[0].uid), "FAILED_PRECONDITION", text("advisories"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text("advisories"))],
    });
    const query = { "uidp.childrenOf": groups[0].uid };
    expect((await api.ok("GET", "/vulnerabilities/v2beta1/advisories", { query })).totalCount).toBe("1");
  });
});
