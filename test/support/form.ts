// Tests of a second form, language or kind that runs the code of the first one: `npm test` leaves them out, and
// `npm run soak -- --only forms` runs them (test/soak/vitest.ts).

const isComplete = process.env.IRM_ALL_FORMS === "1";

/** Empty, or where the test runs: the end of its title. */
export const onlyInSoak = isComplete ? "" : " (npm run soak -- --only forms)";

/** The first of these forms, or all. */
export const formsOf = <const Forms extends readonly unknown[]>(...forms: Forms): Forms[number][] =>
  isComplete ? [...forms] : forms.slice(0, 1);
