import { describe, expect, it } from "vitest";
import { systemTransport } from "../../client/transport.ts";
import { initFailure, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { org, plugin, nextProcess, created } = await setUp();
const send = systemTransport();

/** The answers to POSTs of groups are held back. */
const holdCreates = () => {
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
    const urn = urnOf("Group", "held");
    const wire = holdCreates();
    const first = await nextProcess(wire.transport);
    const { inputs } = await first.check(urn, { parent: org, name: "held" });
    const create = expect(first.create(urn, inputs)).rejects.toThrow(
      "1 CANCELLED: cancelled: the next update continues from the intent journal",
    );
    await wire.sent;
    await first.cancel();
    await create;
    await expect(first.check(urn, { parent: org, name: "held" })).rejects.toThrow(/^1 CANCELLED: cancelled$/);
    // The process ends with its lock; here its pid goes on.
    wire.release();
    const second = await nextProcess();
    const { id } = await second.create(urn, (await second.check(urn, { parent: org, name: "held" })).inputs);
    expect(second.messages.at(-1)).toContain(`adopting group ${id} "held", created by an earlier run`);
  });

  it("ends after the customTimeouts of its resource, and the next update takes the record over", async () => {
    const urn = urnOf("Group", "slow");
    const wire = holdCreates();
    const first = await nextProcess(wire.transport);
    const { inputs } = await first.check(urn, { parent: org, name: "slow" });
    await expect(first.create(urn, inputs, { seconds: 0.05 })).rejects.toThrow(
      "4 DEADLINE_EXCEEDED: slow: not finished after 0.05 s (customTimeouts); the next update continues from the intent journal",
    );
    await wire.sent;
    wire.release();
    const second = await nextProcess();
    const { id } = await second.create(urn, inputs);
    expect(second.messages.at(-1)).toContain(`adopting group ${id} "slow"`);
  });

  it("sends nothing once the engine has cancelled; that of the next operation is answered, where the engine attaches itself again", async () => {
    const one = await created("Group", { parent: org, name: "stays" });
    const sent: string[] = [];
    const plugin = await nextProcess(async (request) => {
      sent.push(request.method);
      return send(request);
    });
    await plugin.read(one.urn, one.id, one.outs);
    sent.length = 0;
    await plugin.cancel();
    await expect(plugin.create(one.urn, one.inputs)).rejects.toThrow(/^1 CANCELLED: cancelled$/);
    await expect(plugin.delete(one.urn, one.id, one.outs)).rejects.toThrow(/^1 CANCELLED: cancelled$/);
    await expect(plugin.invoke("irm:index:getGroup", { uid: one.id })).rejects.toThrow(/^1 CANCELLED: cancelled$/);
    // Requests are sent one after another: what a cancelled call would send comes before this.
    await plugin.attach();
    await plugin.read(one.urn, one.id, one.outs);
    expect(sent).toEqual(["GET"]);
    await plugin.configure();
    expect((await plugin.check(urnOf("Group", "next"), { parent: org, name: "next" })).failures).toEqual([]);
  });

  it("that creates nothing does not speak of the journal when the engine cancels", async () => {
    const wire = Promise.withResolvers<void>();
    const plugin = await nextProcess(async () => {
      wire.resolve();
      return new Promise(() => undefined);
    });
    const call = expect(plugin.invoke("irm:index:getGroup", { name: "x", parent: org })).rejects.toThrow(
      /^1 CANCELLED: cancelled$/,
    );
    await wire.promise;
    await plugin.cancel();
    await call;
  });

  it("of 720 hours is not over at once", async () => {
    const urn = urnOf("Group", "long");
    const { inputs } = await plugin.check(urn, { parent: org, name: "long" });
    await expect(plugin.create(urn, inputs, { seconds: 720 * 3600 })).resolves.toMatchObject({
      outs: { name: "long" },
    });
  });

  it("that leaves a record incomplete gives the engine its id, its outputs and the reason", async () => {
    const urn = urnOf("Group", "adopts");
    const existing = await created("Group", { parent: org, name: "theirs" });
    const refuse: typeof send = async (request) =>
      request.method === "PATCH"
        ? { status: 400, headers: {}, body: JSON.stringify({ code: 3, message: "not like this" }) }
        : send(request);
    const plugin = await nextProcess(refuse);
    const { inputs } = await plugin.check(urn, { parent: org, name: "theirs", adopt: existing.id, description: "new" });
    const error = await plugin.create(urn, inputs).catch((reason: unknown) => reason);
    const { id, outs, reasons } = initFailure(error);
    expect(id).toBe(existing.id);
    expect(outs).toMatchObject({ uid: existing.id, adopted: true });
    for (const name of ["__key", "__service", "__provider"]) expect(outs).not.toHaveProperty(name);
    expect(reasons).toEqual([expect.stringContaining("not like this")]);
  });

  it("that creates or updates what was not checked is refused, before anything is sent; one about a type that does not exist says so", async () => {
    await expect(plugin.create(urnOf("Group", "unchecked"), { parent: org, name: "unchecked" })).rejects.toThrow(
      /^2 UNKNOWN: these inputs of a Group have not been checked$/,
    );
    await expect(plugin.update(urnOf("RoleBindingSet", "unchecked"), org, {}, {})).rejects.toThrow(
      /^2 UNKNOWN: these inputs of a RoleBindingSet have not been checked$/,
    );
    await expect(plugin.check(urnOf("Grup", "x"), {})).rejects.toThrow("2 UNKNOWN: there is no resource type Grup");
  });
});
