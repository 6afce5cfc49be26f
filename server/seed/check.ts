// Finds problems in the records of a seed: those that the API refuses in a trial on an empty store. It also finds records of one file that a
// restarted server could not tell apart.
import type { Json, RoleBundles } from "../../schema/index.ts";
import { openDatabase } from "../store/database.ts";
import { createStore } from "../store/store.ts";
import { createRecords, type SeedContext } from "./apply.ts";
import { createCopies } from "./apply-copy.ts";
import type { CopySeed } from "./copy.ts";
import type { Problem } from "./problem.ts";
import type { Seed } from "./record.ts";
import { ensureRoles } from "./roles.ts";
import { ANYONE } from "./start.ts";

/** `roles`: the built-in roles of the server. */
export const seedProblems = (seed: Seed, roles?: RoleBundles): Problem[] =>
  tryOut((context) => {
    ensureRoles(context.store, roles, 0);
    const { problems } = createRecords(seed, context, true);
    return [...problems, ...repeatedRecords(seed)];
  });

/** The problems of a copy. A user can leave out a refused record, because its dependents are also reported. */
export const copyProblems = (seed: CopySeed): Problem[] => tryOut((context) => createCopies(seed, context));

const tryOut = (create: (context: SeedContext) => Problem[]) => {
  const store = createStore(openDatabase(":memory:"));
  let count = 0;
  const next = (digits: number) => (++count).toString(16).padStart(digits, "0");
  const ids = { root: () => next(40), segment: () => next(16) };
  try {
    return store.transaction(() => create({ ...trial, store, now: 0, ids }));
  } finally {
    store.close();
  }
};

// Which issuers a server serves depends on its options, which a file does not know.
const trial = {
  log: () => {},
  tokens: { read: () => undefined, write: () => "" },
  identityRules: { loopback: true, ownIssuer: "", anyone: ANYONE, devIssuer: "https://issuer.example" },
  uniqueRoleBindings: false,
  withoutAntiEscalation: false,
};

// A server that starts again finds a record by these fields: the second one would be lost.
const repeatedRecords = (seed: Seed) => [
  ...findRepeats(["groups"], seed.groups, "name", "parent"),
  ...(["roles", "identities", "identityProviders", "repos"] as const).flatMap((section) =>
    findRepeats([section], seed[section], "name", "group"),
  ),
  ...findRepeats(
    ["externalGroupRoleMappings"],
    seed.externalGroupRoleMappings,
    "externalGroupId",
    "identityProvider",
    "role",
  ),
  ...findRepeats(["accountAssociations"], seed.accountAssociations, "group"),
  ...findRepeats(["advisories"], seed.advisories, "advisoryId", "group"),
  ...seed.repos.flatMap(({ tags }, i) => findRepeats(["repos", i, "tags"], tags, "name")),
];

/** The problem is at the first of the fields. */
const findRepeats = (
  path: PropertyKey[],
  records: readonly Json[] = [],
  ...fields: [string, ...string[]]
): Problem[] => {
  const keys = records.map((record) => JSON.stringify(fields.map((field) => record[field])));
  return keys.flatMap((key, i) =>
    keys.indexOf(key) === i
      ? []
      : [{ path: [...path, i, fields[0]], text: "another record of this file has the same" }],
  );
};
