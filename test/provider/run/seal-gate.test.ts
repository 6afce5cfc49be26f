// A run under a seal: what the provider refuses, before it sends anything, and what it does not refuse (docs/sealing.md).
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { digestOf, type SealContent } from "../../../access/seal/seal.ts";
import { parseConfig } from "../../../client/config.ts";
import type { Json } from "../../../schema/index.ts";
import { workloadToken } from "../../harness/provider.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import type { Engine } from "../../harness/small-engine/run.ts";
import { openSealed, type Sealed, STACK } from "../../harness/small-engine/sealed.ts";

const IAM = "/iam/v2beta1";
const CREATES_AND_MORE = /^(Create|Update|Delete|Batch)/;

let stack: Sealed;
let viewer: string;
let owner: string;
/** a group of its own for each test */
let home: string;
let count = 0;

beforeAll(async () => {
  stack = await openSealed("dynamic", { speed: 20 });
  viewer = await builtIn("viewer");
  owner = await builtIn("owner");
});
afterAll(() => stack.close());
beforeEach(async () => {
  for (const file of ["seal.state.json", "seal.journal", "seal.json"])
    rmSync(join(stack.testbed.folder, file), { recursive: true, force: true });
  count += 1;
  home = await make(`groups/${stack.testbed.home}`, { name: `home-${count}` });
});

const builtIn = async (name: string): Promise<string> => {
  const { roles } = await stack.testbed.call("GET", `${IAM}/roles?name=${name}&uidp.inRoot=true`);
  return (roles as { uid: string }[])[0]?.uid as string;
};
const make = async (path: string, body: Json): Promise<string> =>
  (await stack.testbed.call("POST", `${IAM}/${path}`, body)).uid as string;
const edit = (path: string, body: Json): Promise<Json> => stack.testbed.call("PATCH", `${IAM}/${path}`, body);
const claims = (subject: string): Json => ({ issuer: "https://issuer.example.com", subject });
const makeIdentity = (name: string): Promise<string> => make(`identities/${home}`, { name, claimMatch: claims(name) });
const makeRole = (name: string, ...capabilities: string[]): Promise<string> =>
  make(`roles/${home}`, { name, capabilities });
const bind = (identityUid: string, roleUid: string, group = home): Promise<string> =>
  make(`roleBindings/${group}`, { identityUid, roleUid });

const resource = (kind: Program[number]["kind"], name: string, inputs: Json): Program[number] => ({
  ...{ kind, name },
  inputs: { parent: home, ...inputs },
});
const binding = (name: string, identity: unknown, role: unknown): Program[number] =>
  resource("roleBinding", name, { identity, role });

/** The content of the seal that is written. */
const seal = async (program: Program): Promise<SealContent> => {
  const { seal: content } = await stack.review(program);
  stack.write(content);
  return content;
};
const sent = async (work: () => Promise<{ errors: string[] }>): Promise<{ errors: string[]; writes: string[] }> => {
  const { faults } = stack.testbed.server;
  faults?.set({});
  const { errors } = await work();
  const writes = faults?.attempts().flatMap(({ operation }) => (CREATES_AND_MORE.test(operation) ? operation : []));
  return { errors, writes: (writes ?? []).toSorted() };
};
const up = (program: Program, engine: Engine = stack.bound()) => sent(() => engine.run("up", program));
/** Without a seal. */
const apply = async (program: Program): Promise<void> => {
  expect((await up(program, stack.engine)).errors).toEqual([]);
};
const refusal = (...lines: string[]): unknown =>
  expect.stringContaining(
    [`the seal ${stack.file} does not contain this, and nothing is sent:`, ...lines].join("\n  - "),
  );

