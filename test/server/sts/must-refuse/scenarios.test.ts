// The rows of docs/faults.md#tokens-that-must-be-refused that take more than one token against one identity, over every wire:
// 7, 22, 26 and 34. The last test searches the whole log of the server.

import { describe, expect, it } from "vitest";
import { createRecord } from "../../../harness/records.ts";
import { SUBJECT, sign } from "../../../harness/sts.ts";
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

    it("of a custom identity provider is denied: this server trusts no such provider", async () => {
      const request = { identity: await attacked().identity(), identityProvider: attacked().server.organization };
      await attacked().expectDenied(await sign(attacked().claims()), request, "identity_provider");
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
