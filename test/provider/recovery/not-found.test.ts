// A deleted record differs from one that is hidden for a moment, and from a service that has lost everything: in a read that does not find
// it, and in a delete.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { retryUntilVisible } from "../../../provider/recovery/not-found.ts";
import { manualClock } from "../../harness/clock.ts";
import { GROUP, IDENTITY, json, ORG, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, identity } = kindRecords;

const gone = refusal("NOT_FOUND", "it does not exist");
const organization = json({ uid: ORG, name: "org" });
const none = json({ items: [], totalCount: 0 });
const shown = (requests: { method: string; url: URL }[]) =>
  requests.map(({ method, url }) => `${method} ${url.pathname.replace("/iam/v2beta1/", "")}`);

const ADVICE =
  "known to the service; is irm:baseUrl the right address? If the organization was deleted, remove its resources from " +
  "the state: pulumi state delete URN.";

describe("a service without any records", () => {
  it("fails a read or a delete of a record below, with the organization as missing, and a read of a root group", async () => {
    const error = `group ${GROUP}: neither it nor its organization ${ORG} is ${ADVICE}`;
    const reading = scriptedSession(gone);
    await expect(reconcile.read(group, reading.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    const deleting = scriptedSession(gone);
    await expect(reconcile.remove(group, deleting.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    expect(shown(deleting.requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
    const root = scriptedSession(gone);
    await expect(reconcile.read(group, root.session, ORG, { name: "org" })).rejects.toThrow(
      `group ${ORG}: it is not ${ADVICE}`,
    );
    expect(root.requests).toHaveLength(1);
  });
});

describe("a delete of a record that is gone", () => {
  const asked = [`DELETE groups/${GROUP}`, `GET groups/${ORG}`];
  it.each([
    ["can be read", organization],
    // Without permission to delete, the error differs from NOT_FOUND.
    ["may not be read", refusal("PERMISSION_DENIED", "who are you")],
  ])("succeeds when its parent %s", async (_, parent) => {
    const { session, requests } = scriptedSession(gone, parent);
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual(asked);
  });

  it("succeeds when its parent is gone by the same rule", async () => {
    const { session, requests } = scriptedSession(none, gone, gone, organization);
    await reconcile.remove(identity, session, IDENTITY, { name: "ci" });
    expect(shown(requests)).toEqual([
      "GET roleBindings",
      `DELETE identities/${IDENTITY}`,
      `GET groups/${GROUP}`,
      `GET groups/${ORG}`,
    ]);
  });

  it("fails when its parent cannot be read", async () => {
    const { session } = scriptedSession(gone, refusal("INTERNAL", "broken"));
    await expect(reconcile.remove(group, session, GROUP, { name: "eng" })).rejects.toThrow(
      new RegExp(`^GetGroup group ${ORG}: INTERNAL: .*broken\nSee docs/recovery\\.md#unavailable$`),
    );
  });

  it("succeeds for a root group, which has no parent: a killed engine continues after it", async () => {
    const { session, requests } = scriptedSession(gone);
    await reconcile.remove(group, session, ORG, { name: "org" });
    expect(requests).toHaveLength(1);
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

  it.each([
    ["is sent again when it is not found", 100, 0, ["DELETE", "DELETE"]],
    ["is sent again when the response came after it: the request may have come before", 9_000, 0, ["DELETE", "DELETE"]],
    ["succeeds when it is not found after it: a read of its parent proves that", 100, 6_000, ["DELETE", "GET"]],
  ])("%s", async (_, takesMs, laterMs, methods) => {
    const { session, requests, clock } = answering(takesMs);
    clock.advance(laterMs);
    await reconcile.remove(group, session, GROUP, stored);
    expect(requests.map(({ method }) => method)).toEqual(methods);
  });
});

describe("a search for a record that may be hidden", () => {
  /** Each search takes so long; one that begins at `shownMs` or later finds the record. */
  const looking = async (hiddenMs: number, { takesMs = 0, shownMs = Infinity } = {}) => {
    const clock = manualClock();
    const begun: number[] = [];
    const look = async () => {
      begun.push(clock.now());
      const found = clock.now() >= shownMs ? "it" : undefined;
      clock.advance(takesMs);
      return found;
    };
    return { found: await retryUntilVisible(clock, look, () => hiddenMs), begun };
  };

  it("ends with the record that it finds", async () => {
    expect(await looking(5_000, { shownMs: 700 })).toEqual({ found: "it", begun: [0, 250, 750] });
  });

  it("retries with growing waits, the last time after the grace period", async () => {
    expect(await looking(5_000)).toEqual({ found: undefined, begun: [0, 250, 750, 1_750, 3_250, 5_000] });
  });

  it("retries once after an attempt that began before that and ended after it", async () => {
    expect(await looking(5_000, { takesMs: 8_000 })).toEqual({ found: undefined, begun: [0, 8_000] });
  });

  it.each([0, -1_000, -Infinity, Number.NaN])("tries once when the record can be hidden until %d", async (hiddenMs) => {
    expect(await looking(hiddenMs)).toEqual({ found: undefined, begun: [0] });
  });
});
