// The review against the server's own authorisation: random organizations, and random changes of each. The graphs are read over the
// API; the rows and findings of the change must follow from what the server decides.
import { accessChange, accessIn } from "../../access/graph/effective-access.ts";
import { type AccessGraph, lineageOf } from "../../access/graph/graph.ts";
import { readLive } from "../../access/graph/live.ts";
import { operator } from "../../server/caller/caller.ts";
import { builtInRoleUid } from "../../server/services/role.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createPageTokens } from "../../server/store/list.ts";
import { createStore } from "../../server/store/store.ts";
import { clientOf } from "../access/client.ts";
import { type Actor, sharedKeys, shuffledIds, startServer } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { createRandom } from "../support/random.ts";
import { type Authorization, authorizationOf, expectedRows, NAMES } from "./access/authorization.ts";
import { change, grow } from "./access/operation.ts";
import { createOrganization, type Organization } from "./access/organization.ts";
import { expectedFindings, findingsOf, momentOf } from "./access/rule-oracle.ts";
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

type Agrees = (held: boolean, decided: boolean) => boolean;

/** Throws the first decision that the graph does not agree with. Returns how many there are. */
const compare = (graph: AccessGraph, authorization: Authorization, agrees: Agrees): number => {
  const { holds } = accessIn(graph);
  const { groups, identities, decisions } = authorization;
  for (const group of groups) {
    const lineage = lineageOf(graph, group);
    for (const identity of identities) {
      const allowed = decisions(identity, group);
      for (const capability of NAMES) {
        const held = holds(identity, capability, lineage);
        const decided = allowed.has(capability);
        if (!agrees(held, decided))
          throw new Error(`${identity} ${capability} at ${group}: the server says ${decided}, the graph says ${held}`);
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

/** Throws what is in one list and not in the other. */
const checkRows = (rows: readonly string[], expected: readonly string[]): void => {
  const [found, due] = [new Set(rows), new Set(expected)];
  const wrong = rows.filter((row) => !due.has(row)).map((row) => `should not be there: ${row}`);
  const missing = expected.filter((row) => !found.has(row)).map((row) => `is missing: ${row}`);
  if (rows.length > found.size) wrong.push("a row is there twice");
  if (wrong.length + missing.length > 0) throw new Error([...wrong, ...missing].join("\n"));
};

/** Roles by which one sees all, or the bindings without the roles, or no bindings. */
const PARTS = ["viewer", "registry.pull", "registry.pull_token_creator"];

const createWorld = async (seed: number) => {
  const store = createStore(openDatabase(":memory:"));
  const clock = manualClock();
  const api = await startServer({ clock, store, ids: shuffledIds(seed) });
  const [auditor, reader] = [await api.actor("auditor"), await api.actor("reader")];
  const outsider = await api.actor("outsider");
  const services = {
    log: () => undefined,
    store,
    tokens: createPageTokens(sharedKeys().pageTokenKey, clock)(operator),
    ids: shuffledIds(seed + 1),
    now: clock(),
    identityRules: { loopback: true, ownIssuer: api.authUrl, anyone: api.anyone },
    uniqueRoleBindings: false,
    withoutAntiEscalation: false,
  };

  const withBinding = async <T>(
    organization: Organization,
    { uid }: Actor,
    place: string,
    role: string,
    work: () => Promise<T>,
  ) => {
    const roleBinding = { identityUid: uid, roleUid: builtInRoleUid(role) } as never;
    const { uid: binding } = organization.serve("CreateRoleBinding", { parent: place, roleBinding });
    try {
      return await work();
    } finally {
      organization.serve("DeleteRoleBinding", { uid: binding as string });
    }
  };

  const clients = { auditor: clientOf(api, auditor.token), reader: clientOf(api, reader.token) };
  return {
    /** Works in a new organization. */
    inOrganization: async (work: (organization: Organization) => Promise<void>): Promise<void> => {
      const organization = createOrganization(services, outsider.uid, [auditor.uid, reader.uid]);
      await withBinding(organization, auditor, organization.uid, "viewer", () => work(organization));
      organization.deleteTree(organization.uid);
    },
    /** as one who sees all of the organization */
    read: () => readLive(clients.auditor),
    /** as one who sees one of its groups, by one of a few roles */
    readPart: (organization: Organization, which: number) => {
      const groups = organization.uids("groups");
      const place = groups[which % groups.length] as string;
      const role = PARTS[which % PARTS.length] as string;
      return withBinding(organization, reader, place, role, () => readLive(clients.reader));
    },
    close: api.close,
  };
};
