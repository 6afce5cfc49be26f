// Reviews for the tests of the formats: a small organisation that shows every part of a page, and a large one from a seed.
import { type GraphBuilder, type IdentityNode, type NodeId, newGraph, pathOf } from "../../../access/graph/graph.ts";
import { accessChange } from "../../../access/review/change.ts";
import type { IdentityReview, Report, Review, Row } from "../../../access/review/report.ts";
import { capabilities, type Json } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn, uidOf } from "../graphs.ts";

const friendly = capabilities.filter((one) => !one.internalOnly && !one.deprecated).map(({ name }) => name);
const reading = friendly.filter((name) => /\.(list|get)$/.test(name));

/** The report of two graphs, without what only a rule or a preview adds. */
export const reviewOf = (before: GraphBuilder, after: GraphBuilder, further: Partial<Report> = {}): Review => {
  const changed = new Map(accessChange(before, after).map((one) => [one.identity, one]));
  const identities = new Set([...before.identities.keys(), ...after.identities.keys()]);
  const rowOf =
    (own: GraphBuilder) =>
    (row: { group: NodeId; capability: string; role: NodeId }): Row => ({
      group: uidOf(row.group),
      groupName: pathOf(own, row.group),
      capability: row.capability,
      role: own.roles.get(row.role)?.name ?? row.role,
    });
  const blocks = [...identities].flatMap((id): IdentityReview[] => {
    const [old, own, change] = [before.identities.get(id), after.identities.get(id), changed.get(id)];
    const node = own ?? old;
    const [assumableBefore, assumableAfter] = [old?.relationship ?? null, own?.relationship ?? null];
    if (node === undefined || (!change && JSON.stringify(assumableBefore) === JSON.stringify(assumableAfter)))
      return [];
    return [
      {
        uid: node.uid,
        name: node.name,
        groupName: pathOf(own ? after : before, node.group),
        change: old === undefined ? "created" : own === undefined ? "deleted" : "none",
        gains: change?.gains.map(rowOf(after)) ?? [],
        losses: change?.losses.map(rowOf(before)) ?? [],
        assumableBefore,
        assumableAfter,
        before: wordsOf(assumableBefore),
        after: wordsOf(assumableAfter),
      },
    ];
  });
  const empty = { findings: [], deletedGroups: [], adopted: [], forceDestroy: [], undeclared: [], expiringKeys: [] };
  return {
    report: { source: "preview", identities: blocks, ...empty, unknown: [], notVisible: [], ...further },
    before,
    after,
  };
};

const wordsOf = (relationship: Json | null): IdentityReview["before"] => {
  const match = relationship?.claimMatch as Record<string, string> | undefined;
  if (match === undefined) return null;
  const subject = match.subject ?? match.subjectPattern;
  return {
    text: `a token of ${match.issuer} whose subject ${match.subject ? "is" : "matches"} ${subject}`,
    patterns: [],
  };
};

const GITHUB = "https://token.actions.githubusercontent.com";

