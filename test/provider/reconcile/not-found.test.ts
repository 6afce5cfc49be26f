// A record that is gone, told from a service that knows nothing: by a read that does not find it, and by a delete.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { GROUP, IDENTITY, json, ORG, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, identity } = kindRecords;

const gone = refusal("NOT_FOUND", "nobody knows it");
const organization = json({ uid: ORG, name: "org" });
const none = json({ items: [], totalCount: 0 });
const shown = (requests: { method: string; url: URL }[]) =>
  requests.map(({ method, url }) => `${method} ${url.pathname.replace("/iam/v2beta1/", "")}`);

const ADVICE =
  "known to the service; is irm:baseUrl the right address? If the organisation was deleted, remove its resources from " +
  "the state: pulumi state delete URN.";

describe("a service that knows nothing", () => {
  it("has lost the whole organisation for a read of what is below it, and for a delete", async () => {
    const error = `group ${GROUP}: neither it nor its organisation ${ORG} is ${ADVICE}`;
    const reading = scriptedSession(gone);
    await expect(reconcile.read(group, reading.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    const deleting = scriptedSession(gone);
    await expect(reconcile.remove(group, deleting.session, GROUP, { name: "eng" })).rejects.toThrow(error);
    expect(shown(deleting.requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("does not make a root group gone for a read", async () => {
    const { session, requests } = scriptedSession(gone);
    await expect(reconcile.read(group, session, ORG, { name: "org" })).rejects.toThrow(
      `group ${ORG}: it is not ${ADVICE}`,
    );
    expect(requests).toHaveLength(1);
  });
});

describe("a delete of a record that is gone", () => {
  it("is done when the group that held it can be read", async () => {
    const { session, requests } = scriptedSession(gone, organization);
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("is done when the group that held it is gone by the same rule", async () => {
    const { session, requests } = scriptedSession(none, gone, gone, organization);
    await reconcile.remove(identity, session, IDENTITY, { name: "ci" });
    expect(shown(requests)).toEqual([
      "GET roleBindings",
      `DELETE identities/${IDENTITY}`,
      `GET groups/${GROUP}`,
      `GET groups/${ORG}`,
    ]);
  });

  it("is done when the group that held it may not be read: who may not delete is told that instead of NOT_FOUND", async () => {
    const { session, requests } = scriptedSession(gone, refusal("PERMISSION_DENIED", "who are you"));
    await reconcile.remove(group, session, GROUP, { name: "eng" });
    expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`, `GET groups/${ORG}`]);
  });

  it("is an error when the group that held it cannot be read", async () => {
    const { session } = scriptedSession(gone, refusal("INTERNAL", "broken"));
    await expect(reconcile.remove(group, session, GROUP, { name: "eng" })).rejects.toThrow(
      new RegExp(`^GetGroup group ${ORG}: INTERNAL: .*broken$`),
    );
  });

  it("is done for a root group, which nothing holds: an engine that was killed after it goes on", async () => {
    const { session, requests } = scriptedSession(gone);
    await reconcile.remove(group, session, ORG, { name: "org" });
    expect(requests).toHaveLength(1);
  });
});

it("a delete that succeeds asks for nothing besides", async () => {
  const { session, requests } = scriptedSession(json({}));
  await reconcile.remove(group, session, GROUP, { name: "eng" });
  expect(shown(requests)).toEqual([`DELETE groups/${GROUP}`]);
});
