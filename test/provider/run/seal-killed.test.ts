// `irm verify` after a killed run: what that has created counts as to be created, also where the preview does not name it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { differencesBetween } from "../../../access/seal/differences.ts";
import type { SealContent } from "../../../access/seal/seal.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { IAM, sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const oidc = (name: string) => ({ issuer: `https://${name}.example`, clientId: "people", pkceEnabled: true });

/** As long as a request may take, and what it creates may not be visible. */
const HIDDEN_MS = 30_000;

describe.each(["dynamic", "native"] as const)("%s", (adapter) => {
  const { at, claims, makeIdentity, resource, seal, up, apply } = sealedPlace(adapter);

  const identity = (name: string, more = {}) =>
    resource("identity", name, { name, claimMatch: claims(name), forceDestroy: true, allowReplace: true, ...more });
  const differs = async (content: SealContent, program: Program): Promise<string[]> => {
    const now = (await at.stack.review(program, content)).seal;
    return differencesBetween(content, now).map(({ message }) => message);
  };
  const change = (): Program => [
    resource("group", "team", { name: "team" }),
    identity("new", { parent: ref("team") }),
    resource("role", "own", {
      parent: at.stack.testbed.organization,
      name: at.homeName,
      capabilities: ["CAP_REPO_LIST"],
    }),
    resource("roleBinding", "has", { identity: ref("new"), role: ref("own") }),
  ];
  /** Ends all processes of the run at this request of its method, by its number. Returns false where the run ends before it. */
  const kill = async (
    program: Program,
    nth: number,
    point: "before send" | "after reply",
    of = "POST",
  ): Promise<boolean> => {
    const env = { IRM_SEAL: at.stack.file };
    const engine = at.stack.testbed.engine(STACK, { env, checkpoints: "on", pluginProcess: adapter === "native" });
    const { paused } = engine.start("up", program, { point, of, nth });
    const isPaused = await paused.then(
      () => true,
      () => false,
    );
    await engine.kill();
    return isPaused;
  };

  test.each([
    ["is still to be created", () => []],
    ["is still to replace another one", () => [identity("new")]],
  ])("a record of the run %s, by this seal", async (_title, old) => {
    await apply(old());
    const program = change();
    const content = await seal(program);
    // What else is under way when a run ends may be carried out, so that less is left for the next one.
    for (const [run, nth] of (adapter === "native" ? [3] : [2, 1, 1]).entries()) {
      const isKilled = await kill(program, nth, "after reply");
      expect(isKilled || run > 0).toBe(true);
      at.stack.testbed.advanceClock(HIDDEN_MS);
      expect(await differs(content, program)).toEqual([]);
    }
    expect((await up(program)).errors).toEqual([]);
    expect(await differs(content, program)).toEqual([]);
  });

  test("what somebody has given to its record since is in no seal", async () => {
    const program = change();
    const content = await seal(program);
    expect(await kill(program, 3, "after reply")).toBe(true);
    at.stack.testbed.advanceClock(HIDDEN_MS);
    expect(await differs(content, program)).toEqual([]);
    const { identities } = await at.stack.testbed.call("GET", `${IAM}/identities?uidp.descendantsOf=${at.home}`);
    const [own] = identities as { uid: string }[];
    await at.stack.testbed.call("POST", `${IAM}/roleBindings/${at.home}`, {
      identityUid: own?.uid,
      roleUid: at.viewer,
    });
    expect(await differs(content, program)).toContain(
      `new gains tag.list at home/${at.homeName} (${at.home}), through viewer: this is not in the seal`,
    );
  });

  test("a set of which the run has deleted a part is still to be deleted, by this seal", async () => {
    const [ann, bob] = [await makeIdentity("ann"), await makeIdentity("bob")];
    const bindings = [ann, bob].map((who) => ({ identity: who, role: at.viewer }));
    await apply([resource("roleBindingSet", "all", { bindings })]);
    const content = await seal([]);
    expect(await kill([], 1, "after reply", "DELETE")).toBe(true);
    expect(await differs(content, [])).toEqual([]);
    expect((await up([])).errors).toEqual([]);
  });

  test("a continued run knows a mapping that the run has created, and that neither journal nor state names", async () => {
    const { organization } = at.stack.testbed;
    const people = await at.stack.testbed.call("POST", `${IAM}/identityProviders/${organization}`, {
      ...{ name: at.homeName, oidc: oidc("first"), defaultRole: at.viewer },
    });
    const provider = (issuer: string): Program[number] =>
      resource("identityProvider", "sso", {
        ...{ parent: organization, name: at.homeName, oidc: oidc(issuer), defaultRole: at.viewer, adopt: people.uid },
      });
    await apply([provider("first")]);
    const mapping = resource("externalGroupRoleMapping", "admins", {
      ...{ parent: ref("sso"), externalGroupId: "admins", role: at.viewer, scope: organization },
    });
    const program = [provider("second"), mapping];
    await seal(program);
    // The update of the identity provider comes first, and it has to know the mapping.
    expect(await kill([provider("first"), mapping], 1, "after reply")).toBe(true);
    rmSync(join(at.stack.testbed.folder, `${STACK}.journal`), { recursive: true, force: true });
    at.stack.testbed.advanceClock(HIDDEN_MS);
    expect(await up(program)).toEqual({ errors: [], writes: ["UpdateIdentityProvider"] });
  });

  test("a review before anybody can see what the run has created has the rows of this seal, and holds itself", async () => {
    const old = [resource("group", "team", { name: "team" }), identity("new")];
    await apply(old);
    const program = change();
    const content = await seal(program);
    // It is not known whether the request has arrived.
    expect(await kill(program, adapter === "native" ? 2 : 1, "before send")).toBe(true);
    expect(await differs(content, program)).toEqual([]);
    at.stack.write((await at.stack.review(program)).seal);
    at.stack.testbed.advanceClock(HIDDEN_MS);
    expect((await up(program)).errors).toEqual([]);
    expect(await differs(content, program)).toEqual([]);
  });
});
