// Who may assume a random identity: what the presets write, patterns of the whole syntax, and odd claims.
import { presets } from "../../access/preset/presets.ts";
import { patternMatcher } from "../../schema/index.ts";
import type { Body } from "../support/http.ts";
import type { Random } from "../support/random.ts";
import { anyPattern, subject, subjectPattern } from "./random-pattern.ts";
import { randomMap, randomText } from "./random-text.ts";

const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] });
const PRINCIPALS = ["COSIGNED", "INGESTER", "CATALOG_SYNCER"].map((name) => `SERVICE_PRINCIPAL_${name}`);
const ACCOUNT = "123456789012";
const DAY_MS = 86_400_000;

export const randomRelationship = (random: Random, nowMs: number): Body => {
  const chance = (percent: number): boolean => random.below(100) < percent;
  const maybe = (percent: number, fields: Body): Body => (chance(percent) ? fields : {});
  const text = (): string => randomText(random, 255);
  const pattern = (): string => randomPattern(random);
  const claimMatch = (): Body => ({
    ...(chance(70)
      ? { issuer: random.pick(["https://issuer.example", "https://issuer.example/a/"]) }
      : { issuerPattern: pattern() }),
    ...(chance(60) ? { subject: chance(50) ? subject(random) : text() } : { subjectPattern: pattern() }),
    ...random.pick<Body>([{}, {}, { audience: text() }, { audiencePattern: pattern() }]),
    ...maybe(40, { claims: randomMap(random, 3, () => randomText(random)) }),
    ...maybe(30, { claimPatterns: randomMap(random, 3, pattern) }),
  });
  const staticKeys = (): Body => ({
    ...{ issuer: "https://keys.example", subject: text(), issuerKeys: KEYS },
    ...maybe(30, { audiences: [text()] }),
    ...maybe(40, { expirationTime: new Date(nowMs + (1 + random.below(300)) * DAY_MS).toISOString() }),
  });
  const awsIdentity = (): Body => ({
    awsAccount: ACCOUNT,
    ...(chance(50) ? { arn: text() } : { arnPattern: pattern() }),
    ...(chance(50) ? { userId: text() } : { userIdPattern: pattern() }),
  });
  const relationships: (() => Body)[] = [
    () => presetRelationship(random),
    () => presetRelationship(random),
    () => ({ claimMatch: claimMatch() }),
    () => ({ claimMatch: claimMatch() }),
    () => ({ staticKeys: staticKeys() }),
    () => ({ awsIdentity: awsIdentity() }),
    () => ({ servicePrincipal: random.pick(PRINCIPALS) }),
  ];
  return random.pick(relationships)();
};

const presetRelationship = (random: Random): Body => {
  const { github, gitlab, buildkite, kubernetes, google, aws } = presets;
  const [owner, branch] = [random.pick(["acme", "a-1"]), random.pick(["main", "release/1", "v*", "a:b", "é"])];
  const isWide = random.below(2) === 0;
  const relationships: (() => object)[] = [
    () => github.relationship({ repository: `${owner}/${isWide ? "*" : "images"}`, branch }),
    () => github.relationship({ repository: `${owner}/images`, environment: branch }),
    () => github.relationship({ repository: `${owner}/*`, event: isWide ? "push" : "pull_request" }),
    () => gitlab.relationship({ project: `${owner}/shop`, tag: branch, ...(isWide && { protected: true }) }),
    () => buildkite.relationship({ organization: owner, pipeline: "images", branch }),
    () => kubernetes.relationship({ issuer: "https://oidc.example", namespace: "prod", serviceAccount: owner }),
    () => google.relationship({ uniqueId: "107517467455664443765" }),
    () => aws.relationship({ account: ACCOUNT, role: "deployer", ...(isWide && { session: "a*" }) }),
  ];
  return random.pick(relationships)() as Body;
};

const randomPattern = (random: Random): string => {
  for (let left = 20; left > 0; left -= 1) {
    const own = random.below(2) === 0 ? subjectPattern(random) : anyPattern(random);
    if (own !== "" && isPattern(own)) return own;
  }
  return "a*";
};

const isPattern = (text: string): boolean => {
  try {
    patternMatcher(text);
    return true;
  } catch {
    return false;
  }
};
