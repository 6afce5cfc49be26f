// A delete: records below are deleted first, foreign ones are named, and hidden ones are not treated as deleted.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { GROUP, json, keyOf, ORG, refusal, scriptedSession } from "../../support/scripted.ts";

const { group } = kindRecords;
const service = await startSharedService();
const org: string = service.organization as string;

const create = (inputs: Json) =>
  reconcile.create(group, service.session, { ...keyOf(inputs.name as string), ...inputs });

describe("a delete", () => {
  it("waits for the children that the same run deletes", async () => {
    const parent = await create({ parent: org, name: "parent" });
    const child = await create({ parent: parent.id, name: "child" });
    const next = service.otherSession();
    await Promise.all([
      reconcile.remove(group, next, parent.id, parent.outs),
      reconcile.remove(group, next, child.id, child.outs),
    ]);
    expect((await reconcile.read(group, next, parent.id, {})).id).toBe("");
  });

  it("that is denied is an error", async () => {
    const { session } = scriptedSession(refusal("PERMISSION_DENIED", "no"));
    await expect(reconcile.remove(group, session, GROUP, { name: "eng" })).rejects.toThrow(
      `DeleteGroup group ${GROUP} "eng": PERMISSION_DENIED: Permission denied: no`,
    );
  });
});

describe("a delete of a record within its creation grace period", () => {
  const bornMs = Date.parse("2026-01-28T12:00:00Z");
  const stored = { name: "eng", createTime: new Date(bornMs).toISOString() };

  /** A service that answers so `takesMs` after a request; the first attempt finds nothing. */
  const answering = (takesMs: number) => {
    const scripted = scriptedSession(() => {
      const isFirst = scripted.requests.length === 1;
      if (isFirst) scripted.clock.advance(takesMs);
      const date = new Date(bornMs + scripted.clock.now()).toUTCString();
      return isFirst ? refusal("NOT_FOUND", "no", { date }) : json({ uid: ORG }, 200, { date });
    });
    return scripted;
  };

  it("is sent again when it is not found", async () => {
    const { session, requests } = answering(100);
    await reconcile.remove(group, session, GROUP, stored);
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
  });

  it("is sent again when the response came after the grace period: the request may have come before", async () => {
    const { session, requests } = answering(9_000);
    await reconcile.remove(group, session, GROUP, stored);
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
  });

  it("succeeds when it is not found after the grace period", async () => {
    const { session, requests, clock } = answering(100);
    clock.advance(6_000);
    await reconcile.remove(group, session, GROUP, stored);
    // A read of its parent proves that it is gone.
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "GET"]);
  });
});
