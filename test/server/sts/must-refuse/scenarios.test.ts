// The rows of docs/faults.md#tokens-that-must-be-refused that take more than one token against one identity, over every wire:
// 7, 22, 26, 27 and 34. The last test searches the whole log of the server.

import { describe, expect, it } from "vitest";
import { capabilitiesFromBits } from "../../../../schema/index.ts";
import { IAM } from "../../../harness/api-server.ts";
import { createRecord } from "../../../harness/records.ts";
import { payloadOf, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { bearer, expectNoToken, UNAUTHENTICATED, useAttackedServer } from "./attacked-server.ts";
import { WIRES } from "./wire.ts";

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  describe("row 7: a token in the wrong place", () => {
    it("an API token is not exchanged again, whatever the identity's patterns", async () => {
      const identity = await attacked().identity({ claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } });
      const { token } = await attacked().exchanged(identity);
      attacked().takeOutgoing();
      await attacked().expectDenied(token, { identity }, "own_issuer");
      expect(attacked().takeOutgoing()).toEqual([]);
    });

    it("the API refuses a workload's token, even with its own audience", async () => {
      const token = await sign(attacked().claims({ aud: attacked().api }));
      attacked().tokens.add(token);
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });

    it("the API refuses a token of the development issuer", async () => {
      const token = await attacked().server.identityToken("owner", { audience: attacked().api });
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });
  });

  describe("row 26: an identity", () => {
    it("of another tenant is denied; only the holder of a token of its issuer learns that the subject differs", async () => {
      const { server } = attacked();
      const { uid: tenant } = await createRecord(server, "groups", "", { name: "another tenant" });
      const body = { name: "ci", claimMatch: { issuer: attacked().issuer.url, subject: "repo:other-org/app" } };
      const { uid: identity } = await createRecord(server, "identities", tenant, body);
      await attacked().expectDenied(await sign(attacked().claims()), { identity }, "subject", "sub");
    });

    it("that was deleted is denied, and its token is refused", async () => {
      const identity = await attacked().identity();
      const { token } = await attacked().exchanged(identity);
      await attacked().server.ok("DELETE", `${IAM}/identities/${identity}`);
      await attacked().expectDenied(await sign(attacked().claims()), { identity }, "identity_unknown");
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });

    it("without any binding gets a token with an empty cap, which reads no record", async () => {
      const { token } = await attacked().exchanged(await attacked().identity());
      expect(payloadOf(token).cap).toEqual({});
      const { code, body } = await attacked().connection.listGroups(bearer(token));
      expect([code, body.totalCount]).toEqual(["OK", "0"]);
    });

    it("of an AWS principal is not supported, whatever the bearer", async () => {
      const { server } = attacked();
      const awsIdentity = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/ci", userId: "AROA:ci" };
      const created = await createRecord(server, "identities", server.organization, { name: "aws", awsIdentity });
      const result = await attacked().exchange("signed-request", { identity: created.uid });
      const message = "Unimplemented: AWS identities cannot be assumed here";
      expect(result).toMatchObject({ code: "UNIMPLEMENTED", message });
    });

    it("of a custom identity provider is denied: this server trusts no such provider", async () => {
      const request = { identity: await attacked().identity(), identityProvider: attacked().server.organization };
      await attacked().expectDenied(await sign(attacked().claims()), request, "identity_provider");
    });
  });

  describe("row 27: a request for more than the grants", () => {
    const bindIdentity = async (): Promise<string> => {
      const { server } = attacked();
      const identity = await attacked().identity();
      const body = { identityUid: identity, roleUid: await server.role("viewer") };
      await createRecord(server, "roleBindings", server.organization, body);
      return identity;
    };

    it.each([
      ["a capability that is not held", { cap: ["groups.delete"] }],
      ["a capability that does not exist", { cap: ["no.such"] }],
      ["another tenant's scope", { scopes: ["0475f6ba00000000000000000000000000005b60"] }],
      ["a malformed scope", { scopes: ["*"] }],
    ])("%s: nothing is granted and nothing revealed", async (_what, request) => {
      const { token } = await attacked().exchanged(await bindIdentity(), request);
      expect(payloadOf(token).cap).toEqual({});
      const { body } = await attacked().connection.listGroups(bearer(token));
      expect(body.totalCount).toBe("0");
    });

    it("a capability that is held and one that is not: the first", async () => {
      const { token } = await attacked().exchanged(await bindIdentity(), { cap: ["groups.list", "groups.delete"] });
      const { cap } = payloadOf(token) as Body;
      expect(capabilitiesFromBits(cap[attacked().server.organization])).toEqual(["CAP_IAM_GROUPS_LIST"]);
    });

    it("a foreign audience gets a full error, since ours are public", async () => {
      const result = await attacked().exchange(await sign(attacked().claims()), {
        identity: await bindIdentity(),
        aud: "https://evil.example",
      });
      const description = expect.stringMatching(/^must be http:/);
      expect(result).toMatchObject({
        code: "INVALID_ARGUMENT",
        details: [{}, { "@type": "google.rpc.BadRequest", fieldViolations: [{ field: "aud", description }] }],
      });
    });
  });

  it("row 22: a broad issuer pattern is stored, with a warning in the log", async () => {
    const claimMatch = { issuerPattern: "https://x.example.com", subject: SUBJECT };
    const identity = await attacked().identity({ claimMatch });
    await attacked().identity({ claimMatch: { issuerPattern: "https://x\\.example\\.com", subject: SUBJECT } });
    const warnings = attacked()
      .server.log.map((line) => JSON.parse(line) as Body)
      .filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([
      { identity: expect.any(String), issuerPattern: ".*" },
      {
        event: "an issuer pattern may match more than was meant",
        identity,
        issuerPattern: "https://x.example.com",
        reason: "a dot without a backslash matches any character",
      },
    ]);
    // The one that it matches by mistake is asked, and has no address here.
    attacked().takeOutgoing();
    await attacked().expectDenied(
      await sign(attacked().claims({ iss: "https://xaexample.com" })),
      { identity },
      "document",
    );
    expect(attacked().takeOutgoing()).toEqual(["xaexample.com:"]);
  });

  it("row 34: the log of these tests and the console have no token and no part of one", () => {
    expectNoToken(attacked());
  });
});
