// A record can be managed by only one resource: as the methods of the engine apply that, through a rename, an adoption and a run
// that ended in the middle of either.
import { beforeEach, describe, expect, it } from "vitest";
import type { Methods } from "../../../provider/engine/methods.ts";
import { createOwnership } from "../../../provider/run/ownership.ts";
import type { Json } from "../../../schema/index.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const service = await startSharedService();
const org: string = service.organization as string;

let messages: string[];
beforeEach(() => {
  messages = [];
});

/** A process of the engine's. */
const run = async (): Promise<Methods> => (await service.methods({ log: (text) => void messages.push(text) })).group;

/** As the engine compares what the program declares: after its check. A refresh compares before. */
const compare = async (own: Methods, id: string, outs: Json, news: Json) => {
  await own.check(news, news);
  return own.diff(id, outs, news);
};

const inputs = (name: string, more: Json = {}): Json => ({
  ...keyOf(name),
  parent: org,
  name: "record",
  allowDuplicate: true,
  ...more,
});

/** So many deletes have left the record to the other resource. */
const expectKept = async (id: string, times = 1): Promise<void> => {
  const kept = `group ${id} "record" stays: another resource of this stack manages it`;
  expect(messages).toEqual(Array(times).fill(kept));
  expect(await isGroupThere(service, id)).toBe(true);
};

describe("a renamed resource that adopts its record", () => {
  it("keeps it, also when the run before ended between the adoption and the deletion of the old name", async () => {
    const old = await (await run()).create(inputs("old"));
    const first = await run();
    const renamed = await first.create(inputs("new", { adopt: old.id }));
    expect(renamed.id).toBe(old.id);
    await first.delete(old.id, old.outs);

    const next = await run();
    await compare(next, old.id, renamed.outs, inputs("new", { adopt: old.id }));
    await next.delete(old.id, old.outs);
    await expectKept(old.id, 2);
  });

  it("keeps it from a resource whose state has no key, also once the program no longer says adopt", async () => {
    const old = await (await run()).create(inputs("keyless"));
    const { outs } = await (await run()).create(inputs("keeper", { adopt: old.id }));
    const next = await run();
    await compare(next, old.id, outs, inputs("keeper"));
    const { __key, ...ofFirstVersion } = old.outs;
    await next.delete(old.id, ofFirstVersion);
    await expectKept(old.id);
  });
});

describe("a record of one resource", () => {
  it("cannot be adopted by another one that the program declares later", async () => {
    const one = await (await run()).create(inputs("one"));
    const next = await run();
    await compare(next, one.id, one.outs, inputs("one"));
    await expect(next.create(inputs("two", { adopt: one.id }))).rejects.toThrow(
      `${inputs("two").__key}: adopt: group ${one.id} is already managed by ${inputs("one").__key}`,
    );
  });

  it("keeps its record under another name, also after a refresh that compared it under the earlier one", async () => {
    const { id, outs } = await (await run()).create(inputs("before"));
    const next = await run();
    // The engine refreshes what is in the state, and then checks what the program declares.
    await next.read(id, outs);
    await next.diff(id, outs, inputs("before"));
    await next.check(inputs("before"), inputs("after"));
    expect(await next.diff(id, outs, inputs("after"))).toMatchObject({ replaces: [] });
    // One record still has one resource.
    await next.check(inputs("before"), inputs("another"));
    await expect(next.diff(id, outs, inputs("another"))).rejects.toThrow(
      `${id} is already managed by ${inputs("after").__key}`,
    );
  });

  it("is free for another one where only a refresh has met it: the program declares its resource no more", async () => {
    const { id, outs } = await (await run()).create(inputs("earlier"));
    const next = await run();
    await next.read(id, outs);
    await next.diff(id, outs, inputs("earlier"));
    const news = inputs("later", { adopt: id });
    expect((await next.check({}, { ...news, __preview: true })).failures).toEqual([]);
    expect((await next.create(news)).id).toBe(id);
    await next.delete(id, outs);
    await expectKept(id);
  });

  it("that an earlier one has adopted is an error when the engine reads it", async () => {
    const one = await (await run()).create(inputs("second"));
    const next = await run();
    await next.create(inputs("first", { adopt: one.id }));
    const conflict = `${inputs("second").__key}: ${one.id} is already managed by ${inputs("first").__key}; a record can be managed by only one resource, so adopt or import it in one of them; pulumi state delete removes the other from the state, and the record stays`;
    await expect(compare(next, one.id, one.outs, inputs("second"))).rejects.toThrow(conflict);
    expect(await isGroupThere(service, one.id)).toBe(true);
  });

  it("stays when another resource of the state is deleted that has it too: an import of the record under a second name", async () => {
    const one = await (await run()).create(inputs("declared"));
    const twice = { ...one.outs, ...keyOf("twice") };
    const next = await run();
    await compare(next, one.id, one.outs, inputs("declared"));
    await next.delete(one.id, twice);
    await expectKept(one.id);
  });

  it("that is replaced is deleted, and its replacement is not", async () => {
    const one = await (await run()).create(inputs("moved"));
    const otherGroup = await (await run()).create(inputs("elsewhere"));
    const next = await run();
    const news = inputs("moved", { parent: otherGroup.id, allowReplace: true });
    expect(await compare(next, one.id, one.outs, news)).toMatchObject({ replaces: ["parent"] });
    const two = await next.create(news);
    await next.delete(one.id, one.outs);
    expect([await isGroupThere(service, one.id), await isGroupThere(service, two.id)]).toEqual([false, true]);
  });
});

it("a plan to adopt is refused when another resource adopts or manages the record, and does not conflict with itself", () => {
  const claims = createOwnership();
  expect(claims.plan("uid", "a")).toBeUndefined();
  expect(claims.plan("uid", "a")).toBeUndefined();
  expect(claims.plan("uid", "b")).toBe("is adopted by a as well");
  expect(() => claims.inState("uid", "c", true)).toThrow("uid is already managed by a");
  claims.inState("owned", "d", true);
  expect(claims.plan("owned", "e")).toBe("is already managed by d");
});

describe("the check of a new resource", () => {
  it("reports an equal record in a preview only, and keeps the preview's mark out of the inputs", async () => {
    const { id } = await (await run()).create(inputs("there"));
    messages = [];
    const news = inputs("like it", { allowDuplicate: false });
    const preview = await run();
    const checked = await preview.check({}, { ...news, __preview: true });
    expect(checked.failures).toEqual([]);
    expect(Object.keys(checked.inputs)).not.toContain("__preview");
    expect(messages).toEqual([expect.stringContaining(`  - group ${id}, created `)]);
    await preview.check(news, { ...news, __preview: true });
    await (await run()).check({}, news);
    expect(messages).toHaveLength(1);
  });

  it("refuses to adopt a record that another resource adopts, in the preview", async () => {
    const { id } = await (await run()).create(inputs("wanted"));
    const preview = await run();
    expect((await preview.check({}, inputs("first", { adopt: id }))).failures).toEqual([]);
    const key = keyOf("first").__key;
    const { failures } = await preview.check({}, inputs("second", { adopt: id }));
    expect(failures).toEqual([{ property: "adopt", reason: `group ${id} is adopted by ${key} as well` }]);
  });
});
