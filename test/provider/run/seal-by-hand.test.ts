// A run under a seal, after somebody has changed by hand what the review rests on: the provider refuses before it sends anything.
import { describe, expect, test } from "vitest";
import { workloadToken } from "../../harness/provider.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, make, edit, claims, makeIdentity, makeRole, bind, resource, binding, seal, up, apply, refusal } =
  sealedPlace();

describe("a row that rests on what somebody has changed by hand is refused", () => {
  test("capabilities of a role that exists", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST")];
    await seal([binding("reads", ann, reader)]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    const first = await up([binding("reads", ann, reader)]);
    expect(first.errors).toEqual([
      refusal(`ann would gain repo.create at ${at.homeName} (${at.home}), through reader`),
    ]);
    expect(first.writes).toEqual([]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    expect(await up([binding("reads", ann, reader)])).toEqual({ errors: [], writes: ["CreateRoleBinding"] });
  });

  test("who can assume the identity", async () => {
    const ann = await makeIdentity("ann");
    await seal([binding("reads", ann, at.viewer)]);
    await edit(`identities/${ann}?updateMask=claimMatch`, { claimMatch: claims("eve") });
    expect(await up([binding("reads", ann, at.viewer)])).toEqual({
      errors: [refusal("who can assume ann is not what the review shows")],
      writes: [],
    });
  });

  test("what an identity holds that another workload is to assume", async () => {
    const ann = resource("identity", "ann", { name: "ann", claimMatch: claims("ann") });
    await apply([ann]);
    const changed = { ...ann, inputs: { ...ann.inputs, claimMatch: claims("eve") } };
    await seal([changed]);
    const own = await bind(at.stack.testbed.uid(STACK, "ann"), await makeRole("maker", "CAP_REPO_CREATE"));
    expect(await up([changed])).toEqual({
      errors: [
        refusal(`ann holds repo.create at ${at.homeName} (${at.home}), through maker, which the review does not show`),
      ],
      writes: [],
    });
    await at.stack.testbed.call("DELETE", `${IAM}/roleBindings/${own}`);
    expect((await up([changed])).errors).toEqual([]);
  });

  test.each(["identity", "role"] as const)("the %s of a role binding whose other half changes", async (half) => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const [reader, maker] = [await makeRole("reader", "CAP_REPO_LIST"), await makeRole("maker", "CAP_REPO_CREATE")];
    await apply([binding("has", ann, reader)]);
    // The update sends the half that changes alone.
    const changed = half === "identity" ? binding("has", ann, maker) : binding("has", bob, reader);
    await seal([changed]);
    const uid = at.stack.testbed.uid(STACK, "has");
    await (half === "identity"
      ? edit(`roleBindings/${uid}?updateMask=identityUid`, { identityUid: bob })
      : edit(`roleBindings/${uid}?updateMask=roleUid`, { roleUid: at.owner }));
    const { errors, writes } = await up([changed]);
    expect(errors).toEqual([
      refusal(`${half === "identity" ? "maker for bob" : "owner for bob"} at ${at.homeName} would be granted`),
    ]);
    expect(writes).toEqual([]);
  });

  test("between two attempts of one request", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST")];
    const program = [binding("reads", ann, reader)];
    await seal(program);
    const { faults } = at.stack.testbed.server;
    faults?.set({ rules: [{ operation: "CreateRoleBinding", steps: [{ status: 503 }] }] });
    let isEdited = false;
    const atPoint = async (point: string, method: string): Promise<void> => {
      if (point !== "after reply" || method !== "POST" || isEdited) return;
      isEdited = true;
      await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    };
    const { errors } = await at.stack.bound().run("up", program, { atPoint });
    expect(isEdited).toBe(true);
    expect(errors).toEqual([refusal(`ann would gain repo.create at ${at.homeName} (${at.home}), through reader`)]);
  });

  test("what the caller may not list any more", async () => {
    const applier = await make(`identities/${at.home}`, {
      name: "applier",
      claimMatch: { issuer: at.stack.testbed.server.issuer, subject: "applier" },
    });
    const writer = await makeRole(
      "writer",
      "CAP_IAM_ROLES_UPDATE",
      "CAP_IAM_ROLES_LIST",
      "CAP_REPO_LIST",
      "CAP_REPO_CREATE",
    );
    await bind(applier, writer);
    const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    await apply([reader]);
    const changed = { ...reader, inputs: { ...reader.inputs, capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST"] } };
    await seal([changed]);
    const token = await workloadToken(at.stack.testbed.server, "applier");
    const { errors, writes } = await up(
      [changed],
      at.stack.bound({ IRM_IDENTITY: applier, IRM_IDENTITY_TOKEN: token }),
    );
    expect(errors).toEqual([refusal(`the role bindings of group ${at.home} cannot be listed`)]);
    expect(writes).toEqual([]);
  });

  test("what the identity gains that takes a role binding over from another one, and what that one loses", async () => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const reader = await makeRole("reader", "CAP_REPO_LIST");
    await apply([binding("has", ann, reader)]);
    await seal([binding("has", bob, reader)]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    expect((await up([binding("has", bob, reader)])).errors).toEqual([
      refusal(
        `bob would gain repo.create at ${at.homeName} (${at.home}), through reader`,
        `ann would lose repo.create at ${at.homeName} (${at.home}), through reader`,
      ),
    ]);
  });

  test("who holds a role that changes", async () => {
    const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    await apply([reader]);
    const changed = { ...reader, inputs: { ...reader.inputs, capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST"] } };
    await seal([changed]);
    await bind(await makeIdentity("ann"), at.stack.testbed.uid(STACK, "reader"));
    const { errors, writes } = await up([changed]);
    expect(errors).toEqual([
      expect.stringMatching(/- identity \S+ "ann" would gain repo\.create at home-\d+ \(\S+\), through reader\n/),
    ]);
    expect(writes).toEqual([]);
  });

  test("what an adopted role granted, and was taken from it by hand", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST", "CAP_REPO_CREATE")];
    await bind(ann, reader);
    const adopting = [
      resource("role", "reader", {
        ...{ name: "reader", capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST"], adopt: reader },
      }),
    ];
    await seal(adopting);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    expect(await up(adopting)).toEqual({
      errors: [refusal(`ann would gain repo.create at ${at.homeName} (${at.home}), through reader`)],
      writes: [],
    });
  });

  test("who owns the group of a record that is adopted, and the group itself", async () => {
    const inner = await make(`groups/${at.home}`, { name: "inner" });
    const program = [resource("group", "inner", { name: "inner", adopt: inner })];
    await seal(program);
    const eve = await makeIdentity("eve");
    await bind(eve, at.owner, inner);
    expect((await up(program)).errors).toEqual([
      refusal(
        `identity ${eve} "eve" may give access where group ${inner} "inner" is, and could not when it was reviewed`,
      ),
    ]);
  });

  test("the roles that other people get where they sign in elsewhere", async () => {
    const { organization } = at.stack.testbed;
    const [reader, maker] = await Promise.all(
      ["reader", "maker"].map((name) => make(`roles/${organization}`, { name, capabilities: ["CAP_REPO_LIST"] })),
    );
    const oidc = (issuer: string) => ({ issuer, clientId: "people", pkceEnabled: true });
    const declared = (issuer: string): Program => [
      resource("identityProvider", "sso", {
        parent: organization,
        name: "sso",
        oidc: oidc(issuer),
        defaultRole: reader,
      }),
      resource("externalGroupRoleMapping", "admins", {
        ...{ parent: ref("sso"), externalGroupId: "admins", role: maker, scope: organization },
      }),
    ];
    await apply(declared("https://people.example"));
    const changed = declared("https://others.example");
    await seal(changed);
    for (const role of [reader, maker]) {
      await edit(`roles/${role}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] });
      const { errors, writes } = await up(changed);
      expect(errors).toEqual([
        refusal(
          `${role === reader ? "people of sso" : "external group admins"} would hold tag.create at dev (${at.stack.testbed.organization}), through ${
            role === reader ? "reader" : "maker"
          }, which the review does not show`,
        ),
      ]);
      expect(writes).toEqual([]);
      await edit(`roles/${role}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    }
    expect((await up(changed)).errors).toEqual([]);
  });

  test("the people of an identity provider, and the roles that they and invites give", async () => {
    const { organization } = at.stack.testbed;
    const reader = await make(`roles/${organization}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    const oidc = { issuer: "https://people.example", clientId: "people", pkceEnabled: true };
    const people = await make(`identityProviders/${organization}`, { name: "people", oidc, defaultRole: at.viewer });
    const program: Program = [
      resource("groupInvite", "invite", { role: reader, ttl: "3600s" }),
      resource("externalGroupRoleMapping", "admins", {
        ...{ parent: people, externalGroupId: "admins", role: reader, scope: organization },
      }),
      resource("identityProvider", "others", { parent: organization, name: "others", oidc, defaultRole: reader }),
    ];
    await seal(program);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    const { errors, writes } = await up(program);
    expect(errors.toSorted()).toEqual([
      refusal(`external group admins would gain repo.create at dev (${at.stack.testbed.organization}), through reader`),
      refusal(`the people of the invite would gain repo.create at ${at.homeName} (${at.home}), through reader`),
      refusal(`people of others would gain repo.create at dev (${at.stack.testbed.organization}), through reader`),
    ]);
    expect(writes).toEqual([]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    await edit(`identityProviders/${people}?updateMask=oidc`, { oidc: { ...oidc, clientId: "others" } });
    expect((await up(program)).errors).toEqual([
      refusal("where the people of people sign in is not what the review shows"),
    ]);
  });

  test("records in a group that forceDestroy empties: none of them is deleted", async () => {
    const legacy = resource("group", "legacy", { name: "legacy", forceDestroy: true });
    await apply([legacy]);
    const uid = at.stack.testbed.uid(STACK, "legacy");
    const shown = await make(`groups/${uid}`, { name: "shown" });
    await seal([]);
    const added = await make(`groups/${uid}`, { name: "added" });
    const { errors, writes } = await up([]);
    expect(errors).toEqual([expect.stringContaining(`group ${added} would be deleted`)]);
    // Those of the group itself, which the API refuses.
    expect(new Set(writes)).toEqual(new Set(["DeleteGroup"]));
    expect((await at.stack.testbed.records()).has(shown)).toBe(true);
    await at.stack.testbed.call("DELETE", `${IAM}/groups/${added}`);
    expect((await up([])).errors).toEqual([]);
  });
});

describe("what people do by hand beside the change refuses nothing", () => {
  test("an identity gets by hand a role that the change takes from another one", async () => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const [reader, writer] = [await makeRole("reader", "CAP_REPO_LIST"), await makeRole("writer", "CAP_REPO_UPDATE")];
    const own = await bind(ann, reader);
    await apply([binding("writes", bob, writer)]);
    const program = [binding("invites", ann, await makeRole("inviter", "CAP_IAM_GROUP_INVITES_CREATE"))];
    await seal(program);
    await edit(`roleBindings/${own}?updateMask=roleUid`, { roleUid: writer });
    expect(await up(program)).toEqual({ errors: [], writes: ["CreateRoleBinding", "DeleteRoleBinding"] });
  });
});
