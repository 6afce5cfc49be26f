// A run under a seal: what the provider refuses, before it sends anything, and what it does not refuse (docs/sealing.md).
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../access/canonical.ts";
import { parseConfig } from "../../../client/config.ts";
import type { Json } from "../../../schema/index.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { openSealed, STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, make, edit, claims, makeIdentity, makeRole, bind, resource, binding, seal, sent, up, apply, refusal } =
  sealedPlace();

describe("a run that its seal does not bind is refused whole", () => {
  const program = (): Program => [resource("group", "team", { name: "team" })];
  const refused = async (env: Record<string, string>, reason: string): Promise<void> => {
    const { errors, writes } = await up(program(), at.stack.testbed.engine(STACK, { env }));
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
    const settings = { "irm:baseUrl": "https://api.example", "irm:seal": "mine.json" };
    expect(
      parseConfig((key) => settings[key as keyof typeof settings], { IRM_SEAL: "given.json" }, { keys: [] }).config,
    ).toMatchObject({ seal: "given.json" });
    await refused({ IRM_SEAL_REQUIRED: "yes" }, 'IRM_SEAL_REQUIRED is "yes"; it must be 1 or not set');
  });

  test("with a variable that is set and empty, as by an output of a job that is missing", async () => {
    const content = await seal(program());
    const whole = { IRM_SEAL: at.stack.file, IRM_SEAL_DIGEST: digestOf(content), IRM_SEAL_REQUIRED: "1" };
    for (const [name, value] of [
      ["IRM_SEAL", "the file of the seal"],
      ["IRM_SEAL_DIGEST", "the digest of the seal"],
      ["IRM_SEAL_REQUIRED", "1"],
    ] as const)
      for (const others of [{}, whole])
        await refused({ ...others, [name]: "" }, `${name} is set and empty; set it to ${value}, or unset it`);
    expect(await up(program(), at.stack.bound(whole))).toEqual({ errors: [], writes: ["CreateGroup"] });
  });

  test("with another digest, another stack, another service or a date that is over", async () => {
    const content = await seal(program());
    const { digest } = JSON.parse(readFileSync(at.stack.file, "utf8")) as { digest: string };
    expect(digest).toBe(digestOf(content));
    const env = { IRM_SEAL: at.stack.file };
    await refused({ ...env, IRM_SEAL_DIGEST: "sha256:1" }, `the seal ${at.stack.file} has the digest ${digest}, and`);
    const { origin } = content;
    at.stack.write({ ...content, origin: { ...origin, stack: "faults/other" } });
    await refused(env, `the seal ${at.stack.file} is of stack faults/other, and this is another one`);
    at.stack.write({ ...content, origin: { ...origin, services: ["https://elsewhere.example"] } });
    await refused(env, `the seal ${at.stack.file} is of https://elsewhere.example, and this run is at http`);
    for (const expires of ["2020-01-01T00:00:00Z", "never"]) {
      at.stack.write({ ...content, origin: { ...origin, expires } });
      await refused(env, `the seal ${at.stack.file} expired at ${expires}`);
    }
    at.stack.write(content);
    const right = at.stack.bound({ IRM_SEAL_DIGEST: digest, IRM_SEAL_REQUIRED: "1" });
    expect(await up(program(), right)).toEqual({ errors: [], writes: ["CreateGroup"] });
  });

  test("with a file that was changed, or is none", async () => {
    await seal(program());
    writeFileSync(at.stack.file, readFileSync(at.stack.file, "utf8").replaceAll('"team"', '"teams"'));
    await refused({ IRM_SEAL: at.stack.file }, `the seal ${at.stack.file} was changed after it was written`);
    writeFileSync(at.stack.file, "{}");
    await refused({ IRM_SEAL: at.stack.file }, `the seal ${at.stack.file} is not a seal`);
    writeFileSync(at.stack.file, '{"seal": 2}');
    await refused({ IRM_SEAL: at.stack.file }, `the seal ${at.stack.file} is a seal of version 2`);
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
    expect(errors[0]).toContain(
      "under the new seal.\nIf that seal refuses it too, the program does in its update what its preview does not show.\nSee",
    );
    expect(writes).toEqual([]);
    await apply([team]);
    await seal([team]);
    rmSync(at.stack.testbed.stateFile(STACK));
    expect((await up([team])).errors).toEqual([
      refusal("Group team would be created, and the review shows that it exists"),
    ]);
  });

  test("an update and a deletion of what stays", async () => {
    const team = resource("group", "team", { name: "team" });
    const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
    await apply([team, reader]);
    await seal([team, reader]);
    await edit(`roles/${at.stack.testbed.uid(STACK, "reader")}?updateMask=capabilities`, {
      capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"],
    });
    const bound = at.stack.bound();
    await bound.run("refresh");
    const { errors, writes } = await up([reader], bound);
    expect(errors).toEqual([
      refusal(`role ${at.stack.testbed.uid(STACK, "reader")} "reader" would be changed: capabilities`),
    ]);
    expect(writes).toEqual([]);
    expect((await sent(() => bound.run("destroy"))).errors).toContainEqual(
      refusal(`group ${at.stack.testbed.uid(STACK, "team")} would be deleted`),
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

describe("what the seal contains is not refused", () => {
  test("beside a step that is, in one batch, in a set, and in the run after it", async () => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const team: Program = [resource("group", "team", { name: "team" })];
    const pairs = [ann, bob].map((identity) => ({ identity, role: at.viewer }));
    const program: Program = [
      binding("ann", ann, at.viewer),
      binding("bob", bob, at.viewer),
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
    const bound = at.stack.bound();
    expect(await up(program, bound)).toEqual({ errors: [], writes: ["CreateRoleBinding", "CreateRoleBinding"] });
    // The journal of the refused run had nothing left to settle.
    expect(bound.messages.filter((text) => text.includes("earlier run"))).toEqual([]);
  });

  test("twice, also where somebody has deleted what the first run created", async () => {
    const ann = resource("identity", "ann", { name: "ann", claimMatch: claims("ann") });
    const program = [ann, binding("reads", ref("ann"), at.viewer)];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    expect(await up(program)).toEqual({ errors: [], writes: [] });
    await at.stack.testbed.call("DELETE", `${IAM}/identities/${at.stack.testbed.uid(STACK, "ann")}`);
    const bound = at.stack.bound();
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
    await bind(ann, at.owner, await make(`groups/${at.home}`, { name: "elsewhere" }));
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
      binding("keys-read", ref("keys"), at.viewer),
      binding("cosigned-reads", ref("cosigned"), at.viewer),
    ];
    await seal(program);
    expect((await up(program)).errors).toEqual([]);
    const further = [...program, binding("keys-own", ref("keys"), at.owner)];
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
  const native = await openSealed("native");
  try {
    const { organization: parent } = native.testbed;
    const people = { parent, name: "people", oidc, defaultRole: at.viewer };
    const { seal: content } = await native.review([resource("identityProvider", "people", people)]);
    native.write(content);
    expect(content.steps[0]?.inputs?.hidden).toEqual({ "/oidc/clientSecret": "secret" });
    expect(readFileSync(native.file, "utf8")).not.toContain("between us");
  } finally {
    await native.close();
  }
});
