// What blocks a group's deletion (docs/contract.md#d7): any child, one violation for each kind of child, all at once. The
// binding that made the creator owner of a root group goes with the group and does not block it.

import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, preconditionFailure } from "../../support/refusal.ts";

const api = await serve({
  seed: parseSeed(
    "{ organization: { name: acme }, groups: [{ name: stocked }], repos: [{ name: r, group: stocked }] }",
    "s",
  ),
});

const make = async (kind: string, parent: string, body: Body): Promise<string> =>
  (await api.ok("POST", `${IAM}/${kind}/${parent}`, { body })).uid;
const group = () => make("groups", api.organization, { name: "g" });
const remove = (uid: string) => api.call("DELETE", `${IAM}/groups/${uid}`);

const CHILDREN: Record<string, (parent: string) => Promise<string>> = {
  groups: (parent) => make("groups", parent, { name: "child" }),
  identities: (parent) => make("identities", parent, { name: "child", servicePrincipal: 1 }),
  roles: (parent) => make("roles", parent, { name: "child", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  roleBindings: async (parent) =>
    make("roleBindings", parent, { identityUid: api.identity, roleUid: await api.role("viewer") }),
};
const WORDS: Record<string, string> = {
  groups: "groups",
  identities: "identities",
  roles: "roles",
  roleBindings: "role bindings",
};
const text = (kind: string) => `cannot delete group with child ${WORDS[kind]}`;

describe("a group with a child", () => {
  test.each(Object.keys(CHILDREN))("of the kind %s cannot be deleted until the child is", async (kind) => {
    const uid = await group();
    const child = await (CHILDREN[kind] as (parent: string) => Promise<string>)(uid);
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text(kind), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text(kind))],
    });
    expect((await api.call("GET", `${IAM}/groups/${uid}`)).status).toBe(200);
    expect((await api.call("DELETE", `${IAM}/${kind}/${child}`)).status).toBe(200);
    expect((await remove(uid)).status).toBe(200);
  });

  test("of the kind repo cannot be deleted", async () => {
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "stocked" } });
    const blocked = "cannot delete group with child repos";
    expectRefusal(await remove(groups[0].uid), "FAILED_PRECONDITION", blocked, {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", blocked)],
    });
  });

  test("of every kind has one violation for each, and the message of the first", async () => {
    const uid = await group();
    const kinds = Object.keys(CHILDREN);
    // Two of each: it is one violation a kind, not one a child.
    for (const make of [...Object.values(CHILDREN), ...Object.values(CHILDREN)]) await make(uid);
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text("groups"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", ...kinds.map(text))],
    });
  });

  test("two levels below is blocked by the level between", async () => {
    const uid = await group();
    const below = await make("groups", uid, { name: "between" });
    await (CHILDREN.roles as (parent: string) => Promise<string>)(below);
    expectRefusal(await remove(uid), "FAILED_PRECONDITION", text("groups"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text("groups"))],
    });
  });

  test("of its neighbour, whose uid begins alike, is deleted", async () => {
    const [one, two] = [await group(), await group()];
    await make("groups", two, { name: "child" });
    expect((await remove(one)).status).toBe(200);
    expect((await api.call("GET", `${IAM}/groups/${two}`)).status).toBe(200);
  });
});

describe("a root group", () => {
  const found = async (name: string) => {
    const founder = await api.actor(name);
    const { uid } = await createRecord(api, "groups", "", { name }, founder.token);
    return { ...founder, root: uid as string };
  };
  const asFounder = (token: string, method: string, path: string, body?: Body) =>
    api.call(method, `${IAM}/${path}`, { token, body });

  test("is deleted with the binding of its founding owner, who loses access", async () => {
    const { uid, token, root } = await found("alone");
    const query = { identity: uid };
    expect((await api.ok("GET", `${IAM}/roleBindings`, { token, query })).totalCount).toBe("1");
    expect((await asFounder(token, "DELETE", `groups/${root}`)).status).toBe(200);
    expect((await asFounder(token, "GET", `groups/${root}`)).status).toBe(403);
    expect((await api.ok("GET", `${IAM}/roleBindings`, { token, query })).totalCount).toBe("0");
  });

  test("is blocked by any other binding, to the same identity too", async () => {
    const { uid, token, root } = await found("twice");
    const body = { identityUid: uid, roleUid: await api.role("owner") };
    const { json } = await asFounder(token, "POST", `roleBindings/${root}`, body);
    const refused = await asFounder(token, "DELETE", `groups/${root}`);
    expectRefusal(refused, "FAILED_PRECONDITION", text("roleBindings"), {
      details: [preconditionFailure("RESOURCE_NOT_EMPTY", text("roleBindings"))],
    });
    await asFounder(token, "DELETE", `roleBindings/${json.uid}`);
    expect((await asFounder(token, "DELETE", `groups/${root}`)).status).toBe(200);
  });
});
