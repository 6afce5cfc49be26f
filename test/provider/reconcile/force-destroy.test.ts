// forceDestroy of a group, against the reference server: which records it deletes, in which order, and all refusals.
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { inputProblems } from "../../../provider/reconcile/check.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { isGroupThere, startService, startSharedService } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group, identity, roleBinding } = kindRecords;
const service = await startSharedService();
const org: string = service.organization as string;
const viewer: string = await service.role("viewer");

let events: string[];
beforeEach(() => {
  events = [];
});

/** `seenAs`: the URL that reaches the service. */
const run = (seenAs = (url: URL) => url): Session => {
  const send = systemTransport();
  return service.start({
    log: (text) => void events.push(text),
    transport: (request) => {
      if (request.method === "DELETE") events.push(`DELETE ${request.url.pathname.split("/").slice(3).join("/")}`);
      return send({ ...request, url: seenAs(new URL(request.url)) });
    },
  });
};
const deletes = () => events.filter((event) => event.startsWith("DELETE"));

const make = async (operation: string, field: string, parent: string, record: Json): Promise<string> =>
  (await service.call(operation, { parent, [field]: record })).uid;
const makeGroup = (parent: string, name: string) => make("CreateGroup", "group", parent, { name });
const makeIdentity = (parent: string, name: string) =>
  make("CreateIdentity", "identity", parent, { name, claimMatch: { issuer: "https://issuer.example", subject: name } });
const bind = (parent: string, identityUid: string, roleUid = viewer) =>
  make("CreateRoleBinding", "roleBinding", parent, { identityUid, roleUid });

const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  const [result] = await Promise.allSettled([promise]);
  expect(result.status).toBe("rejected");
  return (result as PromiseRejectedResult).reason;
};

/** Why a group is not deleted: only the group itself was tried. */
const refusalOf = async (uid: string, stored: Json, session = run()): Promise<string> => {
  const { message } = await failureOf(reconcile.remove(group, session, uid, stored));
  expect(new Set(deletes())).toEqual(new Set([`DELETE groups/${uid}`]));
  return message;
};
const FORCED = { name: "forced", forceDestroy: true };

