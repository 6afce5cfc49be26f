import { describe, expect, it } from "vitest";
import {
  containsPlaceholder,
  isPlaceholder,
  placeholderUid,
  resourceMark,
  resourceMarkIn,
  withoutPlaceholders,
} from "../../client/placeholder-uid.ts";
import { isUidp } from "../../schema/index.ts";
import { GROUP, ORG } from "../support/scripted.ts";

const URN = "urn:pulumi:dev::access::irm:index:Identity::release";

describe("the placeholder of a new record's uid", () => {
  it.each([
    ["at the root", ""],
    ["in a group", GROUP],
    ["in a group that is not known", undefined],
  ])("%s is a uid that no other preview has", (_where, place) => {
    const [one, other] = [placeholderUid(place, URN), placeholderUid(place, URN)] as [string, string];
    expect(isUidp(one)).toBe(true);
    expect(one).not.toBe(other);
    expect(one.startsWith(place ?? "")).toBe(true);
    expect([one, other].every(isPlaceholder)).toBe(true);
  });

  it("shows its resource, and no other", () => {
    for (const place of ["", GROUP, undefined]) {
      expect(resourceMarkIn(placeholderUid(place, URN) as string)).toBe(resourceMark(URN));
      expect(resourceMarkIn(placeholderUid(place, `${URN}2`) as string)).not.toBe(resourceMark(URN));
      expect(resourceMarkIn(placeholderUid(place) as string)).not.toBe(resourceMark(URN));
    }
  });

  it("is recognised with all that is below it, and no other uid is", () => {
    const parent = placeholderUid(ORG) as string;
    expect(isPlaceholder(`${parent}/0123456789abcdef`)).toBe(true);
    expect(isPlaceholder(placeholderUid(parent))).toBe(true);
    expect(containsPlaceholder({ ids: [{ uid: parent }] })).toBe(true);
    for (const value of [ORG, GROUP, `${GROUP}/0123456789abcdef`, "viewer", undefined])
      expect(isPlaceholder(value)).toBe(false);
    expect(containsPlaceholder({ parent: GROUP, names: ["a"] })).toBe(false);
  });

  it("is not made where no uid can be that long", () => {
    expect(placeholderUid(ORG + "/0123456789abcdef".repeat(101))).toBeUndefined();
  });

  it("does not stand in a sentence", () => {
    const text = `group ${placeholderUid(GROUP)} is new in ${GROUP}`;
    expect(withoutPlaceholders(text)).toBe(`group (not known yet) is new in ${GROUP}`);
  });
});
