import { describe, expect, it } from "vitest";
import { createPlaces, type Place } from "../../../../server/sts/issuer/cache.ts";

const FULL = { name: "Refusal", reason: "document", message: "too many issuers are being asked" };

const take = (places: ReturnType<typeof createPlaces>, owner: string, count = 1): Place[] =>
  Array.from({ length: count }, () => places.take([owner]));

const stateOf = (taken: readonly Place[]) => taken.map((place) => place.isTaken());

describe("places for fetches", () => {
  it("may all belong to one organization while no other needs one; beyond them it is refused, and keeps its own", () => {
    const places = createPlaces(4);
    const taken = take(places, "a", 4);
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
    expect(stateOf(taken)).toEqual([true, true, true, true]);
    taken[1]?.release();
    expect(places.take(["a"]).isTaken()).toBe(true);
  });

  it("are given up by the organization with the most, the oldest first, up to an equal share", () => {
    const places = createPlaces(4);
    const [first, second, ...others] = take(places, "a", 4) as [Place, Place, ...Place[]];
    const [ofB] = take(places, "b") as [Place];
    expect(stateOf([first, second, ofB])).toEqual([false, true, true]);
    expect(first.signal.reason).toEqual(new TypeError("gave way to an issuer of another organization"));
    take(places, "b");
    expect(stateOf([second, ...others])).toEqual([false, true, true]);
    expect(() => places.take(["b"])).toThrow(expect.objectContaining(FULL));
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
  });

  it("leave one for an organization without any, however many others exist", () => {
    const places = createPlaces(4);
    const taken = ["a", "b", "c", "d"].flatMap((owner) => take(places, owner));
    const [newcomer] = take(places, "e") as [Place];
    expect(stateOf([...taken, newcomer])).toEqual([false, true, true, true, true]);
  });

  it("count for the organization of an issuer that holds the fewest", () => {
    const places = createPlaces(4);
    const taken = take(places, "a", 4);
    expect(places.take(["a", "b"]).isTaken()).toBe(true);
    expect(stateOf(taken)).toEqual([false, true, true, true]);
  });

  it("are not given up after their release", () => {
    const places = createPlaces(2);
    const [first] = take(places, "a", 2) as [Place];
    first.release();
    take(places, "b");
    expect(first.signal.aborted).toBe(false);
    first.release();
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
  });
});