describe("a run that its seal does not bind is refused whole", () => {
  const program = (): Program => [resource("group", "team", { name: "team" })];
  const refused = async (env: Record<string, string>, reason: string): Promise<void> => {
    const { errors, writes } = await up(program(), stack.testbed.engine(STACK, { env }));
    expect(errors).toEqual([expect.stringContaining(`IRM_SEAL: this run is refused, and nothing is sent: ${reason}`)]);
    expect(errors[0]).toContain("docs/recovery.md#seal");
    expect(writes).toEqual([]);
  };

  test("without its file, and without a seal where one is required", async () => {
    await refused(
      { IRM_SEAL: "/nowhere/seal.json" },
      "the seal /nowhere/seal.json cannot be read: there is no file /nowhere/seal.json",
    );
    await refused({ IRM_SEAL_REQUIRED: "1" }, "it has no seal, and IRM_SEAL_REQUIRED is set: set IRM_SEAL to its file");
    await refused({ IRM_SEAL_DIGEST: "sha256:0" }, "it has no seal, and IRM_SEAL_DIGEST is set");
    // A stack's configuration is part of the change.
    expect(
      parseConfig((key) => (key === "irm:seal" ? "mine.json" : undefined), { IRM_SEAL: "given.json" }, { keys: [] })
        .problems,
    ).toContainEqual(expect.stringContaining("irm:seal: is another file than"));
    await refused({ IRM_SEAL_REQUIRED: "yes" }, 'IRM_SEAL_REQUIRED is "yes"; it must be 1 or not set');
  });

  test("with another digest, another stack, another service or a date that is over", async () => {
    const content = await seal(program());
    const { digest } = JSON.parse(readFileSync(stack.file, "utf8")) as { digest: string };
    expect(digest).toBe(digestOf(content));
    const env = { IRM_SEAL: stack.file };
    await refused({ ...env, IRM_SEAL_DIGEST: "sha256:1" }, `the seal ${stack.file} has the digest ${digest}, and`);
    const { origin } = content;
    stack.write({ ...content, origin: { ...origin, stack: "faults/other" } });
    await refused(env, `the seal ${stack.file} is of stack faults/other, and this is another one`);
    stack.write({ ...content, origin: { ...origin, services: ["https://elsewhere.example"] } });
    await refused(env, `the seal ${stack.file} is of https://elsewhere.example, and this run is at http`);
    for (const expires of ["2020-01-01T00:00:00Z", "never"]) {
      stack.write({ ...content, origin: { ...origin, expires } });
      await refused(env, `the seal ${stack.file} expired at ${expires}`);
    }
    stack.write(content);
    const right = stack.bound({ IRM_SEAL_DIGEST: digest, IRM_SEAL_REQUIRED: "1" });
    expect(await up(program(), right)).toEqual({ errors: [], writes: ["CreateGroup"] });
  });

  test("with a file that was changed, or is none", async () => {
    await seal(program());
    writeFileSync(stack.file, readFileSync(stack.file, "utf8").replaceAll('"team"', '"teams"'));
    await refused({ IRM_SEAL: stack.file }, `the seal ${stack.file} was changed after it was written`);
    writeFileSync(stack.file, "{}");
    await refused({ IRM_SEAL: stack.file }, `the seal ${stack.file} is not a seal`);
    writeFileSync(stack.file, '{"seal": 2}');
    await refused({ IRM_SEAL: stack.file }, `the seal ${stack.file} is a seal of version 2`);
  });
});

describe("a step that the review does not show is refused", () => {
  test("a resource, an input and a create of what exists", async () => {
    const team = resource("group", "team", { name: "team", description: "as shown" });
    await seal([team]);
    const other = resource("group", "other", { name: "other" });
    const changed = { ...team, inputs: { ...team.inputs, description: "another one" } };
    const { errors, writes } = await up([changed, other]);
    expect(errors.toSorted()).toEqual([
      refusal("Group other is no resource that the review shows"),
      refusal("Group team: description is not what the review shows"),
    ]);
    expect(writes).toEqual([]);
    await apply([team]);
    await seal([team]);
    rmSync(stack.testbed.stateFile(STACK));
    expect((await up([team])).errors).toEqual([
      refusal("Group team would be created, and the review shows that it exists"),
    ]);
  });

  test("an update and a deletion of what stays", async () => {
    const team = resource("group", "team", { name: "team" });
    const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    await apply([team, reader]);
    await seal([team, reader]);
    await edit(`roles/${stack.testbed.uid(STACK, "reader")}?updateMask=capabilities`, {
      capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"],
    });
    const bound = stack.bound();
    await bound.run("refresh");
    const { errors, writes } = await up([reader], bound);
    expect(errors).toEqual([refusal(`role ${stack.testbed.uid(STACK, "reader")} would be changed`)]);
    expect(writes).toEqual([]);
    expect((await sent(() => bound.run("destroy"))).errors).toContainEqual(
      refusal(`group ${stack.testbed.uid(STACK, "team")} would be deleted`),
    );
  });

  test("the adoption of a record that the review does not name", async () => {
    const ann = await makeIdentity("ann");
    const declared = (adopt?: string) =>
      resource("identity", "ann", { name: "ann", claimMatch: claims("ann"), ...(adopt && { adopt }) });
    await seal([declared(ann)]);
    const twin = await makeIdentity("ann");
    expect((await up([declared(twin)])).errors).toEqual([refusal("Identity ann: adopt is not what the review shows")]);
    expect((await up([declared(ann)])).errors).toEqual([]);
  });
});

