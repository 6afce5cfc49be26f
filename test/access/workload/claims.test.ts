// A workload's token against an identity, field by field: the comparison agrees with the exchange of a real server, and names what differs.
import { describe, expect, test } from "vitest";
import { type ClaimCheck, compareClaims } from "../../../access/workload/claims.ts";
import type { Json } from "../../../schema/index.ts";
import { serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { payloadOf } from "../../harness/sts.ts";

const api = await serve();

const audiences = [api.authUrl, new URL(api.authUrl).host, api.baseUrl];
const unmet = (checks: readonly ClaimCheck[]): string[] =>
  checks.filter(({ isMet }) => !isMet).map(({ claim }) => claim);

/** The claims that differ, by this comparison; and whether the exchange takes the token. */
const compared = async (match: Json, subject: string, further: Json = {}) => {
  const identity = await createRecord(api, "identities", api.organization, {
    name: "compared",
    claimMatch: { issuer: api.issuer, subject: "s", ...match },
  });
  const token = await api.identityToken(subject, further);
  const checks = compareClaims(identity, { claims: payloadOf(token), audiences, nowMs: api.clock() });
  const { status } = await api.exchange(token, { identity: identity.uid });
  return { unmet: unmet(checks), isTaken: status === 200, checks };
};

const subjectPattern = (pattern: string): Json => ({ subject: undefined, subjectPattern: pattern });

describe("agrees with the exchange:", () => {
  test.each<[string, Json, string, Json, string[]]>([
    ["all as it should be", {}, "s", {}, []],
    ["another subject", {}, "S", {}, ["sub"]],
    ["another issuer", { issuer: "https://issuer.example" }, "s", {}, ["iss"]],
    ["issuer and subject", { issuer: "https://issuer.example" }, "t", {}, ["iss", "sub"]],
    ["a subject that matches", subjectPattern("repo:acme/.*"), "repo:acme/images", {}, []],
    ["a pattern that matches a part only", subjectPattern("acme"), "repo:acme/images", {}, ["sub"]],
    ["an audience for another service", {}, "s", { audience: "https://other.example" }, ["aud"]],
    ["the bare host as audience", {}, "s", { audience: new URL(api.authUrl).host }, []],
    ["an audience of its own", { audience: "irm" }, "s", { audience: "irm" }, []],
    ["not its own audience", { audience: "irm" }, "s", {}, ["aud"]],
    ["an audience that matches", { audiencePattern: "irm-.*" }, "s", { audience: "irm-dev" }, []],
    ["a further claim", { claims: { ref: "main" } }, "s", { claims: { ref: "main" } }, []],
    ["a further claim that differs", { claims: { ref: "main" } }, "s", { claims: { ref: "dev" } }, ["ref"]],
    ["a further claim that is missing", { claims: { ref: "main" } }, "s", {}, ["ref"]],
    ["a truth value", { claims: { protected: "true" } }, "s", { claims: { protected: true } }, []],
    ["a number, which never matches", { claims: { run: "7" } }, "s", { claims: { run: 7 } }, ["run"]],
    ["a list, which never matches", { claimPatterns: { g: ".*" } }, "s", { claims: { g: ["a"] } }, ["g"]],
    ["a claim of every object", { claims: { toString: "x" } }, "s", {}, ["toString"]],
    ["claims that match", { claimPatterns: { ref: "refs/.*" } }, "s", { claims: { ref: "refs/heads/x" } }, []],
  ])("%s", async (_, match, subject, further, claims) => {
    const { unmet: found, isTaken } = await compared(match, subject, further);
    expect({ found, isTaken }).toEqual({ found: claims, isTaken: claims.length === 0 });
  });

  test.each<[string, (now: number) => Json, string[]]>([
    ["a token that has ended", (now) => ({ iat: now - 700, exp: now - 61 }), ["exp"]],
    ["one that has just ended", (now) => ({ iat: now - 700, exp: now - 59 }), []],
    ["one that begins later", (now) => ({ nbf: now + 120 }), ["nbf"]],
    ["one of the future", (now) => ({ iat: now + 120, exp: now + 300 }), ["iat"]],
    ["one that lives for too long", (now) => ({ iat: now, exp: now + 25 * 3600 }), ["exp"]],
  ])("%s", async (_, claims, expected) => {
    const { unmet: found, isTaken } = await compared({}, "s", { claims: claims(Math.floor(api.clock() / 1000)) });
    expect({ found, isTaken }).toEqual({ found: expected, isTaken: expected.length === 0 });
  });
});

describe("says what differs:", () => {
  const messageOf = async (...given: Parameters<typeof compared>): Promise<string> =>
    (await compared(...given)).checks.flatMap(({ isMet, message }) => (isMet ? [] : message)).join();
  const repository = "repo:acme/images:ref:refs/heads/main";
  const wanted = 'the identity wants "main" (claimMatch.claims.ref)';

  test.each<[Json, subject: string, further: Json, message: string | RegExp]>([
    [{}, "t", {}, 'the token has "t"; the identity wants "s" (claimMatch.subject)'],
    [
      ...([subjectPattern("repo:acme/.*"), "t", {}] as const),
      'the token has "t"; the identity wants a match of "repo:acme/.*" (claimMatch.subjectPattern)',
    ],
    [{ claims: { ref: "main" } }, "s", {}, `the token has no such claim; ${wanted}`],
    [{ claims: { ref: "main" } }, "s", { claims: { ref: 7 } }, `the token has 7, which is not a text; ${wanted}`],
    [{}, "S", {}, /; they differ in upper and lower case only$/],
    [{}, "s/", {}, /; they differ in the slash at the end only$/],
    [
      ...([{ subject: repository }, repository.replace("acme/images", "acme@1/images@2"), {}] as const),
      /; they differ in the numeric ids of the owner and the repository only$/,
    ],
    [{}, "s ", {}, /; they differ in white space at an end only$/],
  ])("of %j and %j with %j", async (match, subject, further, message) => {
    expect(await messageOf(match, subject, further)).toEqual(
      typeof message === "string" ? message : expect.stringMatching(message),
    );
  });

  test("a text with controls is escaped, and a long one is cut", async () => {
    const claims = { ref: `\u001b[2J${"x".repeat(5_000)}` };
    const message = await messageOf({ claims: { ref: "main" } }, "s", { claims });
    expect(message).toContain('"\\u001b[2Jxxx');
    expect(message.length).toBeLessThan(500);
  });
});

const claims = { iss: "https://keys.example", sub: "root", aud: api.authUrl, exp: api.clock() / 1000 + 60 };
const keys = { issuer: "https://keys.example", subject: "root", issuerKeys: "{}" };
const createTime = new Date(api.clock()).toISOString();
const ended = new Date(api.clock() - 1).toISOString();

test.each<[what: string, identity: Json, unmet: string[]]>([
  ["its own keys", { staticKeys: keys, createTime }, []],
  ["keys for another subject", { staticKeys: { ...keys, subject: "other" }, createTime }, ["sub"]],
  ["keys for other audiences", { staticKeys: { ...keys, audiences: ["x"] }, createTime }, ["aud"]],
  ["keys that have ended", { staticKeys: { ...keys, expirationTime: ended }, createTime }, ["expirationTime"]],
  ["keys of more than a year", { staticKeys: keys, createTime: "2020-01-01T00:00:00Z" }, ["expirationTime"]],
  ["a principal of AWS, which has no token", { awsIdentity: { awsAccount: "123456789012" } }, ["awsIdentity"]],
  ["a service, which has no token", { servicePrincipal: "COSIGNED" }, ["servicePrincipal"]],
  ["nothing", {}, ["claimMatch"]],
])("an identity without a claim match: %s", (_, identity, expected) => {
  expect(unmet(compareClaims(identity, { claims, audiences, nowMs: api.clock() }))).toEqual(expected);
});
