// The response to a create names a record other than the created one, because of a proxy, a cache or a wrong service. The fault is
// between the provider and the reference server, which really has all of these records.
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { type Service, startMachine } from "../../harness/provider.ts";
import { json, keyOf, page } from "../../support/scripted.ts";

const { group, role } = kindRecords;

const machine = startMachine();

const bodyOf = (answer: HttpAnswer): Json => JSON.parse(answer.body) as Json;

/** A process whose create is carried out, with a response that `other` replaces. */
const answering = (other: (answer: HttpAnswer) => HttpAnswer | Promise<HttpAnswer>) =>
  machine.runOver(async ({ method }, send) => {
    const answer = await send();
    return method === "POST" ? other(answer) : answer;
  }).session;

const call: Service["call"] = (...request) => machine.service.call(...request);

describe("a response that names another record", () => {
  type Answering = (answer: HttpAnswer) => HttpAnswer | Promise<HttpAnswer>;
  const ROLE = { description: "d", capabilities: ["CAP_IAM_GROUPS_LIST"] };
  /** A record that another caller has created before the test's own. */
  const earlier = async (args = machine.inputs(), agoMs = 0, isDeleted = false): Promise<Answering> => {
    const record = await machine.createByOther(args);
    if (isDeleted) await call("DeleteGroup", { uid: record.uid });
    machine.service.clock.advance(agoMs);
    return () => json(record);
  };
  const elsewhere = async ({ name }: Json): Promise<Answering> => {
    const outer = await machine.createByOther(machine.inputs());
    const inner = await call("CreateGroup", { parent: outer.uid, group: { name, description: "d" } });
    return () => json(inner);
  };
  const roleNow = ({ name }: Json): Promise<Json> =>
    call("CreateRole", { parent: machine.org, role: { ...ROLE, name } });
  const nowhere = (answer: HttpAnswer): Json => ({
    ...bodyOf(answer),
    ...{ uid: `${machine.org}/0123456789abcdef`, description: "x" },
  });
  const rows: [string, (args: Json) => Answering | Promise<Answering>, string][] = [
    ["an older one with the same fields (a cache)", (args) => earlier(args), "existed before the create"],
    ["one deleted since (a cache)", (args) => earlier(args, 5_000, true), "may have existed before the create"],
    ["one of another parent", elsewhere, "is not in "],
    [
      "one that another caller creates at the same time, with other fields",
      () => async () => json(await machine.createByOther(machine.inputs())),
      "differs from what was requested",
    ],
    [
      "one of another kind, created at the same time with the same name",
      (args) => async () => json(await roleNow(args)),
      "is not a group",
    ],
    ["a well-formed uid without a record", () => (own) => json(nowhere(own)), "differs from what was requested"],
  ];

  it.each(rows)("%s: only the created record is adopted", async (_what, prepare, why) => {
    const args: Json = { ...machine.inputs(), allowDuplicate: true };
    const other = await prepare(args);
    const before = new Set((await machine.named(undefined)).map(({ uid }) => uid));
    const { id, outs } = await reconcile.create(group, answering(other), args);
    expect(outs).toMatchObject({ uid: id, name: args.name, description: "d" });
    expect(before).not.toContain(id);
    expect(await machine.named(args.name)).toContainEqual(expect.objectContaining({ uid: id }));
    expect(machine.posts).toBe(1);
    const reported = machine.messages.filter((text) => text.includes("the response to CreateGroup names group"));
    expect(reported).toEqual([expect.stringContaining(`, which ${why}`)]);
    expect(reported[0]).toContain("it is not adopted, and the search for the created record continues");
    expect(machine.lines().filter(({ uid }) => uid)).toMatchObject([{ uid: id }]);
  });

  it("that this run has created for an equal resource: each gets its own", async () => {
    const args = machine.inputs();
    let first: HttpAnswer | undefined;
    const session = answering((answer) => {
      first ??= answer;
      return first;
    });
    const one = await reconcile.create(group, session, args);
    const two = await reconcile.create(group, session, { ...args, ...keyOf("alike") });
    expect(two.id).not.toBe(one.id);
    expect((await machine.named(args.name)).map(({ uid }) => uid).sort()).toEqual([one.id, two.id].sort());
  });

  it.each<[string, (answer: HttpAnswer) => HttpAnswer]>([
    ["a malformed uid", (answer) => json({ ...bodyOf(answer), uid: "../groups" })],
    ["an error in a success", () => json({ code: 7, message: "denied" })],
    ["a page", () => page(200)],
  ])("%s: the record is found", async (_what, other) => {
    const args = machine.inputs();
    const { id } = await reconcile.create(group, answering(other), args);
    expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
    expect(machine.posts).toBe(1);
  });
});

