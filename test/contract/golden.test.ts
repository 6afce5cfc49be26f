// Golden bodies: the bytes of the two published error samples (docs/contract.md#errors), and what is no record. The bodies
// of records are in test/server/services/record.test.ts.

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

test("the body of an empty list has its counts", async () => {
  const answer = await api.call("GET", `${IAM}/groups`, { query: { name: "nobody" } });
  expect(answer.text).toBe('{"groups":[],"totalCount":"0","skipped":0}');
});

test("the body of a delete is empty, with status 200", async () => {
  const group = await createRecord(api, "groups", api.organization, { name: "short-lived" });
  const answer = await api.call("DELETE", `${IAM}/groups/${group.uid}`);
  expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([200, "", "0"]);
  expect(answer.headers["content-type"]).toBeUndefined();
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
