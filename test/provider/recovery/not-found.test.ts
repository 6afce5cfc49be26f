// A deleted record differs from one that is hidden for a moment or unreadable, and from a service that has lost everything: in a read that
// does not find it, and in a delete. Volatile fields are no drift.
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { retryUntilVisible } from "../../../provider/recovery/not-found.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock, START_MS } from "../../harness/clock.ts";
import { GROUP, IDENTITY, json, ORG, ROLE, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, identity, roleBinding } = kindRecords;

const gone = refusal("NOT_FOUND", "it does not exist");
const organization = json({ uid: ORG, name: "org" });
const none = json({ items: [], totalCount: 0 });
const shown = (requests: { method: string; url: URL }[]) =>
  requests.map(({ method, url }) => `${method} ${url.pathname.replace("/iam/v2beta1/", "")}`);

const ADVICE =
  "known to the service; is irm:baseUrl the right address? If the organization was deleted, remove its resources from " +
  "the state: pulumi state delete URN.";

it("a service without any records fails a read or a delete of a record below, with the organization as missing, and a read of a root group", async () => {
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

describe("a delete of a record that is gone", () => {
  const asked = [`DELETE groups/${GROUP}`, `GET groups/${ORG}`];
  it.each<[string, HttpAnswer, read: unknown]>([
    ["can be read", organization, { id: "", props: {} }],
    // Without permission to delete, the error differs from NOT_FOUND. A read does not take the record for deleted.
    [
      "may not be read",
      refusal("PERMISSION_DENIED", "who are you"),
      expect.stringContaining(
        `GetGroup group ${ORG}: PERMISSION_DENIED: Permission denied: who are you\nPermission denied is not treated as deletion.`,
      ),
    ],
  ])("succeeds when its parent %s", async (_, parent, read) => {
    const { session, requests } = scriptedSession(gone, parent);
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual(asked);
    const reading = reconcile.read(group, scriptedSession(gone, parent).session, GROUP, { name: "eng" });
    expect(await reading.catch(({ message }: Error) => message)).toEqual(read);
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
    const reading = scriptedSession(gone, gone, organization);
    expect(await reconcile.read(identity, reading.session, IDENTITY, {})).toEqual({ id: "", props: {} });
    expect(shown(reading.requests)).toEqual([`GET identities/${IDENTITY}`, ...shown(requests).slice(2)]);
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
])("a delete of a record within its creation grace period %s", async (_, takesMs, laterMs, methods) => {
  const { session, requests, clock } = answering(takesMs);
  clock.advance(laterMs);
  await reconcile.remove(group, session, GROUP, stored);
  expect(requests.map(({ method }) => method)).toEqual(methods);
});

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

it.each<[string, Parameters<typeof looking>[1], string | undefined, number[]]>([
  ["ends with the record that it finds", { shownMs: 700 }, "it", [0, 250, 750]],
  ["retries with growing waits, at last after the grace period", {}, undefined, [0, 250, 750, 1_750, 3_250, 5_000]],
  ["retries once after an attempt from before that to after it", { takesMs: 8_000 }, undefined, [0, 8_000]],
])("a search for a record that may be hidden %s", async (_, service, found, begun) => {
  expect(await looking(5_000, service)).toEqual({ found, begun });
});

it.each([0, -1_000, -Infinity, Number.NaN])(
  "a search for a record that may be hidden tries once when the record can be hidden until %d",
  async (hiddenMs) => {
    expect(await looking(hiddenMs)).toEqual({ found: undefined, begun: [0] });
  },
);

describe("a read", () => {
  const stored = { uid: GROUP, name: "eng" };

  it("fails when it is denied, and does not treat the record as deleted", async () => {
    const { session } = scriptedSession(refusal("PERMISSION_DENIED", "groups.list is missing"));
    await expect(reconcile.read(group, session, GROUP, stored)).rejects.toThrow(
      `GetGroup group ${GROUP}: PERMISSION_DENIED: Permission denied: groups.list is missing\n` +
        "Permission denied is not treated as deletion.",
    );
  });

  it("finds a new record that is hidden at first", async () => {
    const createTime = new Date(START_MS).toISOString();
    const hidden = refusal("NOT_FOUND", "no", { date: new Date(START_MS).toUTCString() });
    const { session, clock } = scriptedSession(hidden, json({ uid: GROUP, name: "eng", createTime }));
    expect((await reconcile.read(group, session, GROUP, { ...stored, createTime })).id).toBe(GROUP);
    expect(clock.sleeps).toEqual([250]);
  });

  it("refuses a malformed uid", async () => {
    const { session } = scriptedSession(json({}));
    await expect(reconcile.read(group, session, "eng", {})).rejects.toThrow('"eng" is not the uid of a group');
  });

  it("keeps the stored last-seen time, which is volatile, and allowReplace, and leaves out values that the service chose", async () => {
    const { session } = scriptedSession(json({ uid: GROUP, name: "ci", lastSeenTime: "2026-02-02T00:00:00.000Z" }));
    const { props } = await reconcile.read(identity, session, GROUP, { lastSeenTime: "2026-01-01T00:00:00.000Z" });
    expect(props.lastSeenTime).toBe("2026-01-01T00:00:00.000Z");
    const root = scriptedSession(json({ uid: ORG, name: "org", kind: "ORG_KIND_DEV", verified: true }));
    const { props: own, inputs } = await reconcile.read(group, root.session, ORG, { allowReplace: true });
    expect(inputs).toEqual({ root: true, name: "org", allowReplace: true });
    expect(own).toMatchObject({ kind: "ORG_KIND_DEV", verified: true, allowReplace: true });
  });

  it("keeps uid and name of the ends of a role binding, except secret names", async () => {
    const identity = { uid: ORG, name: "renamed", description: "", issuer: "https://issuer.example", subject: "s" };
    const answer = { uid: GROUP, identity, role: { uid: ROLE, name: "viewer", description: "" } };
    const { session } = scriptedSession(json(answer), json(answer));
    const stored = { identity: { uid: ORG, name: "ci" }, role: { uid: ROLE, name: "viewer" }, __role: "viewer" };
    const { props, inputs } = await reconcile.read(roleBinding, session, GROUP, stored);
    const role = { uid: ROLE, name: "viewer" };
    expect(props).toEqual({ uid: GROUP, parent: ORG, identity: { uid: ORG, name: "renamed" }, role, __role: "viewer" });
    expect(inputs).toEqual({ parent: ORG, identity: ORG, role: "viewer" });
    const secret = await reconcile.read(roleBinding, session, GROUP, { identity: { uid: ORG }, role });
    expect(secret.props).toEqual({ uid: GROUP, parent: ORG, identity: { uid: ORG }, role });
    expect(secret.inputs).toEqual({ parent: ORG, identity: ORG, role: ROLE });
  });

  it("keeps the inputs in the state while they describe the record, and its place", async () => {
    const { session } = scriptedSession(json({ uid: GROUP, name: "eng", description: "" }));
    const read = (inputs: Json) => reconcile.read(group, session, GROUP, stored, { inputs });
    const given = { parent: ORG, name: "eng", description: "" };
    expect((await read(given)).inputs).toBe(given);
    expect((await read({ ...given, name: "ops" })).inputs).toEqual({ parent: ORG, name: "eng" });
    expect((await read({ ...given, parent: ROLE })).inputs).toEqual({ parent: ORG, name: "eng" });
  });
});
