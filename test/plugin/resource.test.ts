import { expect, it } from "vitest";
import { AT, SERVICE } from "../../client/preview-marks.ts";
import { systemTransport } from "../../client/transport.ts";
import { organizationWithout, typeIn } from "../../plugin/names.ts";
import { Secret } from "../../plugin/value.ts";
import { KEY, ORGANIZATION, PROVIDER, RUN } from "../../provider/record/state.ts";
import { keyFrom } from "../../pulumi/urn.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { service, org, plugin, startProcess, nextProcess, created, createIdentity, compared } = await setUp();

const stamp = expect.stringMatching(`^${service.baseUrl} [0-9a-z]{7}`);

it("a resource keeps its service once, no handler, and no key where its URN and the backend give it", async () => {
  const { inputs, outs, id } = await created("Group", { parent: org, name: "eng" });
  expect(inputs).toEqual({ parent: org, name: "eng", [AT]: stamp });
  expect(outs).toMatchObject({ uid: id, parent: org, name: "eng" });
  for (const name of [KEY, SERVICE, PROVIDER]) expect(outs).not.toHaveProperty(name);
});

it("a resource keeps the organization of the stack where the program says another than the backend", async () => {
  const urn = urnOf("Group", "of-acme");
  const { inputs } = await plugin.check(urn, { parent: org, name: "of-acme", [ORGANIZATION]: "acme" });
  expect(inputs).toMatchObject({ [ORGANIZATION]: "acme" });
  const one = { urn, inputs, ...(await plugin.create(urn, inputs)) };
  expect(await plugin.read(urn, one.id, one.outs, inputs)).toMatchObject({ inputs });
  const { inputs: later } = await plugin.check(urn, { parent: org, name: "of-acme" }, inputs);
  expect(later).toEqual(inputs);
  expect(await plugin.diff(urn, one.id, one.outs, later, inputs)).toMatchObject({ changes: false });
});

it("a resource of a TypeScript class has no output that it derives; another language stores it", async () => {
  const args = { parent: org, name: "derived" };
  const ofClass = { ...args, [RUN]: { organization: "organization", isPreview: false } };
  const one = await created("Group", ofClass);
  expect(one.outs).toMatchObject({ uid: one.id });
  expect(one.outs).not.toHaveProperty("parent");
  expect(one.inputs).not.toHaveProperty(RUN);
  expect(await compared(one, ofClass)).toMatchObject({ changes: false });
  const other = await nextProcess();
  expect((await other.read(one.urn, one.id, one.outs, one.inputs)).outs).toEqual(one.outs);
  // A refresh compares, and no program has declared anything.
  expect(await other.diff(one.urn, one.id, one.outs, one.inputs, one.inputs)).toMatchObject({ changes: false });
  const { inputs } = await other.check(one.urn, args, one.inputs);
  // No property differs: replaceOnChanges applies to those.
  const found = await other.diff(one.urn, one.id, one.outs, inputs, one.inputs);
  expect(found).toMatchObject({ changes: true, replaces: [], detailed: {} });
  for (const preview of [true, false])
    expect(await other.update(one.urn, one.id, one.outs, inputs, { preview })).toMatchObject({
      outs: { parent: org },
    });
});

it("a resource takes the names of a role binding from the check of the program, and keeps none", async () => {
  const { id: group } = await created("Group", { parent: org, name: "named" });
  const { id: identity } = await createIdentity("hidden", "hidden", group);
  const names = { group: "named", identity: "[secret]", role: "viewer" };
  const args = { parent: group, identity, role: "viewer", [RUN]: { isPreview: false, names } };
  const one = await created("RoleBinding", args);
  expect(one.inputs).toEqual({ parent: group, identity, role: "viewer", [AT]: stamp });
  expect(one.outs).toMatchObject({ identity: { uid: identity }, group: { name: "named" } });
  expect(JSON.stringify(one)).not.toMatch(/hidden|__role|names/);
  const { inputs } = await plugin.check(one.urn, { ...args, role: "editor" }, one.inputs);
  const { outs: updated } = await plugin.update(one.urn, one.id, one.outs, inputs);
  expect(updated).toMatchObject({ role: { name: "editor" } });
  expect(JSON.stringify(updated)).not.toContain("hidden");
  for (const name of [KEY, SERVICE, PROVIDER]) expect(updated).not.toHaveProperty(name);
});

