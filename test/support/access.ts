// Who may call the methods of a kind: a caller without a token, a stranger, a viewer, an owner (docs/contract.md#authorization,
// docs/contract.md#d5). Each row makes the records that its call needs.
import { beforeAll, describe, expect, test } from "vitest";
import { expectDenied, expectUnauthenticated } from "./refusal.ts";
import type { Actor, TestServer } from "./server.ts";

export interface AccessCall {
  method: string;
  path: string;
  body?: object;
  /** uid at which the capabilities are needed */
  at: string;
}

export interface AccessRow {
  /** capabilities, as a denial tells them */
  needs: string;
  call: () => Promise<AccessCall> | AccessCall;
  /** what a viewer of the organisation is told; default: a write, which is denied */
  viewer?: "served" | "denied";
  /** capabilities that an owner lacks; default: none */
  ownerLacks?: string;
  /** unscoped: who may see nothing is told of nothing, under this name */
  list?: string;
}

/** One block of tests for each method. */
export const describeAccess = (
  api: () => TestServer,
  domain: string,
  rows: Readonly<Record<string, AccessRow>>,
): void => {
  describe.each(Object.entries(rows))("%s", (_, { needs, call, viewer = "denied", ownerLacks, list }) => {
    let stranger: Actor;
    let reader: Actor;
    beforeAll(async () => {
      // Owns an organisation of its own, and nothing here.
      stranger = await api().actor("stranger");
      await api().ok("POST", "/iam/v2beta1/groups", { token: stranger.token, body: { name: "elsewhere" } });
      reader = await api().actor("viewer", { role: "viewer" });
    });
    const send = async (token: string | null) => {
      const { method, path, body, at } = await call();
      return { at, answer: await api().call(method, path, { token, body }) };
    };

    test("refuses no token and a token that is none", async () => {
      expectUnauthenticated((await send(null)).answer, domain);
      expectUnauthenticated((await send("not-a-token")).answer, domain);
    });

    test(list ? "tells a stranger of nothing" : "refuses a stranger, whether the record is there or not", async () => {
      const { at, answer } = await send(stranger.token);
      if (!list) return expectDenied(answer, needs, at, domain);
      expect(answer.json).toEqual({ [list]: [], totalCount: "0", skipped: 0 });
    });

    test(viewer === "served" ? "serves a viewer" : "refuses a viewer", async () => {
      const { at, answer } = await send(reader.token);
      if (viewer === "denied") return expectDenied(answer, needs, at, domain);
      expect(answer.status, answer.text).toBe(200);
      if (list) expect(answer.json[list]).not.toEqual([]);
    });

    test(ownerLacks ? "refuses an owner who lacks what is internal" : "serves an owner", async () => {
      const { at, answer } = await send(api().owner.token);
      if (ownerLacks) return expectDenied(answer, ownerLacks, at, domain);
      expect(answer.status, answer.text).toBe(200);
    });
  });
};
