// The review against the server's own authorisation: random organizations, and random changes of each. The graphs before and after
// are read over the API. What they say of each identity, group and capability must be what the server decides; the rows of the change
// must be those that follow from its decisions, and the findings of the rules those of an oracle. The first difference is shrunk and
// reported.
import * as fc from "fast-check";
import { checkRows, compare, rowsOf } from "./access/agreement.ts";
import { authorizationOf, expectedRows } from "./access/authorization.ts";
import { changes, growth } from "./access/operation.ts";
import type { Organization } from "./access/organization.ts";
import { expectedFindings, findingsOf, momentOf } from "./access/rule-oracle.ts";
import { createWorld } from "./access/world.ts";
import type { PartOptions, PartResult } from "./part.ts";

const AT_ONCE = 50;

/** `rounds`: organizations, each with one change. */
export const access = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const counts = { organizations: 0, decisions: 0, rows: 0, findings: 0, decisionsInPart: 0 };
  const failures: string[] = [];
  const world = await createWorld(seed);

  /** What the API shows now, which agrees with what the server decides now. */
  const readNow = async (organization: Organization, part: number) => {
    const { graph, notVisible } = await world.read();
    const authorization = authorizationOf(organization);
    const hidden = notVisible.filter(({ group }) => group.startsWith(organization.uid));
    if (hidden.length > 0) throw new Error(`the auditor cannot list ${JSON.stringify(hidden)}`);
    counts.decisions += compare(graph, authorization, (held, decided) => held === decided);
    const live = await world.readPart(organization, part);
    // Who sees a part sees less access than there is, and never more.
    counts.decisionsInPart += compare(live.graph, authorization, (held, decided) => !held || decided);
    return { graph, ...momentOf(organization, authorization) };
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
      // One new binding in three was removed by hand before.
      const created = [...after.bindings.keys()].filter((uid) => !before.bindings.has(uid));
      const restored = created.filter((_, i) => (i + part) % 3 === 0);
      const findings = findingsOf(organization.uid, before.graph, after.graph, restored);
      checkRows(findings, expectedFindings(before, after, restored));
      counts.findings += findings.length;
    }),
  );
  try {
    for (let done = 0; done < rounds && failures.length === 0; done += AT_ONCE) {
      const details = await fc.check(property, { seed: seed + done, numRuns: Math.min(AT_ONCE, rounds - done) });
      if (details.failed) failures.push(`${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
      log?.(`${counts.organizations} of ${rounds} organizations, ${counts.decisions} decisions`);
    }
  } finally {
    await world.close();
  }
  return {
    figures: {
      "organizations, each changed once": counts.organizations,
      "decisions of the server compared": counts.decisions,
      "decisions, for a reader of a part": counts.decisionsInPart,
      "rows of gains and losses": counts.rows,
      "findings of the rules": counts.findings,
      divergences: failures.length,
    },
    failures,
  };
};
