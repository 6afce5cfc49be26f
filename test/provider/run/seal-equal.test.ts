// What somebody makes or renames so that it looks like what a seal creates, and what an earlier run has really created.
import { describe, expect, test } from "vitest";
import { differencesBetween } from "../../../access/seal/differences.ts";
import type { SealContent } from "../../../access/seal/seal.ts";
import type { Json } from "../../../schema/index.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, claims, make, edit, makeIdentity, makeRole, bind, resource, binding, seal, up, apply } = sealedPlace();

const LISTS = "CAP_REPO_LIST";
const CREATES = "CAP_REPO_CREATE";
const role = (name: string, ...capabilities: string[]) => resource("role", name, { name, capabilities });
const uidOf = (name: string): string => at.stack.testbed.uid(STACK, name);
const differs = async (content: SealContent, program: Program): Promise<string[]> => {
  const now = (await at.stack.review(program, content)).seal;
  return differencesBetween(content, now).map(({ message }) => message);
};

describe("is not of the change", () => {
  test("an invite by hand with the role of the seal's invite: somebody else has its code", async () => {
    await apply([role("writer", LISTS)]);
    const program = [
      role("writer", LISTS, CREATES),
      resource("groupInvite", "invite", { role: ref("writer"), ttl: "3600s" }),
    ];
    const content = await seal(program);
    await make(`groupInvites/${at.home}`, { roleUid: uidOf("writer"), ttl: "3600s" });
    expect(await differs(content, program)).toContainEqual(expect.stringContaining("gains repo.create"));
    const { errors, writes } = await up(program);
    expect(errors).toEqual([
      expect.stringContaining(`would gain repo.create at ${at.homeName} (${at.home}), through writer`),
    ]);
    expect(writes).toEqual([]);
  });

  test("a group that is older than the review, and has the name of the new one now", async () => {
    const ann = await makeIdentity("ann");
    const core = await make(`groups/${at.home}`, { name: "core" });
    await apply([role("writer", LISTS)]);
    const program = [
      role("writer", LISTS, CREATES),
      resource("group", "team", { name: "team" }),
      resource("roleBinding", "has", { parent: ref("team"), identity: ann, role: ref("writer") }),
    ];
    const content = await seal(program);
    await bind(ann, uidOf("writer"), core);
    await edit(`groups/${core}?updateMask=name`, { name: "team" });
    expect(await differs(content, program)).toContainEqual(expect.stringContaining("ann gains repo.create"));
    const { errors, writes } = await up(program);
    expect(errors).toContainEqual(expect.stringContaining("ann would gain repo.create"));
    expect(writes).not.toContain("UpdateRole");
  });

  test.each(["as it is", "after a refresh"])(
    "a group that a run without the seal has adopted for its resource, %s",
    async (how) => {
      const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", LISTS)];
      const core = await make(`groups/${at.home}`, { name: "core" });
      const program = [
        resource("group", "team", { name: "team" }),
        resource("roleBinding", "has", { parent: ref("team"), identity: ann, role: reader }),
      ];
      const content = await seal(program);
      await apply([resource("group", "team", { name: "team", adopt: core })]);
      expect(await differs(content, program)).not.toEqual([]);
      const engine = at.stack.bound();
      if (how === "after a refresh") await engine.run("refresh");
      const { errors, writes } = await up(program, engine);
      expect(errors).not.toEqual([]);
      expect(writes).not.toContain("CreateRoleBinding");
    },
  );
});

test("an identity that a run without the seal has adopted is not replaced: its deletion would be refused", async () => {
  const core = await make(`groups/${at.home}`, { name: "core" });
  const old = await make(`identities/${core}`, { name: "next", claimMatch: claims("old") });
  const next = (inputs: Json): Program[number] =>
    resource("identity", "next", { ...{ name: "next", claimMatch: claims("next"), allowReplace: true }, ...inputs });
  const program = [next({})];
  await seal(program);
  await apply([next({ parent: core, adopt: old, deleteAdopted: true })]);
  const { errors, writes } = await up(program);
  expect(errors).toEqual([
    expect.stringContaining(`Identity next would be replaced, and the review does not show that ${old} goes`),
  ]);
  expect(writes).toEqual([]);
});

test("what an earlier run of the change has taken by a narrower role is given back", async () => {
  const ann = await makeIdentity("ann");
  const creator = await makeRole("creator", CREATES);
  const has = binding("has", ann, ref("writer"));
  await apply([role("writer", LISTS, CREATES), has]);
  const begun = [role("writer", LISTS), has];
  const program = [...begun, binding("creates", ann, creator)];
  const content = await seal(program);
  expect((await up(begun)).errors).toEqual([]);
  expect(await differs(content, program)).toEqual([]);
  expect(await up(program)).toEqual({ errors: [], writes: ["CreateRoleBinding"] });
});

