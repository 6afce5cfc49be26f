// Whether an identity is open to every customer of a shared service: its patterns leave the customer open.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { type Found, findText, firstFound, hasMoreThan, isEmpty, LISTED_MAX, NONE } from "../pattern/decide.ts";
import { ANYTHING, every, type Language, matching, NOTHING, not, small, text } from "../pattern/language.ts";
import { between, CUSTOMERS, type Customers, ISSUERS, namesIn } from "./customer.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";

/** Whose workloads it lets in, in words: `every owner of GitHub, such as "evil"`. An undecided question counts as everyone's. */
export const everyoneIn = (relationship: Json | null, budget?: Budget): Found => {
  const { claimMatch } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (!claimMatch) return NONE;
  return firstFound(openings(tokensOf(claimMatch), budget), ({ words, names }) => {
    const example = exampleOf(names, budget);
    if (example === undefined) return { is: "undecided" };
    return { is: "found", text: `${words}, such as ${JSON.stringify(example)}` };
  });
};

interface Opening {
  words: string;
  names: Language;
}

function* openings(tokens: TokenWorkload, budget: Budget | undefined): Generator<Opening> {
  const isOneIssuer = tokens.issuer.kind === "text";
  for (const { words, place, name = "[^/]+" } of isOneIssuer ? [] : ISSUERS) {
    const names = every(matching(name), between(place, tokens.issuer));
    if (isOpen(names, budget)) yield { words, names };
  }
  for (const customers of CUSTOMERS) {
    const { issuer, service, word, top } = customers;
    if (issuer === undefined || isEmpty(every(tokens.issuer, text(issuer)), budget)) continue;
    if (isPinned(tokens, customers, budget)) continue;
    const names = top ? every(matching(top.name), between(top.place, tokens.subject)) : namesIn(tokens, customers);
    if (isOpen(names, budget)) yield { words: `every ${word} of ${service}`, names };
    const anonymous = every(
      tokens.subject,
      customers.anonymous === undefined ? NOTHING : matching(customers.anonymous),
    );
    if (!isEmpty(anonymous, budget))
      yield { words: `every ${word} of ${service}, whose subjects can be the same`, names: anonymous };
  }
}

/** undefined: undecided. */
const exampleOf = (names: Language, budget: Budget | undefined) => {
  const first = findText(names, budget);
  if (first.is !== "found") return undefined;
  // The shortest name often belongs to the intended customer.
  const others = [text("someone-else"), every(matching("[a-z0-9-]+"), not(text(first.text))), not(text(first.text))];
  const found = others.map((one) => findText(every(names, one), budget)).find((one) => one.is === "found");
  return found?.is === "found" ? found.text : first.text;
};

/** Case does not distinguish names. */
const isOpen = (names: Language, budget: Budget | undefined) =>
  hasMoreThan(LISTED_MAX, names, budget) && hasMoreThan(LISTED_MAX, small(names), budget);

/** A claim leaves few customers, whatever the subject is. */
const isPinned = ({ claims }: TokenWorkload, customers: Customers, budget: Budget | undefined) => {
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