/** `publish` renamed in nothing, and every kind of change once. */
export const smallReview = (): Review => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const platform = addGroup(before, uidIn(ROOT, 1), "platform", ROOT);
  const registry = addGroup(before, uidIn(platform, 2), "registry", platform);
  const legacy = addGroup(before, uidIn(ROOT, 3), "legacy", ROOT);
  const viewer = addRole(before, "viewer", reading);
  const owner = addRole(before, "owner", friendly);
  const publisher = addRole(
    before,
    "publisher",
    ["repo.list", "repo.create", "manifest.create", "tag.create"],
    platform,
  );
  const admin = addIdentity(before, uidIn(ROOT, 16), "admin", ROOT, {
    issuer: GITHUB,
    subject: "repo:acme/access:ref:refs/heads/main",
  });
  const release = addIdentity(before, uidIn(platform, 17), "release", platform, {
    issuer: GITHUB,
    subject: "repo:acme/images:ref:refs/heads/main",
  });
  const audit = addIdentity(before, uidIn(ROOT, 18), "audit", ROOT, {
    issuer: GITHUB,
    subject: "repo:acme/audit:ref:refs/heads/main",
  });
  bind(before, ROOT, admin, owner);
  bind(before, ROOT, audit, viewer);
  bind(before, legacy, release, publisher);

  const after = newGraph(before);
  after.groups.delete(legacy);
  after.bindings.delete(`${legacy}/b ${release} ${publisher}`);
  const clusters = addGroup(after, "urn:clusters", "clusters", platform);
  const deploy = addIdentity(after, "urn:deploy", "deploy", platform, {
    issuer: "https://oidc.example.com/id/7",
    subject: "system:serviceaccount:prod:deployer",
  });
  after.identities.set(release, {
    ...(before.identities.get(release) as IdentityNode),
    relationship: { claimMatch: { issuer: GITHUB, subjectPattern: "repo:acme/[^/:]*:ref:refs/heads/main" } },
  });
  bind(after, registry, release, publisher);
  bind(after, clusters, deploy, publisher);
  bind(after, platform, release, owner);
  const review = reviewOf(before, after, {
    findings: [
      {
        rule: "gains-owner",
        subject: release,
        name: "release",
        message: "can grant access at platform and below: role_bindings.create through owner",
        denied: true,
      },
      {
        rule: "matches-many",
        subject: release,
        name: "release",
        message: "more than one repository can assume it: repo:acme/[^/:]*:ref:refs/heads/main",
      },
      {
        rule: "new-issuer",
        subject: "deploy",
        name: "deploy",
        message: "trusts https://oidc.example.com/id/7, which no identity trusted before",
        allowed: true,
      },
    ],
    deletedGroups: [
      { group: legacy, groupName: "legacy", contents: [{ kind: "repo", uid: uidIn(legacy, 32), name: "old-images" }] },
    ],
    adopted: [{ kind: "group", uid: platform, name: "platform", resource: "platform", deletedLater: false }],
    forceDestroy: [
      {
        kind: "group",
        uid: legacy,
        name: "legacy",
        resource: "legacy",
        deletes: true,
        contents: [{ kind: "repo", uid: uidIn(legacy, 32), name: "old-images" }],
      },
    ],
    undeclared: [
      { binding: uidIn(ROOT, 64), group: ROOT, groupName: "/", identity: audit, identityName: "audit", role: "viewer" },
    ],
    expiringKeys: [{ uid: admin, name: "break-glass", groupName: "/", expirationTime: "2026-12-01T00:00:00Z" }],
    unknown: [{ subject: "clusters", property: "identity", message: "is not known before the update" }],
    notVisible: [
      {
        kind: "role",
        group: legacy,
        groupName: "legacy",
        message: "roles of this group cannot be listed: roles.list is needed at it",
      },
    ],
  });
  const [block] = review.report.identities.filter(({ name }) => name === "release");
  if (block?.after)
    block.after.patterns = [
      {
        claim: "sub",
        pattern: "repo:acme/[^/:]*:ref:refs/heads/main",
        matches: ["repo:acme/images:ref:refs/heads/main", "repo:acme/x:ref:refs/heads/main"],
        differs: [
          "repo:acme/images:ref:refs/heads/main2",
          "repo:acme/images:pull_request",
          "repo:other/images:ref:refs/heads/main",
        ],
      },
    ];
  return review;
};

export interface LargeOptions {
  groups: number;
  identities: number;
  bindings: number;
  /** bindings that are new, and as many that are gone */
  changes: number;
}

/** The same for the same seed. */
export const largeReview = (seed: number, { groups, identities, bindings, changes }: LargeOptions): Review => {
  const random = createRandom(seed);
  const before = newGraph();
  const places = [addGroup(before, ROOT, "acme", null)];
  for (let i = 1; i < groups; i += 1) {
    const parent = random.pick(places.slice(0, Math.max(1, Math.floor(i / 3))));
    places.push(addGroup(before, uidIn(parent, i), `${random.pick(NAMES)}-${i}`, parent));
  }
  const roles = [
    addRole(before, "viewer", reading),
    addRole(
      before,
      "editor-plus",
      friendly.filter((name) => !name.startsWith("role")),
    ),
    ...["publisher", "puller", "signer", "auditor"].map((name) =>
      addRole(
        before,
        name,
        Array.from({ length: 2 + random.below(10) }, () => random.pick(friendly)),
        ROOT,
      ),
    ),
  ];
  const people = Array.from({ length: identities }, (_, i) => {
    const name = `${random.pick(NAMES)}-ci-${i}`;
    return addIdentity(before, uidIn(random.pick(places), 100_000 + i), name, ROOT, {
      issuer: GITHUB,
      subject: `repo:acme/${name}:ref:refs/heads/main`,
    });
  });
  const add = (graph: GraphBuilder, count: number) => {
    const wanted = graph.bindings.size + count;
    while (graph.bindings.size < wanted) bind(graph, random.pick(places), random.pick(people), random.pick(roles));
  };
  add(before, bindings);
  const after = newGraph(before);
  for (const id of [...after.bindings.keys()].filter((_, i) => i % Math.ceil(bindings / changes) === 0))
    after.bindings.delete(id);
  add(after, changes);
  return reviewOf(before, after);
};

const NAMES = ["platform", "registry", "payments", "search", "images", "mobile", "billing", "data", "edge", "identity"];
