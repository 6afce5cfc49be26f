// A deleted record differs from one that is hidden or unreadable, and from a service or an organization that is gone.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { retryUntilVisible } from "../../../provider/recovery/not-found.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock, START_MS } from "../../harness/clock.ts";
import { configureGroup, startMachine } from "../../harness/provider.ts";
import { GROUP, IDENTITY, json, ORG, page, ROLE, refusal, scriptedSession } from "../../support/scripted.ts";

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
    expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
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
      new RegExp(`^GetGroup group ${ORG}: INTERNAL: .*broken\nSee docs/troubleshooting\\.md#unavailable$`),
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
  "a search tries once for a record that may be hidden until %d",
  async (hiddenMs) => expect(await looking(hiddenMs)).toEqual({ found: undefined, begun: [0] }),
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

const machine = startMachine();

const GONE = "0123456789abcdef0123456789abcdef01234567";

const { file } = machine;

const leave = ({ __key: key }: Json, parent: string, uid: string): void => {
  const at = Date.now() - 600_000;
  machine.leave({ key, parent, at, notBefore: at }, uid);
};

const quarantined = (): string => (existsSync(`${file()}.invalid`) ? readFileSync(`${file()}.invalid`, "utf8") : "");

const evidence = () =>
  `the organization ${GONE} is not at ${machine.service.baseUrl}: these credentials see nothing of it, but ${machine.org}`;

describe("an entry of an organization that the service does not have", () => {
  it("is dropped by a run for another organization: said once, kept in a file of its own", async () => {
    const all = [machine.inputs(), machine.inputs()] as const;
    leave(all[0], GONE, `${GONE}/0123456789abcdef`);
    leave(all[1], `${GONE}/0123456789abcdef`, `${GONE}/0123456789abcdef/0123456789abcdef`);
    const { session } = machine.run();
    for (const args of all) expect((await reconcile.create(group, session, args)).id).toContain(machine.org);
    expect(machine.messages).toEqual([
      `the intent journal ${file()}: ${evidence()}. Its entries are dropped where they are in the way, and kept in ${file()}.invalid`,
    ]);
    expect(quarantined().trim().split("\n")).toHaveLength(2);
    const again = machine.run().session;
    for (const { __key } of all)
      expect(await again.journal.findUnsettled(__key as string)).toMatchObject([{ parent: machine.org }]);
  });

  it("is dropped where the resource is an organization, at a server of the caller's own machine", async () => {
    const { parent: _parent, ...args } = machine.inputs();
    leave(args, "", GONE);
    const { id } = await machine.create({ ...args, root: true });
    expect(id).toMatch(/^[0-9a-f]{40}$/);
    expect(quarantined()).toContain(GONE);
  });

  it("is not shown in a preview, which drops nothing", async () => {
    const args = machine.inputs();
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    const parent = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    for (const own of [args, { ...args, parent }]) {
      const methods = await configureGroup(machine.run());
      await methods.check({}, { ...own, __preview: true });
    }
    expect(machine.messages).toEqual([]);
    expect(quarantined()).toBe("");
  });

  it("is settled where the program adopts a record for its resource", async () => {
    const args = machine.inputs();
    const { uid } = await machine.createByOther(args);
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    await machine.create({ ...args, adopt: uid });
    expect(quarantined()).toContain("cannot be read");
  });
});

it("an entry is kept where its resource is in that organization: the error says what to do", async () => {
  const args: Json = { ...machine.inputs(), parent: GONE };
  leave(args, GONE, `${GONE}/0123456789abcdef`);
  await expect(machine.create(args)).rejects.toThrow(
    new RegExp(
      `^${args.__key}: the intent journal ${file()} names ${GONE}/0123456789abcdef for it, and the record cannot be read: GetGroup .*` +
        'PERMISSION_DENIED: .*\\nUse credentials that may read it\\. If it is gone, or belongs to somebody else: npx pulumi-irm recover clean --key "' +
        `${args.__key}"\\. Until then nothing is created\\.\\nSee docs/troubleshooting\\.md#unreadable-entry$`,
      "s",
    ),
  );
  expect(quarantined()).toBe("");
  expect(machine.posts).toBe(0);
});

it.each<[string, (path: string, json: Json) => Json | undefined]>([
  ["still shows a group of it", (path, json) => (/groups/.test(path) ? listed(json) : undefined)],
  ["shows no other organization either", (path) => (/groups/.test(path) ? { groups: [] } : undefined)],
])("an entry whose record may exist is kept where the service denies the record and %s", async (_what, answer) => {
  const args = machine.inputs();
  leave(args, GONE, `${GONE}/0123456789abcdef`);
  const lying = machine.runOver(async (request, send) => {
    const own = await send();
    if (request.method !== "GET" || own.status !== 200) return own;
    const body = answer(request.url.pathname, JSON.parse(own.body) as Json);
    return body === undefined ? own : { ...own, body: JSON.stringify(body) };
  });
  await expect(reconcile.create(group, lying.session, args)).rejects.toThrow(`the intent journal ${file()} names`);
  expect(quarantined()).toBe("");
  expect(machine.posts).toBe(0);
});

it("an entry whose record may exist is kept in an outage: the error is that of the connection", async () => {
  const args = machine.inputs();
  leave(args, GONE, `${GONE}/0123456789abcdef`);
  const away = machine.runOver(async () => page(503));
  await expect(reconcile.create(group, away.session, args)).rejects.toThrow("UNAVAILABLE");
  expect(quarantined()).toBe("");
  expect(readdirSync(machine.journal).map((name) => join(machine.journal, name))).toContain(file());
});

const listed = (json: Json): Json => ({ ...json, groups: [{ uid: `${GONE}/0123456789abcdef`, name: "theirs" }] });
