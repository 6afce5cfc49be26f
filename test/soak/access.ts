// The review against the server's own authorisation: random organizations, and random changes of each. The graphs before and after
// are read over the API. What they say of each identity, group and capability must be what the server decides; the rows of the change
// must be those that follow from its decisions, and the findings of the rules those of an oracle.
import { createRandom } from "../support/random.ts";
import { checkRows, compare, rowsOf } from "./access/agreement.ts";
import { authorizationOf, expectedRows } from "./access/authorization.ts";
import { change, grow } from "./access/operation.ts";
import type { Organization } from "./access/organization.ts";
import { expectedFindings, findingsOf, momentOf } from "./access/rule-oracle.ts";
import { createWorld } from "./access/world.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";

/** `rounds`: organizations, each with one change. */
export const access = async (options: PartOptions): Promise<PartResult> => {
  const figures = {
    "decisions of the server compared": 0,
    "decisions, for a reader of a part": 0,
    "rows of gains and losses": 0,
    "findings of the rules": 0,
  };
  const world = await createWorld(options.seed);

  /** What the API shows now, which agrees with what the server decides now. */
  const readNow = async (organization: Organization, part: number) => {
    const { graph, notVisible } = await world.read();
    const authorization = authorizationOf(organization);
    const hidden = notVisible.filter(({ group }) => group.startsWith(organization.uid));
    if (hidden.length > 0) throw new Error(`the auditor cannot list ${JSON.stringify(hidden)}`);
    figures["decisions of the server compared"] += compare(graph, authorization, (held, decided) => held === decided);
    const live = await world.readPart(organization, part);
    // Who sees a part sees less access than there is, and never more.
    const inPart = compare(live.graph, authorization, (held, decided) => !held || decided);
    figures["decisions, for a reader of a part"] += inPart;
    return { graph, ...momentOf(organization, authorization) };
  };

  const failures = await proveEach(options, async (own) => {
    const random = createRandom(own);
    const part = random.below(1_000);
    await world.inOrganization(async (organization) => {
      grow(organization, random);
      const before = await readNow(organization, part);
      change(organization, random);
      const after = await readNow(organization, part);
      const identities = new Set([...before.authorization.identities, ...after.authorization.identities]);
      const rows = rowsOf(before.graph, after.graph, identities);
      checkRows(rows, expectedRows(before.authorization, after.authorization));
      figures["rows of gains and losses"] += rows.length;
      // One new binding in three was removed by hand before.
      const created = [...after.bindings.keys()].filter((uid) => !before.bindings.has(uid));
      const restored = created.filter((_, i) => (i + part) % 3 === 0);
      const findings = findingsOf(organization.uid, before.graph, after.graph, restored);
      checkRows(findings, expectedFindings(before, after, restored));
      figures["findings of the rules"] += findings.length;
    });
  });
  await world.close();
  return { figures, failures };
};