it("forceDestroy prints the whole list before the first delete, then deletes the deepest first", async () => {
  const top = await makeGroup(org, "top");
  const mid = await makeGroup(top, "mid");
  const low = await makeGroup(mid, "low");
  const ci = await makeIdentity(mid, "ci");
  const role = await make("CreateRole", "role", top, { name: "own", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  const binding = await bind(low, ci, role);
  await reconcile.remove(group, run(), top, { name: "top", forceDestroy: true });

  const announced = events.findIndex((event) => event.startsWith(`group ${top} "top": forceDestroy`));
  expect(events[announced]?.split("\n")).toEqual([
    `group ${top} "top": forceDestroy: deletes 5 records below it:`,
    `  - role binding ${binding} (ci as own)`,
    `  - identity ${ci} "ci"`,
    `  - group ${low} "low"`,
    `  - role ${role} "own"`,
    `  - group ${mid} "mid"`,
  ]);
  // Only the group itself was tried before that, and refused.
  expect(new Set(events.slice(0, announced))).toEqual(new Set([`DELETE groups/${top}`]));
  expect(events.slice(announced + 1)).toEqual([
    `DELETE roleBindings/${binding}`,
    `DELETE identities/${ci}`,
    `DELETE groups/${low}`,
    `DELETE roles/${role}`,
    `DELETE groups/${mid}`,
    `DELETE groups/${top}`,
  ]);
  expect(await isGroupThere(service, top)).toBe(false);
});

it("forceDestroy deletes repos, identity providers, account associations and invites too", async () => {
  const top = await makeGroup(org, "kinds");
  const low = await makeGroup(top, "low");
  const oidc = { issuer: "https://idp.example", clientId: "id", clientSecret: "secret", additionalScopes: ["email"] };
  const accounts = { name: "aws", amazon: { account: "123456789012" } };
  await make("CreateRepo", "repo", low, { name: "repo" });
  await make("CreateIdentityProvider", "identityProvider", low, { name: "idp", oidc, defaultRole: viewer });
  for (const parent of [low, top]) await make("CreateAccountAssociation", "accountAssociation", parent, accounts);
  await make("CreateGroupInvite", "groupInvite", low, { roleUid: viewer, ttl: "3600s" });
  await reconcile.remove(group, run(), top, { forceDestroy: true });
  expect(await isGroupThere(service, top)).toBe(false);
  expect(new Set(deletes().map((event) => event.split("/")[0]?.replace("DELETE ", "")))).toEqual(
    new Set(["groups", "groupInvites", "accountAssociations", "identityProviders", "repos"]),
  );
});

it("forceDestroy is refused beyond forceDestroyMax, or 50, with the list, and nothing is deleted", async () => {
  const top = await makeGroup(org, "many");
  const below = [await makeGroup(top, "a"), await makeGroup(top, "b"), await makeGroup(top, "c")];
  const stored = { name: "many", forceDestroy: true, forceDestroyMax: 2 };
  const [head, ...lines] = (await refusalOf(top, stored)).split("\n");
  expect(head).toBe(
    `group ${top} "many": forceDestroy: 3 records are below it, and forceDestroyMax is 2; nothing was deleted:`,
  );
  expect(lines.pop()).toBe("See docs/troubleshooting.md#blocked");
  expect(lines.sort()).toEqual(below.map((uid, i) => `  - group ${uid} "${"abc"[i]}"`).sort());
  await reconcile.remove(group, run(), top, { ...stored, forceDestroyMax: 3 });
  expect(await isGroupThere(service, top)).toBe(false);
  const fifty = await makeGroup(org, "fifty");
  events = [];
  for (let i = 0; i < 51; i += 1) await makeGroup(fifty, `g${i}`);
  expect(await refusalOf(fifty, FORCED)).toContain(
    "forceDestroy: 51 records are below it, and forceDestroyMax is 50; nothing was deleted:",
  );
});

it("forceDestroy is refused on a root group: in the preview, and in the delete if the state has it", async () => {
  expect(inputProblems(group, { root: true, name: "r", forceDestroy: true })).toEqual([
    { field: "forceDestroy", description: "is refused on a root group: it would empty an organization" },
  ]);
  const root = await make("CreateGroup", "group", "", { name: "root" });
  await makeGroup(root, "below");
  expect(await refusalOf(root, FORCED)).toBe(
    `group ${root} "forced": forceDestroy is refused on a root group: it would empty an organization\nSee docs/troubleshooting.md#blocked`,
  );
});

it("forceDestroy is refused when a role binding outside would be deleted with an identity below", async () => {
  const [top, otherGroup] = [await makeGroup(org, "inside"), await makeGroup(org, "outside")];
  const ci = await makeIdentity(top, "ci");
  const binding = await bind(otherGroup, ci);
  expect(await refusalOf(top, FORCED)).toBe(
    `group ${top} "forced": forceDestroy: these role bindings are outside it and would be deleted with identities below it; ` +
      `nothing was deleted:\n  - role binding ${binding} (ci as viewer) of identity ${ci} "ci"\nSee docs/troubleshooting.md#blocked`,
  );
});

it("forceDestroy is refused when this run has created, keeps, or leaves in place a record below", async () => {
  const top = await makeGroup(org, "held");
  const session = run();
  const made = await reconcile.create(group, session, { ...keyOf("held"), parent: top, name: "made" });
  const kept = await makeGroup(top, "kept");
  session.ownership.keep(kept, false);
  const left = await makeIdentity(top, "left");
  await reconcile.remove(identity, session, left, { name: "left", adopted: true });
  const [head, ...lines] = (await refusalOf(top, FORCED, session)).split("\n");
  expect(head).toBe(
    `group ${top} "forced": forceDestroy: this run keeps these records, or leaves them in place; nothing was deleted:`,
  );
  expect(lines.pop()).toBe("See docs/troubleshooting.md#blocked");
  expect(lines.sort()).toEqual(
    [`  - group ${made.id} "made"`, `  - group ${kept} "kept"`, `  - identity ${left} "left"`].sort(),
  );
});

describe("an identity that holds role bindings of others", () => {
  it("is not deleted, and the error names them with advice", async () => {
    const ci = await makeIdentity(org, "bound");
    const binding = await bind(org, ci);
    const error = await failureOf(reconcile.remove(identity, run(), ci, { name: "bound" }));
    expect(error.message).toContain(
      "role bindings of the identity would be deleted with it, and this run deletes none of them; forceDestroy: true deletes them too",
    );
    expect(error.message).toContain(`1 record blocks the deletion:\n  - role binding ${binding} (bound as viewer)`);
    expect(deletes()).toEqual([]);
  });

  it("is deleted with them by forceDestroy, after they are listed", async () => {
    const ci = await makeIdentity(org, "forced");
    const binding = await bind(org, ci);
    await reconcile.remove(identity, run(), ci, { name: "forced", forceDestroy: true });
    expect(events).toEqual([
      `identity ${ci} "forced": forceDestroy deletes 1 record with it:\n  - role binding ${binding} (forced as viewer)`,
      `DELETE identities/${ci}`,
    ]);
  });

  it("is not deleted by forceDestroy while this run keeps one of them", async () => {
    const ci = await makeIdentity(org, "kept");
    const binding = await bind(org, ci);
    const session = run();
    session.ownership.keep(binding, false);
    const error = await failureOf(reconcile.remove(identity, session, ci, { name: "kept", forceDestroy: true }));
    expect(error.message).toBe(
      `identity ${ci} "kept": forceDestroy: this run keeps these records, or leaves them in place; nothing was deleted:\n` +
        `  - role binding ${binding} (kept as viewer)\nSee docs/troubleshooting.md#blocked`,
    );
    expect(deletes()).toEqual([]);
  });

  it("waits for the ones that this run deletes", async () => {
    const ci = await makeIdentity(org, "own");
    const binding = await bind(org, ci);
    const session = run();
    await Promise.all([
      reconcile.remove(identity, session, ci, { name: "own" }),
      reconcile.remove(roleBinding, session, binding, { identityUid: ci, roleUid: viewer }),
    ]);
    expect(deletes()).toEqual([`DELETE roleBindings/${binding}`, `DELETE identities/${ci}`]);
  });
});

it("forceDestroy when the service or a proxy ignores the filter of a list deletes nothing beside the group", async () => {
  const [first, beside] = [await makeGroup(org, "first"), await makeGroup(org, "beside")];
  const [child, other] = [await makeGroup(first, "child"), await makeGroup(beside, "other")];
  const clouds = { name: "clouds", amazon: { account: "123456789012" } };
  await make("CreateAccountAssociation", "accountAssociation", beside, clouds);
  const unfiltered = (url: URL): URL => {
    for (const name of [...url.searchParams.keys()]) if (name.startsWith("uidp.")) url.searchParams.delete(name);
    return url;
  };
  await reconcile.remove(group, run(unfiltered), first, { name: "first", forceDestroy: true });
  expect(new Set(deletes())).toEqual(new Set([`DELETE groups/${first}`, `DELETE groups/${child}`]));
  expect([await isGroupThere(service, beside), await isGroupThere(service, other)]).toEqual([true, true]);
});

const SEED = `
organization: { name: acme }
groups:
  - { name: registry }
  - { name: below, parent: registry }
advisories:
  - group: registry/below
    advisoryId: CGA-xvgw-cvr7-9g2q
    author: ann@acme.example
    artifactName: nginx
    artifactType: apk
    artifactArchitecture: x86_64
    componentName: openssl
    componentLocation: ./.PKGINFO
    componentType: apk
    events:
      - { author: ann@acme.example, reviewState: REVIEW_STATE_APPROVED, fixed: { fixedVersion: 1.27.1-r0 } }
`;

it("an advisory below is named and nothing is deleted, since no method deletes it and the group would stay", async () => {
  const own = await startService(SEED);
  onTestFinished(() => own.close());
  const listGroups = async () => (await own.session.call("ListGroups", {})).groups as unknown as Json[];
  const before = await listGroups();
  const registry = before.find(({ name }) => name === "registry") as Json;
  const { advisories } = await own.session.call("ListAdvisories", {});
  const stored = { ...registry, forceDestroy: true };
  await expect(reconcile.remove(group, own.otherSession(), registry.uid as string, stored)).rejects.toThrow(
    "forceDestroy: no method deletes these advisories, so the group would stay; nothing was deleted:\n" +
      `  - advisory ${advisories?.[0]?.uid}`,
  );
  expect(await listGroups()).toEqual(before);
  const paths = own.requests.filter(({ method }) => method === "DELETE").map(({ url }) => url.pathname);
  expect(new Set(paths)).toEqual(new Set([`/iam/v2beta1/groups/${registry.uid}`]));
});
