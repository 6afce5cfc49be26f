// A write under a seal is judged by what the API says now: what the seal has of another subject, or of another step, excuses nothing.
import { describe, expect, test } from "vitest";
import { differencesBetween } from "../../../access/seal/differences.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, make, edit, claims, makeIdentity, makeRole, bind, resource, binding, seal, sent, up, apply, refusal } =
  sealedPlace();

const CREATES = "CAP_REPO_CREATE";
const LISTS = "CAP_REPO_LIST";
const role = (name: string, ...capabilities: string[]) => resource("role", name, { name, capabilities });
const oidc = (issuer: string) => ({ issuer, clientId: "people", pkceEnabled: true });
const uidOf = (name: string): string => at.stack.testbed.uid(STACK, name);
const provider = (name: string, issuer: string): Program[number] =>
  resource("identityProvider", name, {
    parent: at.stack.testbed.organization,
    ...{ name, oidc: oidc(issuer), defaultRole: at.viewer },
  });
const makeProvider = (name: string, defaultRole: string): Promise<string> =>
  make(`identityProviders/${at.stack.testbed.organization}`, {
    ...{ name, oidc: oidc(`https://${name}.example`), defaultRole },
  });
/** A role of the whole organization, which an identity provider may give. */
const wideRole = (name: string, ...capabilities: string[]): Program[number] =>
  resource("role", name, { parent: at.stack.testbed.organization, name, capabilities });

describe("people", () => {
  test("of an identity provider that the seal has with another role do not get what its role of today gains", async () => {
    const people = await makeProvider("known", at.viewer);
    await apply([wideRole("deployer", LISTS)]);
    const program = [
      wideRole("deployer", LISTS, CREATES),
      resource("externalGroupRoleMapping", "admins", {
        ...{ parent: people, externalGroupId: "admins", role: at.viewer, scope: at.stack.testbed.organization },
      }),
    ];
    await seal(program);
    await edit(`identityProviders/${people}?updateMask=defaultRole`, { defaultRole: uidOf("deployer") });
    const { errors, writes } = await up(program);
    expect(errors).toEqual([
      refusal(`people of known would gain repo.create at dev (${at.stack.testbed.organization}), through deployer`),
    ]);
    expect(writes).toEqual(["CreateExternalGroupRoleMapping"]);
  });

  test("who sign in elsewhere do not get a role that the seal gives to somebody else", async () => {
    await apply([provider("sso", "https://people.example")]);
    const program = [provider("sso", "https://others.example"), binding("owns", await makeIdentity("ann"), at.owner)];
    await seal(program);
    await edit(`identityProviders/${uidOf("sso")}?updateMask=defaultRole`, { defaultRole: at.owner });
    const { errors, writes } = await up(program);
    expect(errors).toEqual([
      expect.stringContaining(
        `people of sso would hold role_bindings.create at dev (${at.stack.testbed.organization}), through owner`,
      ),
    ]);
    expect(writes).toEqual(["CreateRoleBinding"]);
  });

  test("lose no more than the seal shows", async () => {
    const { organization } = at.stack.testbed;
    const reader = await make(`roles/${organization}`, { name: "narrow", capabilities: [LISTS] });
    const parent = await makeProvider("losing", at.viewer);
    await apply([
      resource("externalGroupRoleMapping", "admins", {
        ...{ parent, externalGroupId: "admins", role: reader, scope: organization },
      }),
      resource("groupInvite", "invite", { role: reader, ttl: "3600s" }),
    ]);
    await seal([]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: [LISTS, CREATES] });
    const { errors, writes } = await up([]);
    expect(errors.toSorted()).toEqual([
      expect.stringContaining(
        `external group admins would lose repo.create at dev (${at.stack.testbed.organization}), through narrow`,
      ),
      expect.stringContaining(`would lose repo.create at ${at.homeName} (${at.home}), through narrow`),
    ]);
    expect(writes).toEqual([]);
  });

  test.each([403, 404, 501])("whose list is answered with %i are not none", async (status) => {
    const name = `sso-${status}`;
    await apply([provider(name, "https://people.example")]);
    const program = [provider(name, "https://others.example")];
    await seal(program);
    const { faults } = at.stack.testbed.server;
    const failing = await sent(() => {
      faults?.set({ rules: [{ operation: "ListExternalGroupRoleMappings", steps: [{ status }], repeat: true }] });
      return at.stack.bound().run("up", program);
    });
    expect(failing).toEqual({
      errors: [expect.stringContaining("the list of external group role mappings cannot be read")],
      writes: [],
    });
    expect((await up(program)).errors).toEqual([]);
  });

  test("whom somebody adds to an identity provider that is adopted refuse nothing", async () => {
    const people = await makeProvider("adopted", at.viewer);
    const adopted = provider("adopted", "https://adopted.example");
    const program = [{ ...adopted, inputs: { ...adopted.inputs, adopt: people } }];
    await seal(program);
    await make(`externalGroupRoleMappings/${people}`, {
      ...{ externalGroupId: "late", roleUid: at.viewer, scope: at.stack.testbed.organization },
    });
    expect(await up(program)).toEqual({ errors: [], writes: [] });
  });
});

