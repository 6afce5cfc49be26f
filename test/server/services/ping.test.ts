// Ping: whether the API responds, without a token. Validate (docs/contract.md#validate): whose token it is.
import { describe, expect, test } from "vitest";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";

const api = await serve();
const group = (name: string): Promise<string> => createUid(api, "groups", api.organization, { name });
const eng: string = await group("eng");
const sales: string = await group("sales");

describe("who am I", () => {
  const ask = (token: string) => api.ok("GET", "/auth/v1/ok", { token });

  test("returns the claims of the token and the roles of its holder, in the form of v1", async () => {
    const { uid } = await api.actor("reader");
    for (const [group, role] of [
      [eng, "viewer"],
      [sales, "registry.pull"],
    ] as const)
      await createRecord(api, "roleBindings", group, { identityUid: uid, roleUid: await api.role(role) });
    const claims = { email: "reader@acme.example", email_verified: true };
    const workload = await api.identityToken("reader", { claims });
    const { json } = await api.exchange(workload, { aud: api.baseUrl, identity: uid });
    const answer = await ask(json.token);
    const { capabilities, ...said } = answer;
    expect(said).toEqual({
      issuer: api.authUrl,
      subject: uid,
      audience: [api.baseUrl],
      issuedAt: "2026-01-28T12:54:21.000Z",
      expiry: "2026-01-28T13:54:21.000Z",
      email: "reader@acme.example",
    });
    const roles = capabilities.map(({ group, role }: Body) => [group.id, group.name, role.id, role.name]);
    expect(roles).toEqual([
      [eng, "eng", await api.role("viewer"), "viewer"],
      [sales, "sales", await api.role("registry.pull"), "registry.pull"],
    ]);
    const { items } = await api.ok("GET", "/iam/v1/roles", { query: { name: "registry.pull" } });
    expect(capabilities[1].role).toEqual(items[0]);
  });

  const shown = (capabilities: Body[]) =>
    capabilities.map(({ group, role, capabilities: held }: Body) => [group.name, role ? role.name : held]);

  test("returns what the limits of the token leave, as the role that grants just that, or as capabilities", async () => {
    const { uid } = await api.actor("limited", { role: "viewer" });
    const body = { identityUid: uid, roleUid: await api.role("registry.pull") };
    for (const group of [eng, sales]) await createRecord(api, "roleBindings", group, body);
    const limited = async (limits: { cap?: string[]; scopes?: string[] }) =>
      (await ask(await api.token(uid, { subject: "limited", ...limits }))).capabilities;
    // A binding above the scope counts inside it; one beside it does not.
    const narrow = await limited({ cap: ["tag.list", "repo.list"], scopes: [eng] });
    expect(shown(narrow)).toEqual([
      ["eng", ["repo.list", "tag.list"]],
      ["dev", ["repo.list", "tag.list"]],
    ]);
    expect(narrow.every((one: Body) => !("role" in one))).toBe(true);
    const { capabilities: pull } = (await api.ok("GET", `${IAM}/roles/${await api.role("registry.pull")}`)) as Body;
    expect(shown(await limited({ cap: pull, scopes: [eng] }))).toEqual([
      ["eng", "registry.pull"],
      ["dev", "registry.pull"],
    ]);
    const wide = await limited({ scopes: [api.organization] });
    expect(shown(wide).toSorted()).toEqual([
      ["dev", "viewer"],
      ["eng", "registry.pull"],
      ["sales", "registry.pull"],
    ]);
    expect(wide.every((one: Body) => !("capabilities" in one))).toBe(true);
  });

  test("returns one set for a group where the limits leave a part of what several roles grant", async () => {
    const { uid } = await api.actor("several");
    for (const role of ["apk.pull", "registry.pull"])
      await createRecord(api, "roleBindings", eng, { identityUid: uid, roleUid: await api.role(role) });
    const limited = async (cap: string[]) =>
      shown((await ask(await api.token(uid, { subject: "several", cap }))).capabilities);
    const apk = ["apk.blobs.get", "apk.list", "groups.list"];
    expect(await limited(apk)).toEqual([["eng", "apk.pull"]]);
    expect(await limited([...apk, "tag.list"])).toEqual([["eng", [...apk, "tag.list"]]]);
    expect(await limited(["advisories.list"])).toEqual([["eng", undefined]]);
    const { capabilities } = await ask(await api.token(uid, { subject: "several" }));
    expect(shown(capabilities).toSorted()).toEqual([
      ["eng", "apk.pull"],
      ["eng", "registry.pull"],
    ]);
  });

  test("is served at the address of the API, when the exchange has another", async () => {
    const split = await serve({ authPort: 0 });
    expect(split.authUrl).not.toBe(split.baseUrl);
    expect((await split.ok("GET", "/auth/v1/ok")).issuer).toBe(split.authUrl);
  });
});
