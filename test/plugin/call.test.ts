import { describe, expect, it } from "vitest";
import { systemTransport } from "../../client/transport.ts";
import { initFailure, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const fixture = setUp();
const { nextProcess } = fixture;
const send = systemTransport();

/** The answers to POSTs of groups are held back. */
const held = () => {
  const sent = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const transport: typeof send = async (request) => {
    if (request.method !== "POST" || !/\/groups\b/.test(request.url.pathname)) return send(request);
    const answer = await send(request);
    sent.resolve();
    await release.promise;
    return answer;
  };
  return { transport, sent: sent.promise, release: release.resolve };
};

describe("a call", () => {
  it("ends at once when the engine cancels, and the next update takes the record over", async () => {
    const { org } = fixture;
    const urn = urnOf("Group", "held");
    const wire = held();
    const first = await nextProcess(wire.transport);
    const { inputs } = await first.check(urn, { parent: org, name: "held" });
    const create = expect(first.create(urn, inputs)).rejects.toThrow(
      "1 CANCELLED: cancelled: the next update continues from the intent journal",
    );
    await wire.sent;
    await first.cancel();
    await create;
    await expect(first.check(urn, { parent: org, name: "held" })).rejects.toThrow("CANCELLED");
    // The process ends with its lock; here its pid goes on.
    wire.release();
    const second = await nextProcess();
    const { id } = await second.create(urn, (await second.check(urn, { parent: org, name: "held" })).inputs);
    expect(second.said.at(-1)).toContain(`adopting group ${id} "held", created by an interrupted run`);
  });

  it("ends after the customTimeouts of its resource, and the next update takes the record over", async () => {
    const { org } = fixture;
    const urn = urnOf("Group", "slow");
    const wire = held();
    const first = await nextProcess(wire.transport);
    const { inputs } = await first.check(urn, { parent: org, name: "slow" });
    await expect(first.create(urn, inputs, { seconds: 0.05 })).rejects.toThrow(
      "4 DEADLINE_EXCEEDED: slow: not finished after 0.05 s (customTimeouts); the next update continues from the intent journal",
    );
    await wire.sent;
    wire.release();
    const second = await nextProcess();
    const { id } = await second.create(urn, inputs);
    expect(second.said.at(-1)).toContain(`adopting group ${id} "slow"`);
  });

  it("of the next operation is answered, where the engine attaches itself again", async () => {
    const { org } = fixture;
    const plugin = await nextProcess();
    await plugin.cancel();
    await plugin.attach();
    await plugin.configure();
    expect((await plugin.check(urnOf("Group", "next"), { parent: org, name: "next" })).failures).toEqual([]);
  });

  it("that leaves a record incomplete gives the engine its id, its outputs and the reason", async () => {
    const { org } = fixture;
    const urn = urnOf("Group", "adopts");
    const theirs = await fixture.created("Group", { parent: org, name: "theirs" });
    const refuse: typeof send = async (request) =>
      request.method === "PATCH"
        ? { status: 400, headers: {}, body: JSON.stringify({ code: 3, message: "not like this" }) }
        : send(request);
    const plugin = await nextProcess(refuse);
    const { inputs } = await plugin.check(urn, { parent: org, name: "theirs", adopt: theirs.id, description: "new" });
    const error = await plugin.create(urn, inputs).catch((reason: unknown) => reason);
    const { id, outs, reasons } = initFailure(error);
    expect(id).toBe(theirs.id);
    expect(outs).toMatchObject({ uid: theirs.id, adopted: true, __key: "organization/project/stack/Group::adopts" });
    expect(outs.__provider).toContain("kinds.group");
    expect(reasons).toEqual([expect.stringContaining("not like this")]);
  });

  it("about a type that does not exist says so", async () => {
    await expect(fixture.plugin.check(urnOf("Grup", "x"), {})).rejects.toThrow(
      "2 UNKNOWN: there is no resource type irm:index:Grup",
    );
  });
});