it("a resource leaves the uid of a role binding's group to the id where the class derives it", async () => {
  const { id: group } = await created("Group", { parent: org, name: "placed" });
  const { id: identity } = await createIdentity("placed", "placed", group);
  const args = { parent: group, identity, role: "viewer" };
  const names = { group: "placed", identity: "placed", role: "viewer" };
  const ofClass = { ...args, [RUN]: { isPreview: false, names } };
  const one = await created("RoleBinding", ofClass);
  expect(one.outs.group).toEqual({ name: "placed" });
  expect(await compared(one, ofClass)).toMatchObject({ changes: false });
  const other = await nextProcess();
  expect((await other.read(one.urn, one.id, one.outs, one.inputs)).outs).toEqual(one.outs);
  const { inputs } = await other.check(one.urn, args, one.inputs);
  for (const preview of [true, false])
    expect((await other.update(one.urn, one.id, one.outs, inputs, { preview })).outs).toMatchObject({
      group: { uid: group, name: "placed" },
    });
  // A state of before, which has it, keeps it.
  const before = { ...one, outs: { ...one.outs, parent: group, group: { uid: group, name: "placed" } } };
  expect(await compared(before, ofClass)).toMatchObject({ changes: false });
  expect((await other.read(one.urn, one.id, before.outs, one.inputs)).outs).toEqual(before.outs);
});

it("a resource of a state of the dynamic form is no change, and a read leaves its inputs", async () => {
  const args = { parent: org, name: "older", description: "" };
  const { urn, id, ...one } = await created("Group", args);
  const own = { [KEY]: `organization/project/stack/Group::${urn.replace(/^.*::/, "")}`, [SERVICE]: service.baseUrl };
  const { [AT]: _at, ...before } = one.inputs;
  const [inputs, outs] = [
    { ...before, ...own },
    { ...one.outs, ...own, [PROVIDER]: "the text of the dynamic one" },
  ];
  expect(await compared({ urn, id, inputs, outs }, args)).toMatchObject({ changes: false, detailed: {} });
  const read = await (await nextProcess()).read(urn, id, outs, inputs);
  expect(read).toMatchObject({ inputs, outs: one.outs });
  expect(await plugin.diff(urn, id, read.outs, inputs, read.inputs)).toMatchObject({ changes: false });
  await (await nextProcess()).delete(urn, id, outs);
});

it("what a check looks up is the record that a resource adopts, once", async () => {
  const existing = await created("Group", { parent: org, name: "theirs", description: "x" });
  const urn = urnOf("Group", "adopts");
  const args = { parent: org, name: "theirs", adopt: "match" };
  const other = await nextProcess();
  const { inputs } = await other.check(urn, args);
  expect(inputs).toMatchObject({ adopt: existing.id, onDelete: "the adopted record stays" });
  expect(other.messages).toEqual([
    `Group adopts adopts group ${existing.id} "theirs"`,
    `Group adopts changes on group ${existing.id}:\n  - description: "x" becomes nothing`,
  ]);
  expect((await other.check(urn, args, inputs)).inputs).toEqual(inputs);
  expect(other.messages).toHaveLength(2);
  const none = await other.check(urnOf("Group", "none"), { ...args, name: "nowhere" });
  expect(none.failures).toEqual([`adopt: no groups that match in ${org}; exactly one is needed`]);
  const twins = [1, 2].map((n) => created("Group", { parent: org, name: "twin", description: `${n}` }));
  const lines = (await Promise.all(twins)).map(({ id }) => `  - ${id} twin`);
  const several = await other.check(urnOf("Group", "several"), { ...args, name: "twin" });
  const [head, ...listed] = (several.failures[0] ?? "").split("\n");
  expect(head).toBe(`adopt: 2 groups that match in ${org}; exactly one is needed`);
  expect(listed.toSorted()).toEqual(lines.toSorted());
  const later = await other.check(urnOf("Group", "later"), { ...args, parent: UNKNOWN });
  expect(later.inputs).toMatchObject({ adopt: UNKNOWN });
  // A uid needs nothing else.
  const byUid = await other.check(urnOf("Group", "by uid"), { parent: org, name: UNKNOWN, adopt: existing.id });
  expect(byUid.inputs).toMatchObject({ adopt: existing.id });
});

