// A deleted record differs from a service that has lost everything: in a read that does not find it, and in a delete.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { GROUP, IDENTITY, json, ORG, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, identity } = kindRecords;

const gone = refusal("NOT_FOUND", "it does not exist");
const organization = json({ uid: ORG, name: "org" });
const none = json({ items: [], totalCount: 0 });
const shown = (requests: { method: string; url: URL }[]) =>
  requests.map(({ method, url }) => `${method} ${url.pathname.replace("/iam/v2beta1/", "")}`);

const ADVICE =
  "known to the service; is irm:baseUrl the right address? If the organization was deleted, remove its resources from " +
  "the state: pulumi state delete URN.";

describe("a service without any records", () => {
  it("fails a read or a delete of a record below, with the organization as missing", async () => {
    const error = `group ${GROUP}: neither it nor its organization ${ORG} is ${ADVICE}`;
    const reading = scriptedSession(gone);
    await expect(reconcile.read(group, reading.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    const deleting = scriptedSession(gone);
    await expect(reconcile.remove(group, deleting.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    expect(shown(deleting.requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("does not make a read treat a root group as deleted", async () => {
    const { session, requests } = scriptedSession(gone);
    await expect(reconcile.read(group, session, ORG, { name: "org" })).rejects.toThrow(
      `group ${ORG}: it is not ${ADVICE}`,
    );
    expect(requests).toHaveLength(1);
  });
});

describe("a delete of a record that is gone", () => {
  it("succeeds when its parent can be read", async () => {
    const { session, requests } = scriptedSession(gone, organization);
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("succeeds when its parent is gone by the same rule", async () => {
    const { session, requests } = scriptedSession(none, gone, gone, organization);
    await reconcile.remove(identity, session, IDENTITY, { name: "ci" });
    expect(shown(requests)).toEqual([
      "GET roleBindings",
      `DELETE identities/${IDENTITY}`,
      `GET groups/${GROUP}`,
      `GET groups/${ORG}`,
    ]);
  });

  it("succeeds when its parent may not be read: without permission to delete, the error differs from NOT_FOUND", async () => {
    const { session, requests } = scriptedSession(gone, refusal("PERMISSION_DENIED", "who are you"));
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("fails when its parent cannot be read", async () => {
    const { session } = scriptedSession(gone, refusal("INTERNAL", "broken"));
    await expect(reconcile.remove(group, session, GROUP, { name: "eng" })).rejects.toThrow(
      new RegExp(`^GetGroup group ${ORG}: INTERNAL: .*broken\nSee docs/recovery\\.md#unavailable$`),
    );
  });

  it("succeeds for a root group, which has no parent: a killed engine continues after it", async () => {
    const { session, requests } = scriptedSession(gone);
    await reconcile.remove(group, session, ORG, { name: "org" });
    expect(requests).toHaveLength(1);
  });
});

it("a successful delete sends no further request", async () => {
  const { session, requests } = scriptedSession(json({}));
  await reconcile.remove(group, session, GROUP, { name: "eng" });
  expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`]);
});
