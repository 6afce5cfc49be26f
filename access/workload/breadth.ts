// How many workloads a relationship lets in: one repository and branch, or more. And whether it lets in those of another relationship.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { type Found, findText, firstFound, hasMoreThan, isEmpty, isWithin, NONE } from "../pattern/decide.ts";
import { ANYTHING, every, type Language, matching, not, some, text } from "../pattern/language.ts";
import { between, CUSTOMERS, type Customers, customersOfClaims, namesIn, withoutCustomers } from "./customer.ts";
import { type AwsWorkload, acceptedBy, type TokenWorkload } from "./token.ts";

// The part that names one repository and branch. A commit or a step may follow. https://docs.github.com/actions/reference/security/oidc
// https://docs.gitlab.com/ci/secrets/id_token_authentication/ https://buildkite.com/docs/pipelines/security/oidc
const CONTEXT = "(?:ref:refs/(?:heads|tags)/[^:]+|environment:[^:]+|pull_request)";
const ONE = [
  `repo:[^/:]+/[^/:]+:${CONTEXT}`,
  "project_path:[^:]+:ref_type:(?:branch|tag):ref:[^:]+",
  "organization:[^:]+:pipeline:[^:]+:ref:[^:]+",
].join("|");
const REST = "(?::(?s:.*))?";

const REPOSITORY = ["repository", "repository_id", "project_path", "project_id", "pipeline_slug", "pipeline_id"];
// Not job_workflow_ref: the workflow that a job calls has its own branch.
const BRANCH = ["ref", "environment", "build_branch", "build_tag"];

/** Why more than one repository or branch can assume it; undefined: at most one. An undecided question counts as more. */
export const breadthOf = (relationship: Json | null, budget?: Budget): string | undefined => {
  if (relationship === null) return undefined;
  const accepted = acceptedBy(relationship);
  if (accepted.kind === "aws") return breadthOfAws(accepted, budget);
  if (accepted.kind === "other") return undefined;
  const { claimMatch } = relationship as { claimMatch: Json };
  if (!isOne(accepted.issuer, budget))
    return `the issuer may be any that matches ${JSON.stringify(claimMatch.issuerPattern)}`;
  if (isOneBranch(accepted, budget)) return undefined;
  return `the subject may be any that matches ${JSON.stringify(claimMatch.subjectPattern)}`;
};

const isOne = (language: Language, budget: Budget | undefined) => !hasMoreThan(1, language, budget);

const isOneBranch = ({ subject, claims }: TokenWorkload, budget: Budget | undefined) => {
  const isPinned = (names: readonly string[]) =>
    names.some((name) => {
      const language = claims.get(name);
      return language !== undefined && isOne(language, budget);
    });
  if (isPinned(REPOSITORY) && isPinned(BRANCH)) return true;
  return isOne(partsOf(subject, ONE, REST), budget) || isOneRepository(subject, budget);
};

const ID = "(?:@[0-9]+)?";
const REPOSITORY_NAME = `repo:[^/:@]+${ID}/[^/:@]+${ID}:`;
const ANY = "(?s:.*)";

/** Each part of a subject of GitHub, and its place. */
const PARTS: readonly [part: string, before: string, after: string][] = [
  ["[^/:@]+", "repo:", `${ID}/${ANY}`],
  ["[0-9]+", "repo:[^/:@]+@", `/${ANY}`],
  ["[^/:@]+", "repo:[^/:]+/", `${ID}:${ANY}`],
  ["[0-9]+", "repo:[^/:]+/[^/:@]+@", `:${ANY}`],
  [CONTEXT, REPOSITORY_NAME, REST],
];

/** One repository and branch has two subjects: with its numeric ids, and without. */
const isOneRepository = (subject: Language, budget: Budget | undefined) =>
  isWithin(subject, matching(`${REPOSITORY_NAME}${CONTEXT}${REST}`), budget) &&
  PARTS.every(([part, before, after]) => isOne(every(matching(part), between([before, after], subject)), budget));

/** The parts that come first in a text, and the texts without one. */
const partsOf = (language: Language, part: string, rest: string) =>
  some(every(matching(part), between(["", rest], language)), every(language, not(matching(`(?:${part})${rest}`))));

// The session of a role has its own name: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
const ROLE = "arn:aws[a-z-]*:sts::[0-9]{12}:assumed-role/[^/]+";
const ROLE_ID = "A[RI][A-Z0-9]+";

const breadthOfAws = ({ arn, userId }: AwsWorkload, budget: Budget | undefined) => {
  const parts = [partsOf(arn, ROLE, "/(?s:.*)"), partsOf(userId, ROLE_ID, ":(?s:.*)")];
  return parts.some((one) => isOne(one, budget)) ? undefined : "neither its ARN nor its user id names one role or user";
};

// Whether a relationship lets in each workload that another one lets in.

