// Reviews for the tests of the formats: a small organization that shows every part of a page, and a large one from a seed.
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reviewDocument } from "../../../access/format/review/document.ts";
import { type GraphBuilder, newGraph, type RoleNode } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import {
  type IdentityReview,
  NO_RUN,
  type Report,
  type Review,
  type RunReport,
} from "../../../access/review/report.ts";
import type { Verdict } from "../../../access/review/rules-file.ts";
import { capabilities } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import {
  addGroup,
  addIdentity,
  addRole,
  bind,
  changed,
  graphOf,
  proposalBetween,
  ROOT,
  roleUid,
  uid,
  uidIn,
} from "../graphs.ts";

const friendly = capabilities.filter((one) => !one.internalOnly && !one.deprecated).map(({ name }) => name);
const reading = friendly.filter((name) => /\.(list|get)$/.test(name));

export const asText = (report: Report, width = 200): string =>
  documentAsText(reviewDocument(report), { color: false, width });
export const asMarkdown = (report: Report): string => documentAsMarkdown(reviewDocument(report));

export const inEveryFormat = (review: Review, width = 200): [text: string, markdown: string, page: string] => [
  asText(review.report, width),
  asMarkdown(review.report),
  reviewAsHtml(review),
];

export const EMPTY_REPORT: Report = {
  ...NO_RUN,
  ...{ identities: [], people: [], findings: [], opens: [], closes: [], deletedGroups: [], adopted: [] },
  ...{ forceDestroy: [], undeclared: [], expiringKeys: [], pullTokens: [], unknown: [], notVisible: [] },
};

export const IDENTITY: IdentityReview = {
  ...{ uid: null, name: "new", groupName: "team", change: "created", losses: [] },
  gains: [{ group: null, groupName: "team", capability: "repo.list", role: "viewer" }],
  ...{ assumableBefore: null, assumableAfter: null, before: null, after: null },
};

export const reviewBetween = (
  before: GraphBuilder,
  after: GraphBuilder,
  { deny = [], allow = [], ...further }: Partial<Report & Verdict> = {},
): Review => {
  const review = reviewOf(proposalBetween(before, after), { deny, allow, notVisible: [], nowMs: 0 });
  return { ...review, report: { ...review.report, ...further } };
};

const GITHUB = "https://token.actions.githubusercontent.com";

const urnOf = (type: string, name: string) => `urn:pulumi:production::access::irm:index:${type}::${name}`;

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

const assumedFrom = (repository: string) => ({
  issuer: GITHUB,
  subject: `repo:acme/${repository}:ref:refs/heads/main`,
});

export const smallReview = (): Review => {
  const before = graphOf({
    groups: ["platform", "platform/registry", "legacy"],
    roles: {
      ...{ viewer: reading, owner: friendly },
      "/publisher": ["repo.list", "repo.create", "manifest.create", "tag.create"],
    },
    identities: {
      ...{ admin: assumedFrom("access"), audit: assumedFrom("audit") },
      "platform/release": assumedFrom("images"),
    },
    access: { "/": { owner: ["admin"], viewer: ["audit"] }, legacy: { "/publisher": ["platform/release"] } },
  });
  const [platform, legacy, release, publisher] = ["platform", "legacy", "platform/release", "publisher"].map((path) =>
    uid(path),
  ) as [string, string, string, string];
  const after = changed(before, (graph) => {
    const role = before.roles.get(publisher) as RoleNode;
    graph.roles.set(publisher, { ...role, capabilities: [...role.capabilities, "tag.delete"].sort() });
    graph.groups.delete(legacy);
    graph.bindings.delete(`${legacy}/b ${release} ${publisher}`);
    const clusters = addGroup(graph, "urn:clusters", "clusters", platform);
    const pod = { issuer: "https://oidc.example.com/id/7", subject: "system:serviceaccount:prod:deployer" };
    const open = { issuer: GITHUB, subjectPattern: "repo:acme/[^/:]*:ref:refs/heads/main" };
    addIdentity(graph, release, "release", platform, open);
    bind(graph, uid("platform/registry"), release, publisher);
    bind(graph, clusters, addIdentity(graph, "urn:deploy", "deploy", platform, pod), publisher);
    bind(graph, platform, release, roleUid("owner"));
  });
  const contents = [{ kind: "repo", uid: `${legacy}/${"0".repeat(16)}`, name: "old-images" }];
  const row = (capability: string, role: string) => ({ group: ROOT, groupName: "/", capability, role });
  const audit = { binding: uid("b"), group: ROOT, groupName: "/", identity: uid("audit"), identityName: "audit" };
  return reviewBetween(before, after, {
    deny: ["gains-owner"],
    allow: [{ rule: "matches-many", subject: "platform/release" }],
    deletedGroups: [{ group: legacy, groupName: "legacy", contents }],
    ...RUN,
    people: [
      {
        ...{ uid: uid("acme-sso"), subject: "people of acme-sso", groupName: "/" },
        before: "people who sign in at https://acme.okta.example with client irm",
        after: "people who sign in at https://acme.login.example with client irm",
        gains: [row("repo.create", "editor")],
        losses: [row("groups.list", "viewer")],
      },
    ],
    adopted: [{ kind: "group", uid: platform, name: "platform", resource: "platform", deletedLater: false }],
    forceDestroy: [{ kind: "group", uid: legacy, name: "legacy", resource: "legacy", deletes: true, contents }],
    undeclared: [{ ...audit, role: "viewer" }],
    expiringKeys: [{ uid: uid("admin"), name: "break-glass", groupName: "/", expirationTime: "2026-12-01T00:00:00Z" }],
    unknown: [{ subject: "clusters", property: "identity", message: "is not known before the update" }],
    notVisible: [{ kind: "role", group: legacy, groupName: "legacy", message: "roles cannot be listed" }],
  });
};

/** The same for the same seed. `changes`: bindings that are new, and as many that are gone. */
export const largeReview = (
  seed: number,
  { groups, identities, bindings, changes }: Record<"groups" | "identities" | "bindings" | "changes", number>,
): Review => {
  const random = createRandom(seed);
  const before = newGraph();
  const places = [addGroup(before, ROOT, "acme", null)];
  for (let i = 1; i < groups; i += 1) {
    const parent = random.pick(places.slice(0, Math.max(1, Math.floor(i / 3))));
    places.push(addGroup(before, uidIn(parent, i), `${random.pick(NAMES)}-${i}`, parent));
  }
  const roles = [
    addRole(before, "viewer", reading),
    ...["publisher", "puller", "signer", "auditor"].map((name) => {
      const held = Array.from({ length: 2 + random.below(10) }, () => random.pick(friendly));
      return addRole(before, name, held, ROOT);
    }),
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
