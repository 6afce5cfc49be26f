// What is said of patterns, against real exchanges of random tokens by random identities, and against the matcher.
import { countTexts, findText } from "../../access/pattern/decide.ts";
import { every, matching, NOTHING, not, text } from "../../access/pattern/language.ts";
import { breadthOf, othersIn } from "../../access/workload/breadth.ts";
import { pullRequestsIn } from "../../access/workload/pull-request.ts";
import type { TokenWorkload } from "../../access/workload/token.ts";
import { canBeAssumedBy } from "../../access/workload/workload.ts";
import type { Identity, Json } from "../../schema/index.ts";
import { patternViolation } from "../../schema/pattern.ts";
import { claimsFrom, createService, identity, sign, startIssuer, UID } from "../harness/sts.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";
import { anyPattern, anyText, isMatch, subject, subjectPattern } from "./random-pattern.ts";

const TOKENS = 4;

/** `rounds`: identities, each with some tokens, and as many pairs of patterns. */
export const patterns = async (options: PartOptions): Promise<PartResult> => {
  const figures = {
    exchanges: 0,
    "tokens accepted": 0,
    "pull requests among them, each found": 0,
    "examples of the rule, each accepted": 0,
    "pairs of patterns of the whole syntax": 0,
    "pairs with a text in common": 0,
    "questions that were not decided": 0,
  };
  const issuer = await startIssuer();
  const records: Identity[] = [];
  const { sts, events } = createService(records, {});

  const isAccepted = async (claims: Json): Promise<boolean> => {
    figures.exchanges += 1;
    events.length = 0;
    const bearer = await sign(claimsFrom(issuer.url, claims));
    try {
      await sts.exchange({ identity: UID }, bearer);
      figures["tokens accepted"] += 1;
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== "PERMISSION_DENIED") throw error;
      return false;
    }
  };

  type Check = (holds: boolean, what: string) => void;
  const round = async (random: Random, fail: (text: string) => void): Promise<void> => {
    const match = claimMatch(random, issuer.url);
    if (match === undefined) return;
    records[0] = identity({ claimMatch: match as never });
    const relationship: Json = { claimMatch: match };
    const check: Check = (holds, what) => holds || fail(`${what}: ${JSON.stringify(match)}`);
    const pulls = pullRequestsIn(relationship);
    if (pulls.is === "undecided") figures["questions that were not decided"] += 1;
    if (pulls.is === "yes") {
      figures["examples of the rule, each accepted"] += 1;
      const { iss: _, sub, ...claims } = pulls.example;
      check(await isAccepted({ sub, ...claims }), `the exchange refuses the example ${JSON.stringify(pulls.example)}`);
    }
    const branches = new Set<string>();
    const owners = new Set<string>();
    for (let i = 0; i < TOKENS; i += 1) {
      const claims = tokenClaims(random);
      const accepted = await isAccepted(claims);
      const verdict = canBeAssumedBy(relationship, [exactly(issuer.url, claims)]).is;
      const what = `said ${verdict}, and the exchange said ${accepted} of ${JSON.stringify(claims)}`;
      check(verdict === (accepted ? "yes" : "no"), what);
      if (!accepted) continue;
      const [, owner = "", branch = ""] = /^repo:([^/]+)(\/.*)$/.exec(claims.sub) ?? [];
      owners.add(owner);
      branches.add(`${owner}${branch.replace(/:job_workflow_ref:.*/, "")}`);
      if (claims.event_name !== "pull_request" || claims.environment !== undefined) continue;
      figures["pull requests among them, each found"] += 1;
      check(pulls.is !== "no", `no pull request, and the exchange accepts ${JSON.stringify(claims)}`);
    }
    if (branches.size > 1) check(breadthOf(relationship) !== undefined, `one branch, and there are ${[...branches]}`);
    for (const owner of owners) {
      const before: Json = { claimMatch: { issuer: issuer.url, subjectPattern: `repo:${owner}/.*` } };
      const isOther = [...owners].some((one) => one !== owner);
      if (isOther) check(othersIn(before, relationship).is !== "none", `no others than ${owner}, of ${[...owners]}`);
    }
  };

  const pair = (random: Random, fail: (text: string) => void): void => {
    const [one, other] = [anyPattern(random), anyPattern(random)];
    if (patternViolation(one) !== undefined || patternViolation(other) !== undefined) return;
    figures["pairs of patterns of the whole syntax"] += 1;
    const [own, its] = [matching(one), matching(other)];
    const texts = Array.from({ length: 12 }, () => anyText(random));
    const check: Check = (holds, what) => holds || fail(`${what}: ${JSON.stringify([one, other])}`);
    const common = findText(every(own, its));
    const rest = findText(every(own, not(its)));
    if ([common, rest].some(({ is }) => is === "undecided")) figures["questions that were not decided"] += 1;
    if (common.is === "found") {
      figures["pairs with a text in common"] += 1;
      check(isMatch(one, common.text) && isMatch(other, common.text), `${JSON.stringify(common.text)} is not of both`);
    }
    if (rest.is === "found")
      check(isMatch(one, rest.text) && !isMatch(other, rest.text), `${JSON.stringify(rest.text)} is not of the first`);
    const count = countTexts(own, 1_000);
    const known = new Set(texts.filter((own) => isMatch(one, own)));
    check(count === undefined || count >= known.size, `${count} texts, and there are ${[...known]}`);
    for (const own of texts) {
      const [isOne, isOther] = [isMatch(one, own), isMatch(other, own)];
      if (common.is === "none") check(!(isOne && isOther), `${JSON.stringify(own)} is of both`);
      if (rest.is === "none") check(!isOne || isOther, `${JSON.stringify(own)} is of the first alone`);
    }
  };

  const failures = await proveEach(options, async (own, fail) => {
    const random = createRandom(own);
    await round(random, fail);
    pair(random, fail);
  });
  await issuer.close();
  return { figures, failures };
};

