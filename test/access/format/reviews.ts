// Reviews for the tests of the formats: a small organization that shows every part of a page, and a large one from a seed.
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reviewDocument } from "../../../access/format/review/document.ts";
import { type GraphBuilder, type IdentityNode, newGraph, type RoleNode } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { NO_RUN, type Report, type Review, type RunReport } from "../../../access/review/report.ts";
import type { Verdict } from "../../../access/review/rules-file.ts";
import { capabilities } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

const friendly = capabilities.filter((one) => !one.internalOnly && !one.deprecated).map(({ name }) => name);
const reading = friendly.filter((name) => /\.(list|get)$/.test(name));

/** A report, as a terminal without colours shows it, or a comment. */
export const asText = (report: Report, width = 200): string =>
  documentAsText(reviewDocument(report), { color: false, width });
export const asMarkdown = (report: Report): string => documentAsMarkdown(reviewDocument(report));

/** A review in each format for people. */
export const inEveryFormat = (review: Review, width = 200): [text: string, markdown: string, page: string] => [
  asText(review.report, width),
  asMarkdown(review.report),
  reviewAsHtml(review),
];

/** A report of a change of nothing. */
export const EMPTY_REPORT: Report = {
  ...NO_RUN,
  identities: [],
  people: [],
  findings: [],
  opens: [],
  closes: [],
  deletedGroups: [],
  adopted: [],
  forceDestroy: [],
  undeclared: [],
  expiringKeys: [],
  pullTokens: [],
  unknown: [],
  notVisible: [],
};

/** The review of two graphs, with what only a preview adds in `further`. */
export const reviewBetween = (
  before: GraphBuilder,
  after: GraphBuilder,
  { deny = [], allow = [], ...further }: Partial<Report & Verdict> = {},
): Review => {
  const options = { deny, allow, notVisible: [], nowMs: 0 };
  const review = reviewOf(proposalBetween(before, after), options);
  return { ...review, report: { ...review.report, ...further } };
};

const GITHUB = "https://token.actions.githubusercontent.com";

const urnOf = (type: string, name: string) => `urn:pulumi:production::access::irm:index:${type}::${name}`;

/** A run with an entry in every part. */
export const RUN: RunReport = {
  as: { uid: uidIn(ROOT, 16), name: "admin", rights: "operator" },
  ...{ writes: 7, digest: `sha256:${"0".repeat(64)}` },
  steps: [
    { urn: urnOf("Group", "clusters"), op: "create", ok: true },
    {
      ...{ urn: urnOf("Group", "registry"), op: "delete", ok: false },
      error: "Precondition failed: cannot delete group with child repos\n- See docs  \n\n  <i>",
      missing: { capabilities: ["groups.delete"], group: uidIn(ROOT, 1), groupName: "platform" },
    },
  ],
  errors: ["Error: of the program"],
  others: [{ urn: "urn:pulumi:production::access::aws:s3/bucket:Bucket::<b>@all", op: "update" }],
  differs: [
    {
      row: { change: "gain", identity: uidIn(ROOT, 18), group: { $uid: 1 }, capability: "repo.create" },
      message: "only the file has it",
    },
  ],
  notCopied: ["not copied: advisories"],
};

/** Every kind of change, and an entry in every part of the report. */
export const smallReview = (): Review => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const platform = addGroup(before, uidIn(ROOT, 1), "platform", ROOT);
  const registry = addGroup(before, uidIn(platform, 2), "registry", platform);
  const legacy = addGroup(before, uidIn(ROOT, 3), "legacy", ROOT);
  const viewer = addRole(before, "viewer", reading);
  const owner = addRole(before, "owner", friendly);
  const publisher = addRole(before, "publisher", ["repo.list", "repo.create", "manifest.create", "tag.create"], ROOT);
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
  const role = before.roles.get(publisher) as RoleNode;
  after.roles.set(publisher, { ...role, capabilities: [...role.capabilities, "tag.delete"].sort() });
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
  return reviewBetween(before, after, {
    deny: ["gains-owner"],
    allow: [{ rule: "matches-many", subject: "platform/release" }],
    deletedGroups: [
      { group: legacy, groupName: "legacy", contents: [{ kind: "repo", uid: uidIn(legacy, 32), name: "old-images" }] },
    ],
    ...RUN,
    people: [
      {
        uid: uidIn(ROOT, 48),
        subject: "people of acme-sso",
        groupName: "/",
        before: "people who sign in at https://acme.okta.example with client irm",
        after: "people who sign in at https://acme.login.example with client irm",
        gains: [{ group: ROOT, groupName: "/", capability: "repo.create", role: "editor" }],
        losses: [{ group: ROOT, groupName: "/", capability: "groups.list", role: "viewer" }],
      },
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
  return reviewBetween(before, after);
};

const NAMES = ["platform", "registry", "payments", "search", "images", "mobile", "billing", "data", "edge", "identity"];