it("what a check looks up is the name of a built-in role, where there are credentials", async () => {
  const args = { parent: org, identity: UNKNOWN };
  expect((await plugin.check(urnOf("RoleBinding", "y"), { ...args, role: "viwer" })).failures).toEqual([
    'role: no built-in role is named "viwer"; did you mean viewer?',
  ]);
  const set = { parent: UNKNOWN, bindings: [{ identity: UNKNOWN, role: "ownr" }] };
  expect((await plugin.check(urnOf("RoleBindingSet", "y"), set)).failures).toEqual([
    'bindings[0].role: no built-in role is named "ownr"; did you mean owner?',
  ]);
  const offline = await startProcess({ IRM_IDENTITY_TOKEN: "" });
  await offline.configure();
  expect((await offline.check(urnOf("RoleBinding", "y"), { ...args, role: "viwer" })).failures).toEqual([]);
  const secret = { ...args, role: new Secret("viwer") };
  expect((await plugin.check(urnOf("RoleBinding", "z"), secret)).failures).toEqual([
    "role: no built-in role has this name",
  ]);
});

it("secrets stay secret in inputs and outputs, where the program marks them", async () => {
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

it("secrets make a whole list secret, whose order may change", async () => {
  const urn = urnOf("Role", "r");
  const capabilities = ["repo.list", new Secret("groups.list")];
  const { inputs } = await plugin.check(urn, { parent: org, name: "r", capabilities });
  expect(inputs.capabilities).toEqual(new Secret(["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]));
  expect((await plugin.create(urn, inputs)).outs.capabilities).toBeInstanceOf(Secret);
});

it("secrets stay secret in an output with another name than the argument", async () => {
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

it("secrets are what the service shows once, and what it never returns, whatever the program marks", async () => {
  const invite = await created("GroupInvite", { parent: org, role: "viewer", ttl: "600s" });
  expect(invite.outs.code).toBeInstanceOf(Secret);
  const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "never shown" };
  const login = await created("IdentityProvider", { parent: org, name: "login", defaultRole: "viewer", oidc });
  expect(login.inputs.oidc).toMatchObject({ clientId: "c", clientSecret: new Secret("never shown") });
  const later = await nextProcess();
  const read = await later.read(login.urn, login.id, login.outs, { ...login.inputs, oidc });
  expect(read.inputs.oidc).toMatchObject({ clientSecret: new Secret("never shown") });
  expect(JSON.stringify(login.outs)).toContain("never shown");
  expect(login.outs.__secrets).toBeInstanceOf(Secret);
  expect(JSON.stringify({ ...login.outs, __secrets: undefined })).not.toContain("never shown");
  expect(plugin.messages.join()).not.toContain("never shown");
});

it("secrets stay out of the role bindings of the records that have them as names", async () => {
  const who = await createIdentity(new Secret("secret name"), "named");
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

it("secrets stay out of role bindings as long as their process has not met the records, also of sets", async () => {
  const who = await createIdentity(new Secret("another secret name"), "unmet");
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

it("secrets are no longer unknown where the program looks the record up by a name in clear text", async () => {
  const who = await createIdentity("looked up");
  const urn = urnOf("RoleBinding", "looked-up");
  const later = await nextProcess();
  await later.invoke("irm:index:getIdentity", { name: "looked up", parent: org });
  const { inputs } = await later.check(urn, { parent: org, identity: who.id, role: "viewer" });
  expect((await later.create(urn, inputs)).outs).toMatchObject({ identity: { uid: who.id, name: "looked up" } });
});

it("secrets stay out of failures, errors and the log, which quote what the program gives", async () => {
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

it("secrets are also what the state keeps of a secret role or source in the program's spelling", async () => {
  const clear = (outs: object) => JSON.stringify(outs, (_name, value) => (value instanceof Secret ? "" : value));
  const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "x" };
  const defaultRole = new Secret("viewer");
  const login = await created("IdentityProvider", { parent: org, name: "p", defaultRole, oidc } as never);
  expect(clear({ ...login.outs, __provider: "" })).not.toContain("viewer");
  const who = await createIdentity("w");
  const binding = await created("RoleBinding", { parent: org, identity: who.id, role: defaultRole } as never);
  const read = await (await nextProcess()).read(binding.urn, binding.id, binding.outs, binding.inputs);
  for (const outs of [binding.outs, read.outs]) expect(clear({ ...outs, __provider: "" })).not.toContain("viewer");
});

it("an import by Group.get belongs to the organization of the stack that the program names", async () => {
  const read = await plugin.read(urnOf("Group", "got"), org, { [ORGANIZATION]: "acme" });
  expect(read.outs).toMatchObject({ uid: org });
  expect(read.inputs).toMatchObject({ [ORGANIZATION]: "acme" });
  expect(read.outs).not.toHaveProperty(ORGANIZATION);
});

it("an import of a set manages what its group has", async () => {
  const group = await created("Group", { parent: org, name: "imported" });
  const who = await createIdentity("who");
  await created("RoleBinding", { parent: group.id, identity: who.id, role: "viewer" });
  const urn = urnOf("RoleBindingSet", "imported");
  const other = await nextProcess();
  const set = await other.read(urn, group.id);
  expect(set.inputs).toMatchObject({ parent: group.id, bindings: [{ identity: who.id, role: "viewer" }] });
  const args = { parent: group.id, bindings: [{ identity: who.id, role: "viewer" }] };
  expect((await compared({ urn, ...set }, args, other)).changes).toBe(false);
});

it("an import of an invite has no code, and is not replaced for it", async () => {
  const args = { parent: org, role: "viewer", ttl: "600s" };
  const invite = await created("GroupInvite", args);
  expect(invite.outs.code).toBeInstanceOf(Secret);
  const urn = urnOf("GroupInvite", "imported");
  const other = await nextProcess();
  const read = await other.read(urn, invite.id);
  expect(read.outs.code).toBeUndefined();
  expect(read.inputs).toMatchObject(args);
  expect((await compared({ urn, ...read }, args, other)).changes).toBe(false);
  expect((await compared({ urn, ...read }, { ...args, role: "editor" }, other)).replaces).toEqual(["role"]);
});

const urn = (types: string, name = "x") => `urn:pulumi:dev::shop::${types}::${name}`;

it("the key of a resource is that of the dynamic resource of the same name", () => {
  expect(keyFrom(urn("irm:index:Group", "a::b"), "acme")).toBe("acme/shop/dev/Group::a::b");
  expect(keyFrom(urn("pulumi-nodejs:dynamic/irm:Group"), "acme")).toBe("acme/shop/dev/Group::x");
  expect(keyFrom(urn("my:mod:Team$irm:index:AccessPolicy$irm:index:RoleBindingSet"), "acme")).toBe(
    "acme/shop/dev/my:mod:Team$AccessPolicy$RoleBindingSet::x",
  );
  expect(keyFrom(urn("irm:index:Group$irm:index:Identity"), "acme")).toBe("acme/shop/dev/Group$Identity::x");
});

it("the key of a resource has the one organization of a backend of one's own, and the provider's id in Pulumi Cloud", () => {
  const home = { PULUMI_HOME: "/nowhere" };
  expect(organizationWithout("id-1", { PULUMI_BACKEND_URL: "s3://bucket" }, "/")).toBe("organization");
  expect(organizationWithout("id-1", { PULUMI_BACKEND_URL: "https://api.pulumi.com" }, "/")).toBe("~id-1");
  expect(organizationWithout("id-1", home, "/")).toBe("~id-1");
});

it("the type in a URN is that of our resources in either form", () => {
  expect(typeIn(urn("a:b:C$irm:index:RoleBinding"))).toBe("RoleBinding");
  expect(typeIn(urn("irm:index:AccessPolicy"))).toBe("AccessPolicy");
  expect(() => typeIn("urn:other")).toThrow(TypeError);
});
