// Which record `adopt` means: the service, or a proxy that ignores the filter of a list, does not choose it.
import { describe, expect, it } from "vitest";
import { adoptionChanges, findAdopted, MATCHES } from "../../../provider/engine/adoption.ts";
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

describe("what an adoption changes", () => {
  const VIEWER = "b".repeat(40);
  const record = { uid: GROUP, name: "sso", defaultRole: VIEWER, oidc: { issuer: "https://a.example", clientId: "c" } };
  const args = { ...keyOf("sso"), parent: ORG, name: "sso", defaultRole: "viewer", oidc: record.oidc };

  it.each([
    ["is nothing where the role has the name", VIEWER, undefined],
    [
      "names the role where it is another one",
      "c".repeat(40),
      `IdentityProvider sso changes on identity provider ${GROUP}:\n  - defaultRole: "${VIEWER}" becomes "viewer"`,
    ],
  ])("%s", async (_, uid, text) => {
    const { session } = scriptedSession(json({ roles: [{ uid, name: "viewer" }] }));
    const kind = kindRecords.identityProvider;
    expect(await adoptionChanges(kind, async () => session, "sso", record, args, false)).toBe(text);
  });

  it("is told by the name where the roles cannot be read", async () => {
    const offline = () => Promise.reject(new Error("no connection"));
    const text = await adoptionChanges(kindRecords.identityProvider, offline, "sso", record, args, false);
    expect(text).toContain(`defaultRole: "${VIEWER}" becomes "viewer"`);
  });

  it("is refused by the update where the API cannot change it", async () => {
    const staticKeys = { issuer: "https://a.example", subject: "s", issuerKeys: '{"keys":[]}' };
    const now = { uid: GROUP, name: "ci", staticKeys };
    const asked = { ...keyOf("ci"), parent: ORG, name: "ci", staticKeys: { ...staticKeys, subject: "other" } };
    const { session } = scriptedSession();
    expect(await adoptionChanges(kindRecords.identity, async () => session, "ci", now, asked, false)).toBe(
      [
        `Identity ci changes on identity ${GROUP}:`,
        '  - staticKeys.subject: "s" becomes "other"',
        "The update refuses this: staticKeys cannot be changed on it; declare what it has, or leave adopt out to create another one.",
      ].join("\n"),
    );
  });
});
