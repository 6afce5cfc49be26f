// `strictBodies`: a field that does not exist is refused instead of ignored, on both wires.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";
import { IAM, openGrpc, serve } from "../../harness/api-server.ts";
import { expectInvalid } from "../../support/refusal.ts";

const [strict, plain] = await Promise.all([serve({ strictBodies: true }), serve()]);
const grpc = openGrpc(strict.baseUrl);

const identity = { name: "i", claimMatch: { issuer: "https://a.example", subjct: "s" }, descripton: "d", other: 1 };

test("over REST each unknown field is named, with the nearest name", async () => {
  const answer = await strict.call("POST", `${IAM}/identities/${strict.organization}`, { body: identity });
  expectInvalid(answer, {
    "claimMatch.subjct": "there is no such field; did you mean subject?",
    descripton: "there is no such field; did you mean description?",
    other: "there is no such field",
  });
});

test("over REST ten of very many are named", async () => {
  const body = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`none${i}`, 1]));
  const answer = await strict.call("POST", `${IAM}/groups/${strict.organization}`, { body: { name: "g", ...body } });
  expect(answer.json.details[1].fieldViolations).toHaveLength(10);
});

test("over REST without the option it is ignored, as in the published API", async () => {
  const body = { name: "g", descripton: "d" };
  expect((await plain.call("POST", `${IAM}/groups/${plain.organization}`, { body })).status).toBe(200);
});

test("over gRPC the number of an unknown field is refused, also in a nested message", async () => {
  const group = new BinaryWriter().tag(99, 2).string("x").tag(2, 2).string("g").finish();
  const request = new BinaryWriter()
    .tag(1, 2)
    .string(strict.organization)
    .tag(98, 0)
    .int32(1)
    .tag(2, 2)
    .bytes(group)
    .finish();
  const path = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
  const answer = await grpc.bytes(path, Buffer.from(request), { token: strict.owner.token });
  expect(answer.code).toBe(3);
  const [violations] = answer.details.filter(({ fieldViolations }) => fieldViolations);
  expect(violations?.fieldViolations).toEqual([
    { field: "98", description: "is not the number of a field of the request" },
    { field: "group.99", description: "is not the number of a field of the request" },
  ]);
});
