import { describe, expect, it } from "vitest";
import { systemTransport } from "../../client/transport.ts";
import { Secret } from "../../plugin/value.ts";
import { urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { org, plugin, nextProcess, created } = await setUp();

describe("secrets", () => {
  it("stay secret in inputs and outputs, where the program marks them", async () => {
    const urn = urnOf("Identity", "ci");
    const claimMatch = { issuer: "https://x.example.com", subject: new Secret("hidden") };
    const { inputs } = await plugin.check(urn, { parent: org, name: "ci", claimMatch });
    expect(inputs.claimMatch).toEqual(claimMatch);
    const { id, outs } = await plugin.create(urn, inputs);
    expect(outs.claimMatch).toEqual(claimMatch);
    expect(outs.name).toBe("ci");
    const other = await nextProcess();
    const read = await other.read(urn, id, outs, inputs);
    expect(read.outs.claimMatch).toEqual(claimMatch);
    expect(read.inputs.claimMatch).toEqual(claimMatch);
  });

  it("make a whole list secret, whose order may change", async () => {
    const urn = urnOf("Role", "r");
    const capabilities = ["repo.list", new Secret("groups.list")];
    const { inputs } = await plugin.check(urn, { parent: org, name: "r", capabilities });
    expect(inputs.capabilities).toEqual(new Secret(["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]));
    expect((await plugin.create(urn, inputs)).outs.capabilities).toBeInstanceOf(Secret);
  });

  it("stay secret in an output with another name than the argument", async () => {
    const oidc = { issuer: "https://sso.example.com", clientId: "c", pkceEnabled: true };
    const sso = await created("IdentityProvider", { parent: org, name: "sso", defaultRole: "viewer", oidc });
    const role = new Secret("editor") as never;
    const mapping = { parent: sso.id, externalGroupId: "SRE", role, scope: org };
    const { urn, id, inputs, outs } = await created("ExternalGroupRoleMapping", mapping);
    expect(inputs.role).toEqual(new Secret("editor"));
    expect(outs.roleUid).toBeInstanceOf(Secret);
    const later = await nextProcess();
    expect((await later.read(urn, id, outs, inputs)).outs.roleUid).toEqual(outs.roleUid);
  });

  it("are what the service shows once, and what it never returns, whatever the program marks", async () => {
    const invite = await created("GroupInvite", { parent: org, role: "viewer", ttl: "600s" });
    expect(invite.outs.code).toBeInstanceOf(Secret);
    const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "never shown" };
    const login = await created("IdentityProvider", {
      parent: org,
      name: "login",
      defaultRole: "viewer",
      oidc,
    });
    expect(login.inputs.oidc).toMatchObject({ clientId: "c", clientSecret: new Secret("never shown") });
    const later = await nextProcess();
    const read = await later.read(login.urn, login.id, login.outs, { ...login.inputs, oidc });
    expect(read.inputs.oidc).toMatchObject({ clientSecret: new Secret("never shown") });
    expect(JSON.stringify(login.outs)).toContain("never shown");
    expect(login.outs.__secrets).toBeInstanceOf(Secret);
    expect(JSON.stringify({ ...login.outs, __secrets: undefined })).not.toContain("never shown");
    expect(plugin.messages.join()).not.toContain("never shown");
  });

  it("stay out of the role bindings of the records that have them as names", async () => {
    const claimMatch = { issuer: "https://x.example.com", subject: "named" };
    const who = await created("Identity", {
      parent: org,
      name: new Secret("secret name"),
      claimMatch,
    } as never);
    const urn = urnOf("RoleBinding", "b");
    const { inputs } = await plugin.check(urn, { parent: org, identity: who.id, role: "viewer" });
    expect(plugin.messages.at(-1)).toBe(`RoleBinding b is new: identity [secret], role "viewer", group ${org}`);
    const { id, outs } = await plugin.create(urn, inputs);
    expect(outs).toMatchObject({ identity: { uid: who.id }, role: { name: "viewer" } });
    const later = await nextProcess();
    const read = await later.read(urn, id, outs, inputs);
    expect(JSON.stringify([outs, read.outs, read.inputs])).not.toContain("secret name");
    expect((await later.diff(urn, id, read.outs, inputs, inputs)).changes).toBe(false);
  });

  it("stay out of role bindings as long as their process has not met the records, also of sets", async () => {
    const claimMatch = { issuer: "https://x.example.com", subject: "unmet" };
    const name = new Secret("another secret name");
    const who = await created("Identity", { parent: org, name, claimMatch } as never);
    const group = await created("Group", { parent: org, name: "not secret" });
    const later = await nextProcess();
    const args = {
      RoleBinding: { identity: who.id, role: "viewer" },
      RoleBindingSet: { bindings: [{ identity: who.id, role: "editor" }] },
    };
    for (const [type, own] of Object.entries(args)) {
      const urn = urnOf(type, "unmet");
      const { inputs } = await later.check(urn, { parent: group.id, ...own });
      const { id, outs } = await later.create(urn, inputs);
      expect(JSON.stringify([outs, later.messages])).not.toContain("another secret name");
      expect(JSON.stringify(outs)).toContain(`"identity":{"uid":"${who.id}"}`);
      // The state's own names stay: what wrote them has met the records.
      const other = await nextProcess();
      const stored = JSON.parse(
        JSON.stringify(outs).replace(`{"uid":"${who.id}"}`, `{"uid":"${who.id}","name":"stored"}`),
      );
      expect((await other.diff(urn, id, stored, inputs, inputs)).changes).toBe(false);
    }
  });

  it("are no longer unknown where the program looks the record up by a name in clear text", async () => {
    const claimMatch = { issuer: "https://x.example.com", subject: "looked up" };
    const who = await created("Identity", { parent: org, name: "looked up", claimMatch });
    const urn = urnOf("RoleBinding", "looked-up");
    const later = await nextProcess();
    await later.invoke("irm:index:getIdentity", { name: "looked up", parent: org });
    const { inputs } = await later.check(urn, { parent: org, identity: who.id, role: "viewer" });
    expect((await later.create(urn, inputs)).outs).toMatchObject({ identity: { uid: who.id, name: "looked up" } });
  });

  it("stay out of failures, errors and the log, which quote what the program gives", async () => {
    const hidden = new Secret("hidden value");
    const failed = async (type: string, args: object) =>
      (await plugin.check(urnOf(type, "f"), { parent: org, ...args } as never)).failures;
    const role = await failed("Role", { name: "x", capabilities: [new Secret("hidden.value")] });
    expect(role).toEqual([expect.stringContaining("capabilities[0]: ")]);
    const identity = await failed("Identity", { name: "x", servicePrincipal: hidden });
    expect(identity).toEqual([expect.stringContaining('got "[secret]"')]);
    expect([...role, ...identity].join()).not.toMatch(/hidden.value/);
    await expect(plugin.invoke("irm:index:getGroup", { name: hidden, parent: org })).rejects.toThrow('"[secret]"');

    const refusing = await nextProcess(async (request) =>
      request.method === "POST" && /groups/.test(request.url.pathname)
        ? { status: 400, headers: {}, body: JSON.stringify({ code: 3, message: `not ${request.body}` }) }
        : systemTransport()(request),
    );
    const urn = urnOf("Group", "refused");
    // It begins with the other secret, and JSON spells it otherwise.
    const description = new Secret('hidden value "and more"');
    const { inputs } = await refusing.check(urn, { parent: org, name: hidden, description } as never);
    const error = String(await refusing.create(urn, inputs).catch((reason: unknown) => reason));
    expect(error).toContain('"name":"[secret]"');
    expect(error).toContain('"description":"[secret]"');
    expect([error, ...refusing.messages].join()).not.toMatch(/hidden value|and more/);
  });

  it("are also what the state keeps of a secret role or source in the program's spelling", async () => {
    const clear = (outs: object) => JSON.stringify(outs, (_name, value) => (value instanceof Secret ? "" : value));
    const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "x" };
    const defaultRole = new Secret("viewer");
    const login = await created("IdentityProvider", { parent: org, name: "p", defaultRole, oidc } as never);
    expect(clear({ ...login.outs, __provider: "" })).not.toContain("viewer");
    const claimMatch = { issuer: "https://x.example.com", subject: "with a secret role" };
    const who = await created("Identity", { parent: org, name: "w", claimMatch });
    const binding = await created("RoleBinding", { parent: org, identity: who.id, role: defaultRole } as never);
    const read = await (await nextProcess()).read(binding.urn, binding.id, binding.outs, binding.inputs);
    for (const outs of [binding.outs, read.outs]) expect(clear({ ...outs, __provider: "" })).not.toContain("viewer");
  });
});
