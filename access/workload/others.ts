// Whether a relationship lets in workloads of someone else than another one did: of another issuer, owner, organization or project.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { type Found, findText, firstFound, isEmpty, isWithin, NONE } from "../pattern/decide.ts";
import { ANYTHING, every, type Language, matching, not, some, text } from "../pattern/language.ts";
import { between, CUSTOMERS, type Customers, customersOfClaims, namesIn, withoutCustomers } from "./customer.ts";
import { acceptedBy, type TokenWorkload } from "./token.ts";

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
