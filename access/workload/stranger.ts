// Subjects of several customers that a pattern accepts, one of each: a reader sees who else is let in.
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { every, type Language, matching, not, small, text } from "../pattern/language.ts";
import { CUSTOMERS, namesIn } from "./customer.ts";

const SHOWN = 2;

/** Where the names of customers stand, and subjects as people know them. */
const PLAUSIBLE: Readonly<Record<string, readonly string[]>> = {
  GitHub: [
    "NAME(?:@[0-9]+)?/(?:images|shop|x)(?:@[0-9]+)?:(?:ref:refs/heads/main|pull_request|environment:prod|ref:refs/tags/v1)",
    "NAME(?:@[0-9]+)?/(?s:.*)",
  ],
  GitLab: ["NAME:ref_type:branch:ref:main", "NAME:(?s:.*)"],
  Buildkite: ["NAME:pipeline:images:ref:refs/heads/main:commit:1:step:build", "NAME:(?s:.*)"],
};

/** At most two examples. None if the pattern lets in one customer only, or if that could not be decided. */
export const strangersIn = (subject: Language, budget: Budget): string[] => {
  for (const customers of CUSTOMERS) {
    const forms = PLAUSIBLE[customers.service];
    const [place] = customers.places;
    if (forms === undefined || place === undefined) continue;
    // Case does not distinguish names.
    let names = every(small(namesIn({ kind: "token", issuer: subject, subject, claims: new Map() }, customers)), SAFE);
    const found: string[] = [];
    while (found.length < SHOWN) {
      const name = nameIn(names, budget);
      if (name === undefined) break;
      names = every(names, not(text(name)));
      for (const form of forms) {
        const example = findText(
          every(subject, matching(place[0] + form.replace("NAME", `(?i:${escapeDots(name)})`))),
          budget,
        );
        if (example.is !== "found") continue;
        found.push(example.text);
        break;
      }
    }
    if (found.length > 1) return found;
  }
  return [];
};

/** Texts without characters that have a meaning in a pattern. */
const SAFE = matching("[a-z0-9/_.-]+");

const escapeDots = (name: string): string => name.replaceAll(".", "\\.");

const nameIn = (names: Language, budget: Budget): string | undefined => {
  for (const language of [every(names, text("someone-else")), names]) {
    const found = findText(language, budget);
    if (found.is === "found") return found.text;
  }
  return undefined;
};