describe("a row that rests on what somebody has changed by hand is refused", () => {
  test("capabilities of a role that exists", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST")];
    await seal([binding("reads", ann, reader)]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    const first = await up([binding("reads", ann, reader)]);
    expect(first.errors).toEqual([refusal(`ann would gain repo.create at home-${count}, through reader`)]);
    expect(first.writes).toEqual([]);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    expect(await up([binding("reads", ann, reader)])).toEqual({ errors: [], writes: ["CreateRoleBinding"] });
  });

  test("who can assume the identity", async () => {
    const ann = await makeIdentity("ann");
    await seal([binding("reads", ann, viewer)]);
    await edit(`identities/${ann}?updateMask=claimMatch`, { claimMatch: claims("eve") });
    expect(await up([binding("reads", ann, viewer)])).toEqual({
      errors: [refusal("who can assume ann is not what the review shows")],
      writes: [],
    });
  });

  test("what an identity holds that another workload is to assume", async () => {
    const ann = resource("identity", "ann", { name: "ann", claimMatch: claims("ann") });
    await apply([ann]);
    const changed = { ...ann, inputs: { ...ann.inputs, claimMatch: claims("eve") } };
    await seal([changed]);
    const own = await bind(stack.testbed.uid(STACK, "ann"), await makeRole("maker", "CAP_REPO_CREATE"));
    expect(await up([changed])).toEqual({
      errors: [refusal(`ann holds repo.create at home-${count}, through maker, which the review does not show`)],
      writes: [],
    });
    await stack.testbed.call("DELETE", `${IAM}/roleBindings/${own}`);
    expect((await up([changed])).errors).toEqual([]);
  });

  test.each(["identity", "role"] as const)("the %s of a role binding whose other half changes", async (half) => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const [reader, maker] = [await makeRole("reader", "CAP_REPO_LIST"), await makeRole("maker", "CAP_REPO_CREATE")];
    await apply([binding("has", ann, reader)]);
    // The update sends the half that changes alone.
    const changed = half === "identity" ? binding("has", ann, maker) : binding("has", bob, reader);
    await seal([changed]);
    const uid = stack.testbed.uid(STACK, "has");
    await (half === "identity"
      ? edit(`roleBindings/${uid}?updateMask=identityUid`, { identityUid: bob })
      : edit(`roleBindings/${uid}?updateMask=roleUid`, { roleUid: owner }));
    const { errors, writes } = await up([changed]);
    expect(errors).toEqual([
      refusal(`${half === "identity" ? "maker for bob" : "owner for bob"} at home-${count} would be granted`),
    ]);
    expect(writes).toEqual([]);
  });

  test("between two attempts of one request", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST")];
    const program = [binding("reads", ann, reader)];
    await seal(program);
    const { faults } = stack.testbed.server;
    faults?.set({ rules: [{ operation: "CreateRoleBinding", steps: [{ status: 503 }] }] });
    let isEdited = false;
    const atPoint = async (point: string, method: string): Promise<void> => {
      if (point !== "after reply" || method !== "POST" || isEdited) return;
      isEdited = true;
      await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    };
    const { errors } = await stack.bound().run("up", program, { atPoint });
    expect(isEdited).toBe(true);
    expect(errors).toEqual([refusal(`ann would gain repo.create at home-${count}, through reader`)]);
  });

  test("what the caller may not list any more", async () => {
    const applier = await make(`identities/${home}`, {
      name: "applier",
      claimMatch: { issuer: stack.testbed.server.issuer, subject: "applier" },
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
    const token = await workloadToken(stack.testbed.server, "applier");
    const { errors, writes } = await up([changed], stack.bound({ IRM_IDENTITY: applier, IRM_IDENTITY_TOKEN: token }));
    expect(errors).toEqual([refusal(`the role bindings of group ${home} cannot be listed`)]);
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
        `bob would gain repo.create at home-${count}, through reader`,
        `ann would lose repo.create at home-${count}, through reader`,
      ),
    ]);
  });

  test("who holds a role that changes", async () => {
    const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    await apply([reader]);
    const changed = { ...reader, inputs: { ...reader.inputs, capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST"] } };
    await seal([changed]);
    await bind(await makeIdentity("ann"), stack.testbed.uid(STACK, "reader"));
    const { errors, writes } = await up([changed]);
    expect(errors).toEqual([
      expect.stringMatching(/- identity \S+ would gain repo\.create at home-\d+, through reader\n/),
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
      errors: [refusal(`ann would gain repo.create at home-${count}, through reader`)],
      writes: [],
    });
  });

  test("who owns the group of a record that is adopted, and the group itself", async () => {
    const inner = await make(`groups/${home}`, { name: "inner" });
    const program = [resource("group", "inner", { name: "inner", adopt: inner })];
    await seal(program);
    const eve = await makeIdentity("eve");
    await bind(eve, owner, inner);
    expect((await up(program)).errors).toEqual([
      refusal(`identity ${eve} may give access where ${inner} is, and could not when it was reviewed`),
    ]);
  });

  test("the roles that other people get where they sign in elsewhere", async () => {
    const { organization } = stack.testbed;
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
        ...{ parent: ref("sso"), externalGroupId: "admins", roleUid: maker, scope: organization },
      }),
    ];
    await apply(declared("https://people.example"));
    const changed = declared("https://others.example");
    await seal(changed);
    for (const role of [reader, maker]) {
      await edit(`roles/${role}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] });
      const { errors, writes } = await up(changed);
      expect(errors).toEqual([
        refusal(`role ${role === reader ? "reader" : "maker"} grants tag.create now, which the review does not show`),
      ]);
      expect(writes).toEqual([]);
      await edit(`roles/${role}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    }
    expect((await up(changed)).errors).toEqual([]);
  });

  test("the people of an identity provider, and the roles that they and invites give", async () => {
    const { organization } = stack.testbed;
    const reader = await make(`roles/${organization}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    const oidc = { issuer: "https://people.example", clientId: "people", pkceEnabled: true };
    const people = await make(`identityProviders/${organization}`, { name: "people", oidc, defaultRole: viewer });
    const program: Program = [
      resource("groupInvite", "invite", { role: reader, ttl: "3600s" }),
      resource("externalGroupRoleMapping", "admins", {
        ...{ parent: people, externalGroupId: "admins", roleUid: reader, scope: organization },
      }),
      resource("identityProvider", "others", { parent: organization, name: "others", oidc, defaultRole: reader }),
    ];
    await seal(program);
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
    const more = "role reader grants repo.create now, which the review does not show";
    expect(await up(program)).toEqual({ errors: [refusal(more), refusal(more), refusal(more)], writes: [] });
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    await edit(`identityProviders/${people}?updateMask=oidc`, { oidc: { ...oidc, clientId: "others" } });
    expect((await up(program)).errors).toEqual([
      refusal("where the people of people sign in is not what the review shows"),
    ]);
  });

  test("records in a group that forceDestroy empties: none of them is deleted", async () => {
    const legacy = resource("group", "legacy", { name: "legacy", forceDestroy: true });
    await apply([legacy]);
    const uid = stack.testbed.uid(STACK, "legacy");
    const shown = await make(`groups/${uid}`, { name: "shown" });
    await seal([]);
    const added = await make(`groups/${uid}`, { name: "added" });
    const { errors, writes } = await up([]);
    expect(errors).toEqual([expect.stringContaining(`group ${added} would be deleted`)]);
    // Those of the group itself, which the API refuses.
    expect(new Set(writes)).toEqual(new Set(["DeleteGroup"]));
    expect((await stack.testbed.records()).has(shown)).toBe(true);
    await stack.testbed.call("DELETE", `${IAM}/groups/${added}`);
    expect((await up([])).errors).toEqual([]);
  });
});

describe("what the seal contains is not refused", () => {
  test("beside a step that is, in one batch, in a set, and in the run after it", async () => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const team: Program = [resource("group", "team", { name: "team" })];
    const pairs = [ann, bob].map((identity) => ({ identity, role: viewer }));
    const program: Program = [
      binding("ann", ann, viewer),
      binding("bob", bob, viewer),
      ...team,
      { name: "all", kind: "roleBindingSet", inputs: { parent: ref("team"), bindings: pairs } },
    ];
    await seal(program);
    await edit(`identities/${bob}?updateMask=claimMatch`, { claimMatch: claims("eve") });
    const who = "who can assume bob is not what the review shows";
    const first = await up(program);
    expect(first.errors.toSorted()).toEqual([expect.stringContaining(who), refusal(who)]);
    expect(first.errors.find((text) => text.startsWith("all: "))).toContain("1 role binding was not created");
    expect(first.writes).toEqual(["CreateGroup", "CreateRoleBinding", "CreateRoleBinding"]);
    await edit(`identities/${bob}?updateMask=claimMatch`, { claimMatch: claims("bob") });
    const bound = stack.bound();
    expect(await up(program, bound)).toEqual({ errors: [], writes: ["CreateRoleBinding", "CreateRoleBinding"] });
    // The journal of the refused run had nothing left to settle.
    expect(bound.messages.filter((text) => text.includes("earlier run"))).toEqual([]);
  });

  test("twice, also where somebody has deleted what the first run created", async () => {
    const ann = resource("identity", "ann", { name: "ann", claimMatch: claims("ann") });
    const program = [ann, binding("reads", ref("ann"), viewer)];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    expect(await up(program)).toEqual({ errors: [], writes: [] });
    await stack.testbed.call("DELETE", `${IAM}/identities/${stack.testbed.uid(STACK, "ann")}`);
    const bound = stack.bound();
    await bound.run("refresh");
    expect(await up(program, bound)).toEqual({ errors: [], writes: ["CreateIdentity", "CreateRoleBinding"] });
  });

  test("where the change by hand brings no other row", async () => {
    const [ann, reader] = [await makeIdentity("ann"), await makeRole("reader", "CAP_REPO_LIST", "CAP_REPO_CREATE")];
    const program = [binding("reads", ann, reader)];
    await seal(program);
    // The role grants less, the identity has another name and another role elsewhere.
    await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST"] });
    await edit(`identities/${ann}?updateMask=name`, { name: "anna" });
    await bind(ann, owner, await make(`groups/${home}`, { name: "elsewhere" }));
    expect((await up(program)).errors).toEqual([]);
  });

  test("resources whose names look like parts of a URN", async () => {
    const named = (name: string) => resource("group", name, { name: "team", allowDuplicate: true });
    const program = [named("a::b"), named("a/b"), named("urn:pulumi:dev::x::irm:index:Group::c"), named("a$Group::b")];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
  });

  test("an identity with static keys, and one of a service", async () => {
    const issuerKeys = JSON.stringify({
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    const staticKeys = { issuer: "https://keys.example", subject: "ci", issuerKeys };
    const program: Program = [
      resource("identity", "keys", { name: "keys", staticKeys }),
      resource("identity", "cosigned", { name: "cosigned", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" }),
      binding("keys-read", ref("keys"), viewer),
      binding("cosigned-reads", ref("cosigned"), viewer),
    ];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    const further = [...program, binding("keys-own", ref("keys"), owner)];
    await seal(further);
    expect((await up(further)).errors).toEqual([]);
  });
});

test("what is secret in the review gives no access that it does not show", async () => {
  const native = await openSealed("native");
  const { testbed } = native;
  // github.com/pulumi/pulumi/sdk/go/common/resource/sig
  const secret = (value: unknown): Json => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    value,
  });
  try {
    const { identity, role } = testbed.foreign;
    const under = (kind: Program[number]["kind"], name: string, inputs: Json): Program[number] => ({
      ...{ kind, name },
      inputs: { parent: testbed.home, ...inputs },
    });
    const program: Program = [
      under("roleBinding", "hidden", { identity, role: secret(role) }),
      under("identity", "ci", { name: "ci", claimMatch: secret(claims("ci")) }),
      under("role", "own", { name: "own", capabilities: secret(["CAP_REPO_LIST"]) }),
      under("group", "team", { name: secret("team") }),
    ];
    native.write((await native.review(program)).seal);
    const { errors } = await native.bound().run("up", program);
    expect(errors.toSorted()).toEqual([
      expect.stringContaining("identity ci would be created for a workload that the review does not show"),
      expect.stringMatching(/- foreign for foreigner at home would be granted/),
      expect.stringContaining("role own would be created with capabilities that the review does not show"),
    ]);
  } finally {
    await native.close();
  }
});

test("a seal has no secret", async () => {
  const oidc = { issuer: "https://people.example", clientId: "people", clientSecret: "between us" };
  const program = [
    resource("identityProvider", "people", {
      parent: stack.testbed.organization,
      name: "people",
      oidc,
      defaultRole: viewer,
    }),
  ];
  const native = await openSealed("native");
  try {
    const [one] = program;
    const { seal: content } = await native.review([
      { ...(one as Program[number]), inputs: { ...one?.inputs, parent: native.testbed.organization } },
    ]);
    native.write(content);
    expect(content.steps[0]?.inputs?.hidden).toEqual({ "/oidc/clientSecret": "secret" });
    expect(readFileSync(native.file, "utf8")).not.toContain("between us");
  } finally {
    await native.close();
  }
});
