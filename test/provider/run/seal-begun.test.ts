// `irm verify` of a seal under which a run has done a part of the change: what is done counts as to be done.
import { describe, expect, test } from "vitest";
import { differencesBetween } from "../../../access/seal/differences.ts";
import type { SealContent } from "../../../access/seal/seal.ts";
import type { Json } from "../../../schema/index.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, claims, makeIdentity, makeRole, resource, binding, seal, up, apply } = sealedPlace();

const LISTS = "CAP_REPO_LIST";
const CREATES = "CAP_REPO_CREATE";
const uidOf = (name: string): string => at.stack.testbed.uid(STACK, name);
const role = (name: string, ...capabilities: string[]) => resource("role", name, { name, capabilities });
const identity = (name: string, more = {}) =>
  resource("identity", name, { name, claimMatch: claims(name), forceDestroy: true, ...more });
const group = (name: string, more = {}) => resource("group", name, { name, ...more });
const setOf = (name: string, parent: unknown, ...bindings: [unknown, unknown][]) =>
  resource("roleBindingSet", name, {
    parent,
    bindings: bindings.map(([who, what]) => ({ identity: who, role: what })),
  });

/** In the order in which the test lets them through. */
const WRITES = [
  "CreateGroup",
  "UpdateRole",
  "CreateIdentity",
  "BatchCreateRoleBindings",
  "CreateGroupInvite",
  "CreateRoleBinding",
  "DeleteIdentity",
  "CreateIdentityProvider",
  "UpdateRoleBinding",
  "DeleteRoleBinding",
  "DeleteGroup",
] as const;

const differs = async (content: SealContent, program: Program): Promise<string[]> => {
  const now = (await at.stack.review(program, content)).seal;
  return differencesBetween(content, now).map(({ message }) => message);
};

describe("a change of every kind of step", () => {
  const change = async (): Promise<{ next: Program; reader: string }> => {
    const [ann, bob, reader] = [
      await makeIdentity("ann"),
      await makeIdentity("bob"),
      await makeRole("reader", LISTS, CREATES),
    ];
    const kept = await makeRole("kept", LISTS);
    const old = [
      ...[group("old", { forceDestroy: true }), identity("moves"), identity("goes"), role("writer", LISTS)],
      binding("changes", ann, ref("writer")),
      binding("removed", bob, at.viewer),
      binding("follows", ref("moves"), kept),
      setOf("set", at.home, [ann, reader], [ref("moves"), at.viewer]),
    ];
    const next = [
      group("team"),
      identity("new", { parent: ref("team"), claimMatch: claims("new one") }),
      identity("moves", { claimMatch: claims("elsewhere"), allowReplace: true, parent: ref("team") }),
      role("writer", LISTS, CREATES),
      resource("role", "kept", { name: "kept", capabilities: [LISTS, CREATES], adopt: kept }),
      binding("changes", ann, reader),
      binding("follows", ref("moves"), kept),
      binding("added", ref("new"), ref("writer")),
      setOf("set", at.home, [bob, reader], [ref("new"), at.viewer]),
      resource("groupInvite", "invite", { role: at.viewer, ttl: "3600s" }),
      resource("identityProvider", "sso", {
        parent: at.stack.testbed.organization,
        ...{ name: at.homeName, oidc: { issuer: "https://sso.example", clientId: "people", pkceEnabled: true } },
        defaultRole: at.viewer,
      }),
    ];
    await apply(old);
    return { next, reader };
  };

  test("is what the seal shows, whatever part of the update is done", async () => {
    const { next } = await change();
    const content = await seal(next);
    const { faults } = at.stack.testbed.server;
    const left = [...WRITES];
    for (const allowed of WRITES) {
      left.shift();
      faults?.set({ rules: left.map((operation) => ({ operation, steps: [{ status: 403 }], repeat: true })) });
      await at.stack.bound().run("up", next);
      faults?.clear();
      expect([allowed, await differs(content, next)]).toEqual([allowed, []]);
    }
    expect(await up(next)).toEqual({ errors: [], writes: [] });
  });

  test("is another one once somebody changes what is done, or what it rests on", async () => {
    const { next, reader } = await change();
    const content = await seal(next);
    expect((await up(next)).errors).toEqual([]);
    const found = async (method: string, path: string, body: Json, undo: Json): Promise<string[]> => {
      await at.stack.testbed.call(method, `${IAM}/${path}`, body);
      const messages = await differs(content, next);
      await at.stack.testbed.call(method, `${IAM}/${path}`, undo);
      expect(await differs(content, next)).toEqual([]);
      return messages;
    };
    const widened = { capabilities: [LISTS, CREATES, "CAP_REPO_UPDATE"] };
    const first = { capabilities: [LISTS, CREATES] };
    const through = `repo.update at home/${at.homeName} (${at.home}), through`;
    expect(await found("PATCH", `roles/${reader}?updateMask=capabilities`, widened, first)).toEqual([
      `bob gains ${through} reader: this is not in the seal`,
    ]);
    expect(await found("PATCH", `roles/${uidOf("writer")}?updateMask=capabilities`, widened, first)).toContain(
      `ann loses ${through} writer: this is not in the seal`,
    );
    // The update makes these as the seal says again.
    const claim = (subject: string): Json => ({ claimMatch: claims(subject) });
    const own = `identities/${uidOf("new")}?updateMask=claimMatch`;
    expect(await found("PATCH", own, claim("eve"), claim("new one"))).toEqual([]);
  });
});

test("what an interrupted replacement has left is in the next review, and is deleted under its seal", async () => {
  const moves = (parent: unknown, subject: string) =>
    identity("moves", { allowReplace: true, parent, claimMatch: claims(subject) });
  await apply([group("team"), moves(at.home, "moves")]);
  const old = uidOf("moves");
  const program = [group("team"), moves(ref("team"), "elsewhere")];
  const { faults } = at.stack.testbed.server;
  faults?.set({ rules: [{ operation: "DeleteIdentity", steps: [{ status: 403 }], repeat: true }] });
  expect((await at.stack.engine.run("up", program)).errors).not.toEqual([]);
  faults?.clear();
  await at.stack.testbed.call("POST", `${IAM}/roleBindings/${at.home}`, { identityUid: old, roleUid: at.viewer });
  const { rows, deletes } = await seal(program);
  expect(rows.find(({ uid }) => uid === old)?.losses.length).toBeGreaterThan(0);
  expect(deletes).toContain(`identity ${old}`);
  expect(await up(program)).toEqual({ errors: [], writes: ["DeleteIdentity"] });
});