test("an identity that loses a role does not gain what that role gains before: irm verify and the update say so", async () => {
  const ann = await makeIdentity("ann");
  await bind(ann, await makeRole("lister", LISTS));
  const reader = await makeRole("reader", LISTS);
  await apply([role("writer", LISTS), binding("has", ann, reader)]);
  const program = [role("writer", LISTS, CREATES)];
  const content = await seal(program);
  await edit(`roleBindings/${uidOf("has")}?updateMask=roleUid`, { roleUid: uidOf("writer") });
  const now = (await at.stack.review(program)).seal;
  expect(differencesBetween(content, now).map(({ what, message }) => [what, message])).toEqual([
    ["row", `ann may hold repo.create at ${at.homeName} while the update runs: this is not in the seal`],
  ]);
  const { errors } = await up(program);
  expect(errors).toEqual([refusal(`ann would gain repo.create at ${at.homeName} (${at.home}), through writer`)]);
});

test("what the seal takes and gives again is not taken once the role that gives it grants less", async () => {
  const ann = await makeIdentity("ann");
  const reader = await makeRole("reader", LISTS, "CAP_TAG_LIST");
  await apply([binding("had", ann, await makeRole("lister", LISTS))]);
  const program = [binding("has", ann, reader)];
  await seal(program);
  const narrow = (...capabilities: string[]) =>
    edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_TAG_LIST", ...capabilities] });
  await narrow();
  const loses = refusal(`ann would lose repo.list at ${at.homeName} (${at.home}), through lister`);
  expect(await up(program)).toEqual({ errors: [loses], writes: ["CreateRoleBinding"] });
  await narrow(LISTS);
  expect(await up(program)).toEqual({ errors: [], writes: ["DeleteRoleBinding"] });
});

test("a role counts as the run itself has changed it: an identity that lost it elsewhere does not get all of it", async () => {
  const ann = await makeIdentity("ann");
  const writer = await makeRole("writer", LISTS, CREATES);
  const own = await bind(ann, await makeRole("maker", CREATES));
  const adopting = resource("role", "writer", { name: "writer", capabilities: [LISTS, CREATES], adopt: writer });
  // The invite is created first, and the run has read the role by then.
  const invite = resource("groupInvite", "invite", { role: writer, ttl: "3600s" });
  const program = [
    invite,
    { ...adopting, inputs: { ...adopting.inputs, description: ref("invite") } },
    binding("has", ann, ref("writer")),
  ];
  await seal(program);
  // By hand: the update gives the role back what it had, and ann no longer has that by another role.
  await edit(`roles/${writer}?updateMask=capabilities`, { capabilities: [LISTS] });
  await at.stack.testbed.call("DELETE", `${IAM}/roleBindings/${own}`);
  expect(await up(program)).toEqual({
    errors: [refusal(`ann would gain repo.create at ${at.homeName} (${at.home}), through writer`)],
    writes: ["CreateGroupInvite", "UpdateRole"],
  });
});

test("a run takes back what an earlier run under the seal has given in between", async () => {
  const bound = binding("ann", await makeIdentity("ann"), ref("writer"));
  await apply([role("writer", LISTS), bound]);
  const wider = role("writer", LISTS, CREATES);
  await seal([wider]);
  // As a run that is killed after its first step.
  expect(await up([wider, bound])).toEqual({ errors: [], writes: ["UpdateRole"] });
  expect(await up([wider])).toEqual({ errors: [], writes: ["DeleteRoleBinding"] });
});

test("a run takes back what an earlier one has given by a role binding that only the engine's state has", async () => {
  const ann = await makeIdentity("ann");
  const wide = role("writer", LISTS, CREATES);
  await apply([wide]);
  const bound = binding("has", ann, ref("writer"));
  const program = [role("writer", LISTS), bound];
  await seal(program);
  // As a run that is killed after its first step.
  expect((await up([wide, bound])).writes).toEqual(["CreateRoleBinding"]);
  expect(await up(program)).toEqual({ errors: [], writes: ["UpdateRole"] });
});