/** False if it cannot be decided, and between workloads without a token. Audiences are compared as written. */
export const covers = (now: Json | null, old: Json | null, budget?: Budget): boolean => {
  if (now === null || old === null) return false;
  const [is, was] = [acceptedBy(now), acceptedBy(old)];
  if (is.kind !== "token" || was.kind !== "token") return false;
  return (
    audienceOf(now) === audienceOf(old) &&
    isWithin(was.issuer, is.issuer, budget) &&
    isWithin(was.subject, is.subject, budget) &&
    [...is.claims].every(([name, language]) => {
      // A token may lack a claim that the old relationship does not name.
      const own = was.claims.get(name);
      return own !== undefined && isWithin(own, language, budget);
    })
  );
};

const audienceOf = ({ claimMatch }: Json) => {
  const { audience, audiencePattern } = (claimMatch ?? {}) as Json;
  return JSON.stringify([audience ?? null, audiencePattern ?? null]);
};

// Whether a relationship lets in workloads of someone else than another one did: of another issuer, owner, organization or project.

/** The new workloads, in words: `the owner evil`; an undecided question counts as new. */
export const othersIn = (before: Json, after: Json, budget?: Budget): Found => {
  const [was, is] = [acceptedBy(before), acceptedBy(after)];
  if (was.kind === "token" && is.kind === "token")
    return firstFound(questions(was, is), (one) => answerTo(one, budget));
  if (was.kind === "aws" && is.kind === "aws")
    return answerTo({ words: "the account", language: every(is.account, not(was.account)) }, budget);
  if (was.kind === "other" && is.kind === "other")
    return was.text === is.text ? NONE : { is: "found", text: "the holder of another key" };
  const kinds = { token: "workloads with a token", aws: "principals of AWS", other: "the holder of a key" };
  return { is: "found", text: kinds[is.kind] };
};

const answerTo = ({ words, language }: Question, budget: Budget | undefined): Found => {
  const found = findText(language, budget);
  return found.is === "found" ? { is: "found", text: `${words} ${JSON.stringify(found.text)}` } : found;
};

interface Question {
  words: string;
  /** texts that the new one accepts and the old one did not */
  language: Language;
}

function* questions(was: TokenWorkload, is: TokenWorkload): Generator<Question> {
  yield { words: "the issuer", language: every(is.issuer, not(was.issuer)) };
  let isKnown = false;
  for (const customers of CUSTOMERS.filter((one) => canBeFrom(is, one))) {
    if (isOfSame(was, is, customers)) {
      isKnown = true;
      continue;
    }
    const { word } = customers;
    const fresh = every(namesIn(is, customers), not(namesIn(was, customers)));
    // Letters and digits first: an existing name reads better than an impossible one.
    yield { words: `the ${word}`, language: every(fresh, matching("[a-z0-9][a-z0-9/-]*")) };
    yield { words: `the ${word}`, language: fresh };
    yield* markQuestions(was, is, customers);
  }
  if (!isKnown) yield { words: "the subject", language: every(withoutCustomers(is.subject), not(was.subject)) };
}

/** The tokens may be from the issuer of the service. */
const canBeFrom = ({ issuer }: TokenWorkload, { issuer: own }: Customers) => {
  const others = CUSTOMERS.flatMap((one) => (one.issuer === undefined || one.issuer === own ? [] : [text(one.issuer)]));
  return !isWithin(issuer, some(...others));
};

/** Its claims name the customers of the tokens, and the old relationship accepted these. The subject can then be anything. */
const isOfSame = (was: TokenWorkload, is: TokenWorkload, customers: Customers) => {
  const names = customersOfClaims(is, customers);
  if (names && isWithin(names, namesIn(was, customers)))
    return [...markQuestions(was, is, customers)].every(({ language }) => isEmpty(language));
  return Object.entries(customers.marks).some(([claim, place]) => {
    const [known, own] = [was.claims.get(claim), is.claims.get(claim)];
    return known && own && isWithin(between(place, own), between(place, known));
  });
};

/** Customers with equal names that differ in a number. */
function* markQuestions(
  was: TokenWorkload,
  is: TokenWorkload,
  { word, marks, numbers, places }: Customers,
): Generator<Question> {
  for (const [claim, place] of Object.entries(marks)) {
    const known = was.claims.get(claim);
    if (known === undefined) continue;
    const language = every(between(place, is.claims.get(claim) ?? ANYTHING), not(between(place, known)));
    yield { words: `another ${word}, by ${claim}`, language };
  }
  const [plain] = places;
  if (numbers === undefined || plain === undefined) return;
  if (!isEmpty(every(was.subject, matching(`${plain[0]}[^/:@]+/(?s:.*)`)))) return;
  const digits = matching("[0-9]+");
  const known = every(digits, between(numbers, was.subject));
  if (isEmpty(known)) return;
  yield { words: `another ${word}, by number`, language: every(digits, between(numbers, is.subject), not(known)) };
}
