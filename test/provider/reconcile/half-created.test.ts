// A half-done create is recorded (docs/faults.md#f12). A new record that is not readable yet is not gone (docs/faults.md#f18).
// Unknown fields survive (docs/faults.md#f25). Against the reference server, with responses that are changed on the wire.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type HttpAnswer, type HttpRequest, systemTransport, type Transport } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import type { Incomplete } from "../../../provider/reconcile/incomplete.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import type { ManualClock } from "../../harness/clock.ts";
import { startSharedService } from "../../harness/provider.ts";
import { journalFolder, keyOf, refusal } from "../../support/scripted.ts";

const { group, identity } = kindRecords;
const service = await startSharedService();
const clock: ManualClock = service.clock;
const org: string = service.organization as string;

type Wire = (request: HttpRequest, answer: HttpAnswer) => HttpAnswer;

let sent: HttpRequest[];
beforeEach(() => {
  sent = [];
});

/** A process whose responses `wire` changes. */
const run = (wire: Wire = (_, answer) => answer): Session => {
  const direct = systemTransport();
  const transport: Transport = async (request) => {
    sent.push(request);
    return wire(request, await direct(request));
  };
  return service.start({ env: { IRM_JOURNAL: mkdtempSync(join(journalFolder, "half-")) }, clock, transport });
};

const changed =
  (method: string, members: Json): Wire =>
  (request, answer) =>
    request.method === method && request.url.pathname.startsWith("/iam/")
      ? { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), ...members }) }
      : answer;

let count = 0;
const inputs = (more: Json = {}): Json => {
  count += 1;
  return { ...keyOf(`h${count}`), __provider: "text", parent: org, name: `h${count}`, ...more };
};
const patches = () =>
  sent
    .filter(({ method }) => method === "PATCH")
    .map(({ url, body }) => [url.searchParams.get("updateMask"), JSON.parse(body as string)]);

describe("a record that was created, but differs from the request", () => {
  it("only in the response is found in its real form", async () => {
    const args = inputs({ description: "asked for" });
    const { id, outs } = await reconcile.create(group, run(changed("POST", { description: "another" })), args);
    expect(outs).toMatchObject({ uid: id, description: "asked for" });
    expect(patches()).toEqual([]);
  });

  it("after an adoption whose PATCH fails is recorded too", async () => {
    const there = await reconcile.create(group, run(), inputs());
    const args = inputs({ adopt: there.id, description: "asked for" });
    const denied = run((request, answer) =>
      request.method === "PATCH" ? refusal("PERMISSION_DENIED", "groups.update") : answer,
    );
    const error = (await reconcile.create(group, denied, args).catch((thrown: unknown) => thrown)) as Incomplete;
    expect(error.id).toBe(there.id);
    expect(error.properties).toMatchObject({ uid: there.id, adopted: true, __provider: "text" });
    expect(error.reasons).toEqual([
      `UpdateGroup group ${there.id} "${args.name}": PERMISSION_DENIED: Permission denied: groups.update\nSee docs/recovery.md#denied`,
    ]);
    const { outs } = await reconcile.update(group, run(), error.id, error.properties, args);
    expect(outs).toMatchObject({ uid: there.id, name: args.name, description: "asked for", adopted: true });
  });
});

describe("a record that reads do not return yet", () => {
  const hidden = (untilMs: number): Wire => {
    return (request, answer) =>
      request.method === "GET" && /\/groups\/.*\//.test(request.url.pathname) && clock.now() < untilMs
        ? refusal("NOT_FOUND", "group", { date: String(answer.headers.date) })
        : answer;
  };

  it.each([0, 500, 3_000])("for %i ms after its create is still found", async (lagMs) => {
    const { id, outs } = await reconcile.create(group, run(), inputs());
    const found = await reconcile.read(group, run(hidden(clock.now() + lagMs)), id, outs);
    expect(found.id).toBe(id);
  });
});

describe("a value that this version does not know", () => {
  it("in an enum or a field of the response is no change, and no update sends or clears it", async () => {
    const args = inputs();
    const strange = changed("GET", { kind: "KIND_OF_TOMORROW", status: "STATUS_OF_TOMORROW", motto: "tomorrow" });
    const { id, outs } = await reconcile.create(group, run(), args);
    const read = await reconcile.read(group, run(strange), id, outs);
    expect(read.props).toMatchObject({ kind: "KIND_OF_TOMORROW", status: "STATUS_OF_TOMORROW" });
    expect(reconcile.diff(group, id, read.props, args)).toEqual({ changes: false, replaces: [] });
    sent = [];
    await reconcile.update(group, run(), id, read.props, { ...args, description: "new" });
    expect(patches()).toEqual([["description", { description: "new" }]]);
  });

  it("in claimMatch is not in the mask of an update of another member", async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
    const args = inputs({ claimMatch });
    const { id, outs } = await reconcile.create(identity, run(), args);
    const strange = changed("GET", { claimMatch: { ...claimMatch, nonceOfTomorrow: "x" } });
    const read = await reconcile.read(identity, run(strange), id, outs);
    expect(reconcile.diff(identity, id, read.props, args)).toEqual({ changes: false, replaces: [] });
    sent = [];
    await reconcile.update(identity, run(), id, read.props, { ...args, claimMatch: { ...claimMatch, subject: "cd" } });
    expect(patches()).toEqual([["claimMatch.subject", { claimMatch: { ...claimMatch, subject: "cd" } }]]);
  });
});
