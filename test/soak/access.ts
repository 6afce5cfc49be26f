// The review against the server's own authorisation: random organisations, and random changes of each. The graphs before and after
// are read over the API. What they say of each identity, group and capability must be what the server decides, and the rows of
// the change must be those that follow from its decisions. The first difference is shrunk and reported.
import * as fc from "fast-check";
import { type AccessGraph, lineageOf } from "../../access/graph/graph.ts";
import { accessIn } from "../../access/graph/holds.ts";
import { accessChange } from "../../access/review/change.ts";
import { type Authorization, authorizationOf, expectedRows, NAMES } from "./access/authorization.ts";
import { changes, growth } from "./access/operation.ts";
import type { Organization } from "./access/organization.ts";
import { createWorld } from "./access/world.ts";
import type { PartOptions, PartResult } from "./part.ts";

const AT_ONCE = 50;

/** `rounds`: organisations, each with one change. */
export const access = async ({ seed, rounds, say }: PartOptions): Promise<PartResult> => {
  const counts = { organizations: 0, decisions: 0, rows: 0, decisionsInPart: 0 };
  const failures: string[] = [];
  const world = await createWorld(seed);

  /** What the API shows now, which agrees with what the server decides now. */
  const readNow = async (organization: Organization, part: number) => {
    const { graph, notVisible } = await world.read();
    const authorization = authorizationOf(organization);
    const hidden = notVisible.filter(({ group }) => group.startsWith(organization.uid));
    if (hidden.length > 0) throw new Error(`the auditor cannot list ${JSON.stringify(hidden)}`);
    counts.decisions += compare(graph, authorization, (said, decided) => said === decided);
    const { graph: inPart } = await world.readPart(organization, part);
    // Who sees a part sees less access than there is, and never more.
    counts.decisionsInPart += compare(inPart, authorization, (said, decided) => !said || decided);
    return { graph, authorization };
  };

  const story = fc.record({ first: growth, change: changes, part: fc.nat({ max: 1_000 }) });
  const property = fc.asyncProperty(story, ({ first, change, part }) =>
    world.inOrganization(async (organization) => {
      counts.organizations += 1;
      for (const carryOut of first) carryOut(organization);
      const before = await readNow(organization, part);
      for (const carryOut of change) carryOut(organization);
      const after = await readNow(organization, part);
      const identities = new Set([...before.authorization.identities, ...after.authorization.identities]);
      const rows = rowsOf(before.graph, after.graph, identities);
      checkRows(rows, expectedRows(before.authorization, after.authorization));
      counts.rows += rows.length;
    }),
  );
  try {
    for (let done = 0; done < rounds && failures.length === 0; done += AT_ONCE) {
      const details = await fc.check(property, { seed: seed + done, numRuns: Math.min(AT_ONCE, rounds - done) });
      if (details.failed) failures.push(`${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
      say?.(`${counts.organizations} of ${rounds} organisations, ${counts.decisions} decisions`);
    }
  } finally {
    await world.close();
  }
  return {
    figures: {
      "organisations, each changed once": counts.organizations,
      "decisions of the server compared": counts.decisions,
      "decisions, for a reader of a part": counts.decisionsInPart,
      "rows of gains and losses": counts.rows,
      divergences: failures.length,
    },
    failures,
  };
};

type Agrees = (said: boolean, decided: boolean) => boolean;

/** Throws the first decision that the graph does not agree with. Returns how many there are. */
const compare = (graph: AccessGraph, authorization: Authorization, agrees: Agrees): number => {
  const { holds } = accessIn(graph);
  const { groups, identities, decisions } = authorization;
  for (const group of groups) {
    const lineage = lineageOf(graph, group);
    for (const identity of identities) {
      const allowed = decisions(identity, group);
      for (const capability of NAMES) {
        const said = holds(identity, capability, lineage);
        const decided = allowed.has(capability);
        if (!agrees(said, decided))
          throw new Error(`${identity} ${capability} at ${group}: the server says ${decided}, the graph says ${said}`);
      }
    }
  }
  return groups.size * identities.size * NAMES.length;
};

const rowsOf = (before: AccessGraph, after: AccessGraph, identities: ReadonlySet<string>): string[] => {
  const nameOf = (graph: AccessGraph, role: string): string | undefined => graph.roles.get(role)?.name;
  return accessChange(before, after)
    .filter(({ identity }) => identities.has(identity))
    .flatMap(({ identity, gains, losses }) => [
      ...gains.map((row) => `${identity} + ${row.group} ${row.capability} by ${nameOf(after, row.role)}`),
      ...losses.map((row) => `${identity} - ${row.group} ${row.capability} by ${nameOf(before, row.role)}`),
    ])
    .sort();
};

const checkRows = (rows: readonly string[], expected: readonly string[]): void => {
  const [said, due] = [new Set(rows), new Set(expected)];
  const wrong = rows.filter((row) => !due.has(row)).map((row) => `should not be there: ${row}`);
  const missing = expected.filter((row) => !said.has(row)).map((row) => `is missing: ${row}`);
  if (rows.length > said.size) wrong.push("a row is there twice");
  if (wrong.length + missing.length > 0) throw new Error([...wrong, ...missing].join("\n"));
};
