import { describe, expect, it } from "vitest";
import { functions } from "../../plugin/functions.ts";
import { Secret } from "../../plugin/value.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { setUp } from "./fixture.ts";

const { org, plugin, created } = await setUp();

describe("functions", () => {
  it("are a look-up and a list for every kind", () => {
    const kinds = Object.values(kindRecords);
    expect(Object.keys(functions).toSorted()).toEqual(
      // Role bindings have no name to look them up by.
      [
        ...kinds.flatMap(({ type }) => (type === "RoleBinding" ? [] : [`get${type}`])),
        ...kinds.map(({ list }) => `l${list.operation.slice(1)}`),
      ].toSorted(),
    );
  });

  it("return the API's message", async () => {
    const group = await created("Group", { parent: org, name: "found" });
    expect(await plugin.invoke("irm:index:getGroup", { name: "found", parent: org })).toMatchObject({
      uid: group.id,
      name: "found",
    });
    expect(await plugin.invoke("irm:index:getRole", { name: "viewer" })).toMatchObject({ name: "viewer" });
    const { groups } = await plugin.invoke("irm:index:listGroups", { uidp: { childrenOf: org } });
    expect(groups).toContainEqual(expect.objectContaining({ uid: group.id }));
  });

  it("are secret where an argument is", async () => {
    expect((await plugin.invoke("irm:index:getRole", { name: new Secret("viewer") })).uid).toBeInstanceOf(Secret);
  });

  it("say what was found instead, and which functions there are", async () => {
    await expect(plugin.invoke("irm:index:getRole", { name: "viwer" })).rejects.toThrow(
      '2 UNKNOWN: no role named "viwer" at the root; exactly one is needed; did you mean "viewer"?',
    );
    await expect(plugin.invoke("irm:index:getRole", {})).rejects.toThrow("name of the role to look for is required");
    await expect(plugin.invoke("irm:index:getGrup", {})).rejects.toThrow(
      /^2 UNKNOWN: unknown function irm:index:getGrup; available: /,
    );
  });
});
