// What the check of an identity or a role binding says beyond its arguments.
import { describe, expect, it } from "vitest";
import { PREVIEW } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { configuredMethods, GROUP, IDENTITY, keyOf, ORG, UNKNOWN } from "../../support/scripted.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

/** Checks of new resources; `warnings` are the lines of the log that warn. */
const start = async () => {
  const { methods, messages } = await configuredMethods();
  const checkWith = (isSecret: (names: readonly string[]) => boolean) => async (name: string, relationship: object) =>
    methods.identity.check({}, { ...keyOf(name), parent: ORG, name, ...relationship }, isSecret);
  return { methods, checkWith, warnings: () => messages.filter((text) => text.startsWith("warning")) };
};

describe("the check of an identity", () => {
  it("warns of the patterns that irm check refuses in a policy, and of no others", async () => {
    const { checkWith, warnings } = await start();
    const check = checkWith(() => false);
    await check("open", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" } });
    await check("closed", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:acme/.*" } });
    await check("unknown", { claimMatch: UNKNOWN });
    await check("aws", { awsIdentity: { awsAccount: "123456789012", arnPattern: ".*", userIdPattern: "A.*" } });
    await check("wrong", { claimMatch: { issuer: ISSUER, subjectPattern: ".*(" } });
    const secret = checkWith((names) => names.includes("claimMatch"));
    await secret("secret", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:.*" } });
    expect(warnings()).toEqual([
      `warning: Identity open: claimMatch.subjectPattern matches the workloads of every customer of ${ISSUER}; name the organization`,
      "warning: Identity aws: awsIdentity.arnPattern matches everything; name the role or user, as the preset aws does",
      "warning: Identity secret: claimMatch, which is secret, lets in everyone",
    ]);
  });

  it("refuses claims that match no token, unless the identity exists with them", async () => {
    const { methods, warnings } = await start();
    const claimMatch = { issuer: `${ISSUER}/`, subject: "repo:acme/*:ref:refs/heads/main" };
    const news = { ...keyOf("ci"), parent: ORG, name: "ci", claimMatch };
    const check = async (olds: Json, more: Json = {}, isSecret?: boolean) => {
      const shows = isSecret === undefined ? undefined : () => isSecret;
      return (await methods.identity.check(olds, { ...news, ...more }, shows)).failures;
    };
    const slash = "ends with a slash, which this issuer does not have, so it matches no token";
    const star = "is compared byte for byte, so * stands for itself and it matches no token";
    expect(await check({}, {}, false)).toEqual([
      { property: "claimMatch.issuer", reason: `${slash}; write ${ISSUER}` },
      {
        property: "claimMatch.subject",
        reason: `${star}; write subjectPattern: "repo:acme/[^/:]*:ref:refs/heads/main"`,
      },
    ]);
    for (const isSecret of [true, undefined])
      expect((await check({}, {}, isSecret)).map(({ reason }) => reason)).toEqual([
        `${slash}; leave it out`,
        `${star}; use subjectPattern instead`,
      ]);
    expect(warnings()).toEqual([]);
    expect(await check(news, { description: "x" }, false)).toEqual([]);
    expect(await check({}, { adopt: GROUP }, false)).toEqual([]);
    expect(warnings().filter((text) => text.startsWith("warning: Identity ci: claimMatch."))).toHaveLength(4);
  });

  it("warns of a GitHub subject without ids beside one of the same owner that has them, once", async () => {
    const { checkWith, warnings } = await start();
    const check = (name: string, subject: string) =>
      checkWith(() => false)(name, { claimMatch: { issuer: ISSUER, subject } });
    await check("old", "repo:acme/images:pull_request");
    await check("elsewhere", "repo:umbrella/images:pull_request");
    await check("new", "repo:acme@1/images@2:pull_request");
    await check("newer", "repo:acme@1/charts@3:pull_request");
    await check("old", "repo:acme/images:pull_request");
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^warning: Identity old has a GitHub subject without numeric ids, and Identity new, of the same owner, has one with them: /,
      ),
    ]);
  });
});

describe("two resources that declare the same", () => {
  const previews = async () => {
    const { methods, warnings } = await start();
    const check = async (kind: "identity" | "roleBinding", name: string, args: Json, olds: Json = {}) => {
      const { failures } = await methods[kind].check(olds, { ...keyOf(name), ...args, [PREVIEW]: true });
      expect(failures).toEqual([]);
    };
    return { check, reported: () => warnings().filter((text) => /duplicates|has the same/.test(text)) };
  };
  const identity = (name: string, subject: string) => ({
    parent: GROUP,
    name,
    claimMatch: { issuer: ISSUER, subject },
  });
  const pair = (parent: string, role: string) => ({ parent, identity: IDENTITY, role });

  it("are reported, without their values", async () => {
    const { check, reported } = await previews();
    await check("identity", "one", identity("one", "s"));
    await check("identity", "two", identity("two", "t"));
    await check("identity", "three", identity("three", "s"));
    await check("roleBinding", "a", pair(GROUP, "viewer"));
    await check("roleBinding", "b", pair(GROUP, "editor"));
    await check("roleBinding", "c", pair(ORG, "viewer"));
    await check("roleBinding", "d", pair(GROUP, "viewer"));
    expect(reported()).toEqual([
      expect.stringMatching(
        /^warning: Identity three has the same issuer and subject as Identity one: a token exchange/,
      ),
      expect.stringMatching(/^warning: RoleBinding d duplicates RoleBinding a: the same role to the same identity/),
    ]);
    expect(reported().join()).not.toContain(ISSUER);
  });

  it("are not where a part is not known, or one is checked again for its replacement", async () => {
    const { check, reported } = await previews();
    for (const name of ["a", "b"]) await check("roleBinding", name, { ...pair(GROUP, "viewer"), identity: UNKNOWN });
    const one = identity("one", "s");
    await check("identity", "one", one, { ...one, ...keyOf("one") });
    await check("identity", "one", one);
    expect(reported()).toEqual([]);
  });
});
