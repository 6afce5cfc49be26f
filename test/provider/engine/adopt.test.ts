// Which record `adopt` means: the service, or a proxy that ignores the filter of a list, does not choose it.
import { describe, expect, it } from "vitest";
import { findAdopted, MATCHES } from "../../../provider/engine/adopt.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { GROUP, json, keyOf, ORG, scriptedSession } from "../../support/scripted.ts";

const OTHER = `${ORG}/b033a6fabe0bfa0d`;

describe("adopt, of a list that shows other records as well", () => {
  it.each([
    ["the uid", GROUP],
    ["the name", MATCHES],
  ])("means the record of %s alone", async (_, adopt) => {
    const groups = [
      { uid: OTHER, name: "ops" },
      { uid: GROUP, name: "eng" },
    ];
    const { session } = scriptedSession(json({ groups, totalCount: "2" }));
    const found = await findAdopted(kindRecords.group, session, { ...keyOf("g"), parent: ORG, name: "eng", adopt });
    expect(found.map(({ uid }) => uid)).toEqual([GROUP]);
  });
});