test("a record that another run has put in place of the one of the seal is not replaced", async () => {
  const other = resource("group", "other", { name: "other" });
  const next = (parent: unknown, subject: string): Program[number] =>
    resource("identity", "next", { ...{ parent, name: "next", claimMatch: claims(subject), allowReplace: true } });
  const program = [other, next(at.home, "next"), binding("has", ref("next"), at.viewer)];
  const content = await seal(program);
  expect((await up(program)).errors).toEqual([]);
  await apply([other, next(ref("other"), "somebody else"), ...program.slice(2)]);
  const now = uidOf("next");
  expect(await differs(content, program)).toContainEqual(
    `identity ${now} would be deleted, which the seal does not show`,
  );
  const { errors, writes } = await up(program);
  expect(errors).toEqual([
    expect.stringContaining(`Identity next would be replaced, and the review does not show that ${now} goes`),
  ]);
  expect(writes).toEqual([]);
});

test("a role binding of a set that is gone by hand is granted again by no seal, also if it would bring no row", async () => {
  const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
  const team = resource("group", "team", { name: "team" });
  const set = (...identities: string[]) =>
    resource("roleBindingSet", "all", {
      parent: ref("team"),
      bindings: identities.map((identity) => ({ identity, role: at.viewer })),
    });
  await apply([team, set(ann)]);
  const program = [team, set(ann, bob)];
  const content = await seal(program);
  await bind(ann, at.viewer);
  const { roleBindings } = await at.stack.testbed.call("GET", `${IAM}/roleBindings?uidp.childrenOf=${uidOf("team")}`);
  const [own] = roleBindings as { uid: string }[];
  await at.stack.testbed.call("DELETE", `${IAM}/roleBindings/${own?.uid}`);
  expect(await differs(content, program)).toEqual([
    `viewer for ann at team (${uidOf("team")}) would be granted: this is not in the seal`,
  ]);
  const { errors } = await up(program);
  expect(errors).toEqual([expect.stringContaining("viewer for ann at team would be granted")]);
});

test("a role binding of the change that is moved by hand to another identity is named", async () => {
  const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
  const [reader, lister] = [await makeRole("reader", LISTS), await makeRole("lister", LISTS)];
  await bind(ann, lister);
  await apply([binding("has", ann, reader)]);
  const program = [role("fresh", LISTS, CREATES), binding("has", ann, ref("fresh"))];
  const content = await seal(program);
  expect((await up(program)).errors).toEqual([]);
  expect(await differs(content, program)).toEqual([]);
  await edit(`roleBindings/${uidOf("has")}?updateMask=identityUid`, { identityUid: bob });
  expect(await differs(content, program)).toContainEqual(
    expect.stringContaining("grants something else than in the seal"),
  );
});

test("a role of the change that is renamed by hand gives the same", async () => {
  const program = [role("writer", LISTS, CREATES), binding("has", await makeIdentity("ann"), ref("writer"))];
  await apply([role("writer", LISTS), ...program.slice(1)]);
  const content = await seal(program);
  expect((await up(program)).errors).toEqual([]);
  await edit(`roles/${uidOf("writer")}?updateMask=name`, { name: "renamed" });
  expect(await differs(content, program)).toEqual([]);
});

test("several identity providers, side by side, know their mappings of an earlier run", async () => {
  const { organization } = at.stack.testbed;
  const names = ["one", "two", "three", "four"].map((name) => `${at.homeName}-${name}`);
  const oidc = (issuer: string) => ({ issuer: `https://${issuer}.example`, clientId: "people", pkceEnabled: true });
  const people = new Map<string, string>();
  for (const name of names)
    people.set(
      name,
      await make(`identityProviders/${organization}`, { name, oidc: oidc(name), defaultRole: at.viewer }),
    );
  const adopting = (prefix: string): Program =>
    names.map((name) =>
      resource("identityProvider", name, {
        ...{
          parent: organization,
          name,
          oidc: oidc(`${prefix}${name}`),
          defaultRole: at.viewer,
          adopt: people.get(name),
        },
      }),
    );
  const others = names.flatMap(
    (name): Program => [
      resource("role", `role-${name}`, { parent: organization, name: `role-${name}`, capabilities: [CREATES] }),
      resource("externalGroupRoleMapping", `admins-${name}`, {
        ...{ parent: ref(name), externalGroupId: "admins", role: ref(`role-${name}`), scope: organization },
      }),
    ],
  );
  await apply(adopting(""));
  const program = [...adopting("other-"), ...others];
  await seal(program);
  expect((await up([...adopting(""), ...others])).errors).toEqual([]);
  expect((await up(program)).errors).toEqual([]);
});