test("a run knows the mapping that an earlier one has created, and that only the engine's state has", async () => {
  const people = await makeProvider("joint", at.viewer);
  const adopting = (issuer: string): Program[number] => {
    const own = provider("joint", issuer);
    return { ...own, inputs: { ...own.inputs, adopt: people } };
  };
  const others = [
    wideRole("mapped", CREATES),
    resource("externalGroupRoleMapping", "admins", {
      ...{ parent: ref("joint"), externalGroupId: "admins", role: ref("mapped") },
      scope: at.stack.testbed.organization,
    }),
  ];
  await apply([adopting("https://joint.example")]);
  const program = [adopting("https://other.example"), ...others];
  await seal(program);
  // As a run that is killed after two of its steps.
  expect(await up([adopting("https://joint.example"), ...others])).toEqual({
    errors: [],
    writes: ["CreateExternalGroupRoleMapping", "CreateRole"],
  });
  expect(await up(program)).toEqual({ errors: [], writes: ["UpdateIdentityProvider"] });
});

test("what somebody has granted, and the change would give for a moment only, is not taken", async () => {
  const ann = await makeIdentity("ann");
  await apply([role("writer", LISTS, CREATES)]);
  const program = [role("writer", LISTS), binding("has", ann, ref("writer"))];
  await seal(program);
  const own = await bind(ann, uidOf("writer"));
  expect((await up(program)).errors).toEqual([
    refusal(`ann would lose repo.create at ${at.homeName} (${at.home}), through writer`),
  ]);
  await at.stack.testbed.call("DELETE", `${IAM}/roleBindings/${own}`);
  expect((await up(program)).errors).toEqual([]);
});

describe("a record that an earlier run under the seal has created", () => {
  const secondRun = async (program: Program) => {
    const engine = at.stack.bound();
    await engine.run("refresh");
    return up(program, engine);
  };

  test("is a role that was narrowed and bound by hand: its holder does not get back what the seal gives to others", async () => {
    const bob = await makeIdentity("bob");
    const program = [role("fresh", LISTS, CREATES)];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    await edit(`roles/${uidOf("fresh")}?updateMask=capabilities`, { capabilities: [LISTS] });
    await bind(bob, uidOf("fresh"));
    expect(await secondRun(program)).toEqual({
      errors: [refusal(`identity ${bob} "bob" would gain repo.create at ${at.homeName} (${at.home}), through fresh`)],
      writes: [],
    });
  });

  test("is a role that an identity provider gives by hand", async () => {
    const program = [wideRole("signs", LISTS, CREATES)];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    await edit(`roles/${uidOf("signs")}?updateMask=capabilities`, { capabilities: [LISTS] });
    await makeProvider("late", uidOf("signs"));
    expect(await secondRun(program)).toEqual({
      errors: [
        refusal(`people of late would gain repo.create at dev (${at.stack.testbed.organization}), through signs`),
      ],
      writes: [],
    });
  });

  test("is an identity that was bound by hand to a role that the run widens", async () => {
    await apply([role("reader", LISTS)]);
    const program = [
      role("reader", LISTS, CREATES),
      resource("identity", "new", { name: "new", claimMatch: claims("new") }),
    ];
    await seal(program);
    const own = await bind(await makeIdentity("eve"), uidOf("reader"));
    expect((await up(program)).errors).toEqual([
      expect.stringContaining(`would gain repo.create at ${at.homeName} (${at.home}), through reader`),
    ]);
    await at.stack.testbed.call("DELETE", `${IAM}/roleBindings/${own}`);
    await bind(uidOf("new"), uidOf("reader"));
    expect(await secondRun(program)).toEqual({
      errors: [refusal(`new would gain repo.create at ${at.homeName} (${at.home}), through reader`)],
      writes: [],
    });
  });

  test("is a role binding that was narrowed by hand: it is as the seal says again", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", LISTS, CREATES)];
    const program = [binding("has", ann, reader)];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    await edit(`roleBindings/${uidOf("has")}?updateMask=roleUid`, { roleUid: await makeRole("lister", LISTS) });
    expect(await secondRun(program)).toEqual({ errors: [], writes: ["UpdateRoleBinding"] });
  });

  test("is an identity that is bound by hand between two requests of one run", async () => {
    await apply([role("reader", LISTS)]);
    const reader = uidOf("reader");
    const wide = resource("role", "reader", {
      name: "reader",
      capabilities: [LISTS, CREATES],
      description: ref("new"),
    });
    const program = [resource("identity", "new", { name: "new", claimMatch: claims("new") }), wide];
    await seal(program);
    let isBound = false;
    const atPoint = async (point: string, method: string): Promise<void> => {
      if (isBound || point !== "after reply" || method !== "POST") return;
      const found = await at.stack.testbed.call("GET", `${IAM}/identities?uidp.childrenOf=${at.home}`);
      const [made] = (found.identities ?? []) as { uid: string }[];
      if (!made) return;
      isBound = true;
      await bind(made.uid, reader);
    };
    const { errors } = await at.stack.bound().run("up", program, { atPoint });
    expect({ isBound, errors }).toEqual({
      isBound: true,
      errors: [refusal(`new would gain repo.create at ${at.homeName} (${at.home}), through reader`)],
    });
  });
});
