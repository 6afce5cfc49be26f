// Update masks on both wires (docs/contract.md#updates, AIP-134), in either spelling. Without a mask, gRPC applies the populated
// fields, and REST the keys of the body.

import { describe, expect, test } from "vitest";
import { IAM, openGrpc, serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import type { Body } from "../../support/http.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);

const claimMatch = { issuer: "https://issuer.example", subject: "s", claims: { a: "b" } };

const identity = async (): Promise<string> => {
  const body = { name: "before", description: "before", company: "before", claimMatch };
  return await createUid(api, "identities", api.organization, body);
};
const read = (uid: string) => api.ok("GET", `${IAM}/identities/${uid}`);

const update = async (own: Body, paths?: string[]) => {
  const method = grpcMethodOf("UpdateIdentity");
  const request = method.requestSerialize({ identity: own, ...(paths && { update_mask: { paths } }) }) as Buffer;
  return grpc.bytes(method.path, request, { token: api.owner.token });
};

describe("over gRPC without a mask", () => {
  test("the populated fields change, and no others", async () => {
    const uid = await identity();
    expect((await update({ uid, name: "after", claim_match: { subject: "t" } })).code).toBe(0);
    expect(await read(uid)).toMatchObject({
      name: "after",
      description: "before",
      company: "before",
      claimMatch: { ...claimMatch, subject: "t" },
    });
  });

  test("a field cannot be cleared: its zero counts as absent, unlike over REST", async () => {
    const uid = await identity();
    expect((await update({ uid, description: "", company: "" })).code).toBe(0);
    expect(await read(uid)).toMatchObject({ description: "before", company: "before" });
    await api.ok("PATCH", `${IAM}/identities/${uid}`, { body: { description: "", company: "" } });
    const cleared = await read(uid);
    expect(cleared.description).toBe("");
    expect(cleared).not.toHaveProperty("company");
  });

  test("an empty mask counts as absent", async () => {
    const uid = await identity();
    expect((await update({ uid, name: "after" }, [])).code).toBe(0);
    expect(await read(uid)).toMatchObject({ name: "after", description: "before" });
  });
});

test("over gRPC with a mask a named field that is not populated is cleared", async () => {
  const uid = await identity();
  expect((await update({ uid }, ["description", "company"])).code).toBe(0);
  const cleared = await read(uid);
  expect(cleared.description).toBe("");
  expect(cleared).not.toHaveProperty("company");
});

test("a message without its resource counts as one with an empty resource", async () => {
  const create = grpcMethodOf("CreateIdentity");
  const request = create.requestSerialize({ parent: api.organization }) as Buffer;
  const answer = await grpc.bytes(create.path, request, { token: api.owner.token });
  expect(answer).toMatchObject({ code: 3, message: 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"' });
  const empty = await grpc.bytes(grpcMethodOf("UpdateIdentity").path, Buffer.alloc(0), { token: api.owner.token });
  expect(empty).toMatchObject({ code: 3, message: "Invalid argument: uid: is required" });
});

test("half a character is refused over REST, since no gRPC message can hold it", async () => {
  const body = { name: "a", description: "\ud83d", claimMatch: { ...claimMatch, claims: { "\ud83d": "x" } } };
  const answer = await api.call("POST", `${IAM}/identities/${api.organization}`, { body });
  expect(answer.json.details[1].fieldViolations).toEqual([
    { field: "description", description: "must be Unicode text" },
    { field: "claimMatch.claims.\ud83d", description: "must be Unicode text" },
  ]);
});
