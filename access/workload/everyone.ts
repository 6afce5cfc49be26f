// Whether an identity is open to every customer of a service that many share: its patterns leave open whose workload it is.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { countTexts, findText } from "../pattern/decide.ts";
import { ANYTHING, every, type Language, matching, NOTHING, not, small, text } from "../pattern/language.ts";
import { between, CUSTOMERS, type Customers, ISSUERS, namesIn } from "./customer.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";

/** More customers than somebody lists. */
const LISTED_MAX = 32;

/** `found`: whose workloads it lets in, in words: `every owner of GitHub, such as "evil"`. Undecided counts as everyone's. */
type Everyone = { is: "none" } | { is: "undecided" } | { is: "found"; text: string };

export const everyoneIn = (relationship: Json | null, budget?: Budget): Everyone => {
  const { claimMatch } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (!claimMatch) return { is: "none" };
  const tokens = tokensOf(claimMatch);
  let answer: Everyone = { is: "none" };
  for (const { words, names, isOpen } of openings(tokens, budget)) {
    if (!isOpen) continue;
    const example = exampleOf(names, budget);
    if (example !== undefined) return { is: "found", text: `${words}, such as ${JSON.stringify(example)}` };
    answer = { is: "undecided" };
  }
  return answer;
};

interface Opening {
  words: string;
  names: Language;
  isOpen: boolean;
}

function* openings(tokens: TokenWorkload, budget: Budget | undefined): Generator<Opening> {
  const isOneIssuer = tokens.issuer.kind === "text";
  for (const { words, place, name = "[^/]+" } of isOneIssuer ? [] : ISSUERS) {
    const names = every(matching(name), between(place, tokens.issuer));
    yield { words, names, isOpen: isOpen(names, budget) };
  }
  for (const customers of CUSTOMERS) {
    const { issuer, service, word } = customers;
    if (issuer === undefined || findText(every(tokens.issuer, text(issuer)), budget).is === "none") continue;
    if (isPinned(tokens, customers, budget)) continue;
    const names = topIn(tokens, customers);
    yield { words: `every ${word} of ${service}`, names, isOpen: isOpen(names, budget) };
    const anonymous = anonymousIn(tokens, customers);
    yield {
      words: `every ${word} of ${service}, whose subjects can be the same`,
      names: anonymous,
      isOpen: findText(anonymous, budget).is !== "none",
    };
  }
}

/** undefined: not decided. */
const exampleOf = (names: Language, budget: Budget | undefined): string | undefined => {
  const first = findText(names, budget);
  if (first.is !== "found") return undefined;
  // The shortest name often belongs to the customer that is meant.
  const others = [text("someone-else"), every(matching("[a-z0-9-]+"), not(text(first.text))), not(text(first.text))];
  const found = others.map((one) => findText(every(names, one), budget)).find((one) => one.is === "found");
  return found?.is === "found" ? found.text : first.text;
};

/** Case does not distinguish names. */
const isOpen = (names: Language, budget: Budget | undefined): boolean => {
  const listed = countTexts(names, LISTED_MAX + 1, budget);
  if (listed !== undefined && listed <= LISTED_MAX) return false;
  const count = countTexts(small(names), LISTED_MAX + 1, budget);
  return count === undefined || count > LISTED_MAX;
};

/** A claim leaves few customers, whatever the subject is. */
const isPinned = ({ claims }: TokenWorkload, customers: Customers, budget: Budget | undefined): boolean => {
  const { name, marks, pins } = customers;
  const named = Object.entries(customers.claims).map(([claim, place]) => ({ claim, place, part: matching(name) }));
  const other = [...Object.entries(marks), ...pins.map((claim) => [claim, ["", ""]] as const)];
  return [...named, ...other.map(([claim, place]) => ({ claim, place, part: ANYTHING }))].some(
    ({ claim, place, part }) => {
      const language = claims.get(claim);
      return language !== undefined && !isOpen(every(part, between(place, language)), budget);
    },
  );
};

const topIn = (tokens: TokenWorkload, customers: Customers): Language => {
  const { top } = customers;
  return top ? every(matching(top.name), between(top.place, tokens.subject)) : namesIn(tokens, customers);
};

const anonymousIn = ({ subject }: TokenWorkload, { anonymous }: Customers): Language =>
  anonymous === undefined ? NOTHING : every(subject, matching(anonymous));
