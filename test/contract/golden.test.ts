// Golden bodies: what the published samples show, field by field, and the bytes of the two error samples
// (docs/contract.md#errors). Uids count up and the clock is stopped, so that the tests can state a whole body.

import { describe, expect, test } from "vitest";
import { parseSeed } from "../../server/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { createRecord } from "../harness/records.ts";
import { expectInvalid } from "../support/refusal.ts";

const NOW = "2026-01-28T12:54:21.189Z";

const seed = parseSeed(
  `
organization: { name: acme.example, description: The organization }
repos: [{ name: nginx }, { name: curl, description: A client, catalogTier: CATALOG_TIER_BASE, bundles: [base], aliases: ["curl:latest"], activeTags: [latest] }]
`,
  "seed.yaml",
);
const api = await serve({ seed });

describe("an error", () => {
  test("is sample A, byte for byte, for a group that is created with an empty body", async () => {
    const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body: {} });
    expect(answer.status).toBe(400);
    expect(answer.text).toBe(
      String.raw`{"code":3,"message":"Invalid argument: name: name must match \"^[a-z0-9 ._-]{1,}$\"","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_ARGUMENT","domain":"iam.chainguard.dev"},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"name must match \"^[a-z0-9 ._-]{1,}$\""}]}]}`,
    );
  });

  test("is sample A, byte for byte, for an identity without a name: its relationship is checked later", async () => {
    const path = `${IAM}/identities/${api.organization}`;
    const group = await api.call("POST", `${IAM}/groups/${api.organization}`, { body: {} });
    for (const body of [{}, { claimMatch: { issuer: api.issuer, subject: "s" } }])
      expect((await api.call("POST", path, { body })).text).toBe(group.text);
    const named = await api.call("POST", path, { body: { name: "a" } });
    expectInvalid(named, { claimMatch: "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set" });
  });
});

describe("a body has the fields of the samples always, and other fields when they are set", () => {
  test("of a new group", async () => {
    const group = await createRecord(api, "groups", api.organization, { name: "g" });
    expect(group.uid).toMatch(new RegExp(`^${api.organization}/[0-9a-f]{16}$`));
    expect(group).toEqual({
      uid: group.uid,
      name: "g",
      description: "",
      resourceLimits: {},
      verified: false,
      createTime: NOW,
      updateTime: NOW,
    });
    expect(await api.ok("GET", `${IAM}/groups/${group.uid}`)).toEqual(group);
  });

  test("of a new identity: lastSeenTime is set at creation", async () => {
    const claimMatch = {
      issuer: "https://token.actions.githubusercontent.com",
      subject: "repo:my-org@1/my-repo@2:ref:refs/heads/main",
    };
    const identity = await createRecord(api, "identities", api.organization, { name: "i", claimMatch });
    expect(identity).toEqual({
      uid: identity.uid,
      name: "i",
      description: "",
      lastSeenTime: NOW,
      createTime: NOW,
      updateTime: NOW,
      claimMatch,
    });
    expect(await api.ok("GET", `${IAM}/identities/${identity.uid}`)).toEqual(identity);
  });

  test("of a new role binding: hydrated, with createTime only, and no uids beside the objects", async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "s" };
    const fields = { name: "bound", description: "d", claimMatch };
    const identity = await createRecord(api, "identities", api.organization, fields);
    const body = { identityUid: identity.uid, roleUid: await api.role("viewer") };
    const binding = await createRecord(api, "roleBindings", api.organization, body);
    expect(binding).toEqual({
      uid: binding.uid,
      identity: { uid: identity.uid, name: "bound", description: "d", ...claimMatch },
      group: { uid: api.organization, name: "acme.example", description: "The organization" },
      role: { uid: body.roleUid, name: "viewer", description: "Built-in role: viewer" },
      createTime: NOW,
    });
    expect(await api.ok("GET", `${IAM}/roleBindings/${binding.uid}`)).toEqual(binding);
  });

  test("of a role binding shows subject and issuer of the identity even when it has none", async () => {
    const claimMatch = { issuerPattern: "https://.*", subjectPattern: "s.*" };
    const identity = await createRecord(api, "identities", api.organization, { name: "pattern", claimMatch });
    const body = { identityUid: identity.uid, roleUid: await api.role("viewer") };
    const binding = await createRecord(api, "roleBindings", api.organization, body);
    expect(binding.identity).toEqual({ uid: identity.uid, name: "pattern", description: "", subject: "", issuer: "" });
  });

  test("of an empty list", async () => {
    const answer = await api.call("GET", `${IAM}/groups`, { query: { name: "nobody" } });
    expect(answer.text).toBe('{"groups":[],"totalCount":"0","skipped":0}');
  });

  test("of a delete is empty, with status 200", async () => {
    const group = await createRecord(api, "groups", api.organization, { name: "short-lived" });
    const answer = await api.call("DELETE", `${IAM}/groups/${group.uid}`);
    expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([200, "", "0"]);
    expect(answer.headers["content-type"]).toBeUndefined();
  });
});

describe("v1", () => {
  test("lists groups as `items`, with id for uid, zeros and no times", async () => {
    const { items, ...more } = await api.ok("GET", "/iam/v1/groups", { query: { id: api.organization } });
    expect(more).toEqual({});
    expect(items).toEqual([
      {
        id: api.organization,
        name: "acme.example",
        description: "The organization",
        resourceLimits: {},
        verified: false,
      },
    ]);
  });

  test("lists repos as `items`, with id, createTime and the tier without its prefix", async () => {
    const { items, ...more } = await api.ok("GET", "/registry/v1/repos", { query: { name: "curl" } });
    expect(more).toEqual({});
    expect(items).toEqual([
      {
        id: items[0].id,
        name: "curl",
        description: "A client",
        catalogTier: "BASE",
        bundles: ["base"],
        aliases: ["curl:latest"],
        activeTags: ["latest"],
        createTime: NOW,
      },
    ]);
  });

  test.each([
    ["/iam/v1/groups", "0000000000000000000000000000000000000999"],
    ["/iam/v1/groups", "no uid"],
  ])("%s answers 200 with an empty list for the id %s", async (path, id) => {
    expect((await api.call("GET", path, { query: { id } })).text).toBe('{"items":[]}');
  });
});
