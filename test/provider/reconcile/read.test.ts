// A read: a deleted record differs from an unreadable one, and volatile fields are no drift.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { START_MS } from "../../harness/clock.ts";
import { GROUP, json, ORG, ROLE, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, identity, roleBinding } = kindRecords;

describe("a read", () => {
  const stored = { uid: GROUP, name: "eng" };

  it("fails when it is denied, and does not treat the record as deleted", async () => {
    const { session } = scriptedSession(refusal("PERMISSION_DENIED", "groups.list is missing"));
    await expect(reconcile.read(group, session, GROUP, stored)).rejects.toThrow(
      `GetGroup group ${GROUP}: PERMISSION_DENIED: Permission denied: groups.list is missing\n` +
        "Permission denied is not treated as deletion.",
    );
  });

  it("treats a record as deleted when its parent can be read", async () => {
    const { session } = scriptedSession(refusal("NOT_FOUND", "no"), json({ uid: ORG, name: "org" }));
    expect(await reconcile.read(group, session, GROUP, stored)).toEqual({ id: "", props: {} });
  });

  it("treats a record as deleted when its parent is gone by the same rule", async () => {
    const gone = refusal("NOT_FOUND", "no");
    const { session, requests } = scriptedSession(gone, gone, json({ uid: ORG, name: "org" }));
    expect(await reconcile.read(identity, session, `${GROUP}/1111111111111111`, {})).toEqual({ id: "", props: {} });
    expect(requests.map(({ url }) => url.pathname.split("/").length)).toEqual([7, 6, 5]);
  });

  it("fails when the parent of a missing record cannot be read", async () => {
    const { session } = scriptedSession(refusal("NOT_FOUND", "no"), refusal("PERMISSION_DENIED", "who are you"));
    await expect(reconcile.read(group, session, GROUP, stored)).rejects.toThrow(
      `GetGroup group ${ORG}: PERMISSION_DENIED: Permission denied: who are you\n` +
        "Permission denied is not treated as deletion.",
    );
  });

  it("finds a new record that is hidden at first", async () => {
    const createTime = new Date(START_MS).toISOString();
    const hidden = refusal("NOT_FOUND", "no", { date: new Date(START_MS).toUTCString() });
    const { session, clock } = scriptedSession(hidden, json({ uid: GROUP, name: "eng", createTime }));
    expect((await reconcile.read(group, session, GROUP, { ...stored, createTime })).id).toBe(GROUP);
    expect(clock.sleeps).toEqual([250]);
  });

  it("refuses a malformed uid", async () => {
    const { session } = scriptedSession(json({}));
    await expect(reconcile.read(group, session, "eng", {})).rejects.toThrow('"eng" is not the uid of a group');
  });

  it("keeps the stored last-seen time, which is volatile", async () => {
    const { session } = scriptedSession(json({ uid: GROUP, name: "ci", lastSeenTime: "2026-02-02T00:00:00.000Z" }));
    const { props } = await reconcile.read(identity, session, GROUP, { lastSeenTime: "2026-01-01T00:00:00.000Z" });
    expect(props.lastSeenTime).toBe("2026-01-01T00:00:00.000Z");
  });

  it("keeps uid and name of the ends of a role binding, except secret names", async () => {
    const identity = { uid: ORG, name: "renamed", description: "", issuer: "https://issuer.example", subject: "s" };
    const answer = { uid: GROUP, identity, role: { uid: ROLE, name: "viewer", description: "" } };
    const { session } = scriptedSession(json(answer), json(answer));
    const stored = { identity: { uid: ORG, name: "ci" }, role: { uid: ROLE, name: "viewer" }, __role: "viewer" };
    const { props, inputs } = await reconcile.read(roleBinding, session, GROUP, stored);
    const role = { uid: ROLE, name: "viewer" };
    expect(props).toEqual({ uid: GROUP, parent: ORG, identity: { uid: ORG, name: "renamed" }, role, __role: "viewer" });
    expect(inputs).toEqual({ parent: ORG, identity: ORG, role: "viewer" });
    const secret = await reconcile.read(roleBinding, session, GROUP, { identity: { uid: ORG }, role });
    expect(secret.props).toEqual({ uid: GROUP, parent: ORG, identity: { uid: ORG }, role });
    expect(secret.inputs).toEqual({ parent: ORG, identity: ORG, role: ROLE });
  });

  it("keeps the inputs in the state while they describe the record, and its place", async () => {
    const { session } = scriptedSession(json({ uid: GROUP, name: "eng", description: "" }));
    const read = (inputs: Json) => reconcile.read(group, session, GROUP, stored, { inputs });
    const given = { parent: ORG, name: "eng", description: "" };
    expect((await read(given)).inputs).toBe(given);
    expect((await read({ ...given, name: "ops" })).inputs).toEqual({ parent: ORG, name: "eng" });
    expect((await read({ ...given, parent: ROLE })).inputs).toEqual({ parent: ORG, name: "eng" });
  });

  it("keeps allowReplace, and leaves out values that the service chose", async () => {
    const { session } = scriptedSession(json({ uid: ORG, name: "org", kind: "ORG_KIND_DEV", verified: true }));
    const { props, inputs } = await reconcile.read(group, session, ORG, { allowReplace: true });
    expect(inputs).toEqual({ root: true, name: "org", allowReplace: true });
    expect(props).toMatchObject({ kind: "ORG_KIND_DEV", verified: true, allowReplace: true });
  });
});
