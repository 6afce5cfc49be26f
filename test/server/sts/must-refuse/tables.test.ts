// The rows of docs/faults.md#tokens-that-must-be-refused that are about one token, over every wire, one test each. Each refusal
// has the fixed text, leaves one audit line with its reason and returns nothing else. The server connects only to the issuer
// that the identity trusts.
import { describe, expect, it } from "vitest";
import { OTHER_RSA, RSA, sign } from "../../../harness/sts.ts";
import { expectNoToken, UNAUTHENTICATED, useAttackedServer } from "./attacked-server.ts";
import { claimControls, claimRows } from "./claim-rows.ts";
import { headerRows } from "./header-rows.ts";
import { identityControls, identityRows } from "./identity-rows.ts";
import { CONTROLS, type Row } from "./target.ts";
import { WIRES } from "./wire.ts";

const named = (rows: Row[]) => rows.map((row): [number, string, Row] => [row.row, row.what, row]);

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  describe.each([
    ["header", headerRows],
    ["claims", claimRows],
    ["identity", identityRows],
  ])("refused by the %s", (_group, rows) => {
    it.each(named(rows.filter(({ onWire }) => onWire !== "unsendable")))("row %i: %s", async (_row, _what, row) => {
      const { claimMatch, staticKeys } = row.relationship?.(attacked()) ?? {};
      const identity = await attacked().identity(claimMatch || staticKeys ? { claimMatch, staticKeys } : undefined);
      const bearer = await row.bearer(attacked());
      attacked().takeOutgoing();
      if (row.onWire === "UNAUTHENTICATED") {
        expect(await attacked().exchange(bearer, { identity })).toMatchObject(UNAUTHENTICATED);
      } else await attacked().expectDenied(bearer, { identity }, row.reason, row.invalid);
      const outgoing = attacked().takeOutgoing();
      const allowed = row.isOffline ? [] : [`127.0.0.1:${attacked().issuer.port}`];
      expect(outgoing.filter((host) => !allowed.includes(host))).toEqual([]);
      const { lastSeenTime, createTime } = await attacked().server.ok("GET", `/iam/v2beta1/identities/${identity}`);
      expect(lastSeenTime).toBe(createTime);
    });
  });

  it.each(CONTROLS)("a token that is signed with %s is taken", async (alg, key) => {
    const identity = await attacked().identity();
    const { code, body } = await attacked().exchange(await sign(attacked().claims(), key, { alg }), { identity });
    expect(code).toBe("OK");
    expect((await attacked().connection.listGroups([`Bearer ${body.token}`])).code).toBe("OK");
  });

  const controls: (typeof identityControls)[number][] = [...claimControls, ...identityControls];
  it.each(controls.map((row) => [row.what, row] as const))("a token is taken by %s", async (_what, row) => {
    const identity = await attacked().identity(row.relationship?.(attacked()));
    expect((await attacked().exchange(await row.bearer(attacked()), { identity })).code).toBe("OK");
  });

  it.each([
    ["jwk", OTHER_RSA.jwk],
    ["jku", "https://attacker.example"],
    ["x5u", "https://attacker.example"],
    ["x5c", ["AA"]],
  ])("row 4: a token whose %s is ignored is taken", async (name, value) => {
    const bearer = await sign(attacked().claims(), RSA, { [name]: value });
    expect((await attacked().exchange(bearer, { identity: await attacked().identity() })).code).toBe("OK");
  });

  it("row 34: the log of every row and the console have no token and no part of one", () => expectNoToken(attacked()));
});

it("every row of the list that is about one token is in these tables", () => {
  const rows = new Set([...headerRows, ...claimRows, ...identityRows].map(({ row }) => row));
  expect([...rows].toSorted((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 19, 20, 21, 22, 24, 25, 28, 29, 30, 33,
  ]);
});