/** As GitHub writes them. */
const tokenClaims = (random: Random) => {
  const sub = subject(random);
  const [, repository = "", owner = "", context = ""] = /^repo:(([^/]+)\/[^:]+):(.*)$/.exec(sub) ?? [];
  const isPull =
    /^pull_request|^ref:refs\/pull/.test(context) || (!context.startsWith("ref:") && random.below(2) === 0);
  const environment = /^environment:(.*)$/.exec(context)?.[1];
  const ref = isPull ? "refs/pull/7/merge" : (/^ref:(.*)$/.exec(context)?.[1] ?? "refs/heads/main");
  return {
    sub,
    repository,
    repository_owner: owner,
    event_name: isPull ? "pull_request" : "push",
    ref,
    ref_protected: String(!isPull && ref === "refs/heads/main"),
    job_workflow_ref: "acme/ci/x.yml@refs/heads/main",
    ...(environment !== undefined && { environment }),
  };
};

const CLAIMS: Readonly<Record<string, readonly string[]>> = {
  repository: ["acme/images", "evil/x"],
  repository_owner: ["acme", "evil"],
  event_name: ["push", "pull_request"],
  ref: ["refs/heads/main", "refs/pull/7/merge"],
  ref_protected: ["true", "false"],
  environment: ["prod"],
  job_workflow_ref: ["acme/ci/x.yml@refs/heads/main"],
};
const CLAIM_PATTERNS = ["(?i)ACME.*", "refs/(heads|tags)/.*", "pu.*", ".*", "[^e]*"];

const claimMatch = (random: Random, issuer: string): Json | undefined => {
  const names = random.shuffle(Object.keys(CLAIMS)).slice(0, random.below(3) === 0 ? 1 + random.below(2) : 0);
  const claims = names.filter(() => random.below(2) === 0);
  const others = names.filter((name) => !claims.includes(name));
  const match: Json = {
    issuer,
    subjectPattern: subjectPattern(random),
    claims: Object.fromEntries(claims.map((name) => [name, random.pick(CLAIMS[name] ?? [])])),
    claimPatterns: Object.fromEntries(others.map((name) => [name, random.pick(CLAIM_PATTERNS)])),
  };
  return patternViolation(String(match.subjectPattern)) === undefined ? match : undefined;
};

/** The one token. */
const exactly = (issuer: string, { sub, ...claims }: ReturnType<typeof tokenClaims>): TokenWorkload => ({
  kind: "token",
  issuer: text(issuer),
  subject: text(sub),
  claims: new Map(
    Object.keys(CLAIMS).map((name) => [name, name in claims ? text(String((claims as Json)[name])) : NOTHING]),
  ),
});