describe("a service that created a record other than requested", () => {
  /** The request is changed on the way. */
  const changing = () =>
    machine.runOver(async (request, send) => {
      if (request.method === "POST")
        request.body = (request.body as string).replace('"description":"d"', '"description":"other"');
      return send();
    }).session;

  it("is reported with the record; no run adopts or creates one until a person decides", async () => {
    const args = machine.inputs();
    await expect(reconcile.create(group, changing(), args)).rejects.toThrow(
      new RegExp(
        `^${args.__key}: the response to its create names group ${machine.org}/\\w{16} "${args.name}", which differs ` +
          "from what was requested, and no other record matches\\.\nIf it belongs to this resource, adopt it with adopt: ",
      ),
    );
    await expect(reconcile.create(group, machine.run().session, args)).rejects.toThrow(
      "Until then nothing is created.",
    );
    const [made, ...others] = await machine.named(args.name);
    expect([others, machine.posts]).toEqual([[], 1]);

    const adopting = { ...args, adopt: made?.uid, deleteAdopted: true };
    const { outs } = await reconcile.create(group, machine.run().session, adopting);
    expect(outs).toMatchObject({ uid: made?.uid, description: "d" });
    expect(await machine.run().session.journal.findUnsettled(args.__key as string)).toEqual([]);
  });

  it("is created again once that record is gone", async () => {
    const args = machine.inputs();
    await expect(reconcile.create(group, changing(), args)).rejects.toThrow("differs from what was requested");
    const [made] = await machine.named(args.name);
    machine.service.clock.advance(120_000);
    await call("DeleteGroup", { uid: made?.uid });
    const { id } = await reconcile.create(group, machine.run().session, args);
    expect(await machine.named(args.name)).toMatchObject([{ uid: id, description: "d" }]);
  });
});

it("a response to a read or an update with another record is refused and not stored", async () => {
  const args: Json = { ...keyOf("r"), parent: machine.org, name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] };
  const { id, outs } = await reconcile.create(role, machine.run().session, args);
  const other = await call("CreateRole", {
    parent: machine.org,
    role: { name: "s", capabilities: ["CAP_IAM_ROLES_LIST"] },
  });
  const wrong = machine.runOver(async ({ url }, send) => {
    const answer = await send();
    return url.pathname.startsWith("/iam/") ? { ...answer, body: JSON.stringify(other) } : answer;
  }).session;
  const text = `UNKNOWN: the response (HTTP 200) is of another record, ${other.uid}`;
  await expect(reconcile.read(role, wrong, id, outs)).rejects.toThrow(`GetRole role ${id}: ${text}`);
  await expect(reconcile.update(role, wrong, id, outs, { ...args, description: "x" })).rejects.toThrow(
    `UpdateRole role ${id} "r": ${text}`,
  );
  await expect(reconcile.create(role, wrong, { ...args, ...keyOf("a"), adopt: id })).rejects.toThrow(text);
  // Sent to the right record, though.
  expect(await call("GetRole", { uid: id })).toMatchObject({ name: "r", description: "x" });
});
