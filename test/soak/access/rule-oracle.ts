// Which findings a change deserves: slow and obvious, from what each rule promises, and from the server's own
// decisions. Beside `findingsOf`, it shares no line with access/review/.
import type { AccessGraph } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { proposalFromRun } from "../../../access/run/proposal.ts";
import { capabilities, isObject, isRoot, type Json, parentOf } from "../../../schema/index.ts";
import { builtInRoleUid } from "../../../server/services/role.ts";
import { type Authorization, expectedRows } from "./authorization.ts";
import { RELATIONSHIPS } from "./operation.ts";
import type { Organization } from "./organization.ts";

export type Moment = ReturnType<typeof momentOf>;

export const momentOf = (organization: Organization, authorization: Authorization) => ({
  authorization,
  identities: new Map(
    organization.uids("identities").map((uid) => {
      const { name, claimMatch, awsIdentity, servicePrincipal } = organization.serve("GetIdentity", { uid });
      const relationship = claimMatch ? { claimMatch } : awsIdentity ? { awsIdentity } : { servicePrincipal };
      return [uid, { name, relationship: relationship as Json }];
    }),
  ),
  bindings: new Map(
    organization.uids("role_bindings").map((uid) => {
      const { identity, role } = organization.serve("GetRoleBinding", { uid });
      return [uid, { identity: identity?.uid as string, role: role?.uid as string }];
    }),
  ),
});

/**
 * Texts `rule subject` of a review, each once: two new records may have one name. `restored`: uids of bindings. Without paths, which the part
 * `paths` compares with requests, and without what is there while the update runs.
 */
export const findingsOf = (
  organization: string,
  known: AccessGraph,
  after: AccessGraph,
  restored: readonly string[],
): string[] => {
  // An identity of another organization is in no list before it is bound.
  const others = [...after.identities].filter(([id]) => !id.startsWith(organization));
  const before = { ...known, identities: new Map([...others, ...known.identities]) };
  const facts = { before, after, stored: [], left: [], held: [], unknown: [] };
  const proposal = proposalFromRun({ ...facts, ending: new Set(), isSecret: () => false });
  const { report } = reviewOf({ ...proposal, restored }, { deny: [], allow: [], notVisible: [], nowMs: 0 });
  const compared = report.findings.filter(
    ({ rule, message }) => rule !== "opens-path" && !message.includes("while the update runs"),
  );
  return [...new Set(compared.map(({ rule, subject }) => `${rule} ${subject}`))].sort();
};

/** Texts `rule subject`. `restored`: bindings that the change creates and that somebody removed by hand. */
export const expectedFindings = (before: Moment, after: Moment, restored: readonly string[]): string[] => {
  const subjectOf = (identity: string): string =>
    before.identities.has(identity) ? identity : (after.identities.get(identity)?.name ?? identity);
  const found = new Set<string>();
  const report = (rule: string, identities: Iterable<string>): void => {
    for (const identity of identities) found.add(`${rule} ${subjectOf(identity)}`);
  };
  const reassumed = [...after.identities.keys()].filter(
    (uid) => JSON.stringify(traitsAt(after, uid)) !== JSON.stringify(traitsAt(before, uid)),
  );
  report("gains-owner", gainers(before, after));
  const isMany = (uid: string) => traitsAt(after, uid)?.isMany;
  report("matches-many", reassumed.filter(isMany));
  const isNew = (uid: string) => isNewIssuer(before, traitsAt(after, uid)?.issuer);
  report("new-issuer", reassumed.filter(isNew));
  report("pull-request-writes", pullRequestWriters(before, after));
  report("root-binding", newAtRoot(before, after));
  for (const [old, next] of replaced(before, after)) {
    report("identity-replaced", [old]);
    if (isOfOthers(before, old, after, next)) report("assumed-by-others", [next]);
  }
  for (const uid of reassumed) if (isOfOthers(before, uid, after, uid)) report("assumed-by-others", [uid]);
  for (const uid of restored) report("regrants-removed", [after.bindings.get(uid)?.identity as string]);
  const [organization = ""] = after.authorization.groups;
  if (hasOwner(before) && !hasOwner(after)) found.add(`last-owner-goes ${organization}`);
  return [...found].sort();
};

interface Traits {
  index: number;
  /** more than one repository or branch */
  isMany: boolean;
  isForPullRequests: boolean;
  issuer?: string;
  /** whose workloads */
  who: string;
}

/** Read off by eye, for each of RELATIONSHIPS in its order. */
const TRAITS: readonly Omit<Traits, "index">[] = [
  { isMany: false, isForPullRequests: false, issuer: "github", who: "acme at GitHub" },
  { isMany: false, isForPullRequests: true, issuer: "github", who: "acme at GitHub" },
  { isMany: true, isForPullRequests: false, issuer: "github", who: "acme at GitHub" },
  { isMany: false, isForPullRequests: true, issuer: "github", who: "acme at GitHub" },
  { isMany: true, isForPullRequests: true, issuer: "github", who: "acme at GitHub" },
  { isMany: false, isForPullRequests: false, issuer: "gitlab", who: "acme/images at GitLab" },
  { isMany: true, isForPullRequests: false, issuer: "pattern", who: "a cluster" },
  { isMany: false, isForPullRequests: false, who: "the platform" },
  { isMany: false, isForPullRequests: false, who: "an account of AWS" },
];

const traitsAt = (moment: Moment, identity: string): Traits | undefined => {
  const text = Object.values(moment.identities.get(identity)?.relationship ?? {})[0];
  if (text === undefined) return undefined;
  const index = RELATIONSHIPS.findIndex((one) => {
    const own = Object.values(one)[0];
    if (typeof own === "string") return own === text;
    return isObject(text) && Object.entries(own as Json).every(([name, value]) => text[name] === value);
  });
  return { index, ...(TRAITS[index] as Omit<Traits, "index">) };
};

const isOfOthers = (before: Moment, old: string, after: Moment, next: string): boolean => {
  const [was, is] = [traitsAt(before, old), traitsAt(after, next)];
  return was !== undefined && is !== undefined && was.who !== is.who;
};

const GRANTING = [
  ...["role_bindings.create", "role_bindings.update", "roles.update", "identity.update", "group_invites.create"],
  ...["create", "update", "scim.manage"].map((verb) => `identity_providers.${verb}`),
];

/** Rows read `identity + group capability by role`. */
const gainers = (before: Moment, after: Moment): string[] =>
  expectedRows(before.authorization, after.authorization)
    .map((row) => row.split(" "))
    .filter(([, sign, , capability = ""]) => sign === "+" && GRANTING.includes(capability))
    .map(([identity = ""]) => identity);

const isNewIssuer = (before: Moment, issuer: string | undefined): boolean =>
  issuer !== undefined && ![...before.identities.keys()].some((uid) => traitsAt(before, uid)?.issuer === issuer);

const pullRequestWriters = (before: Moment, after: Moment): string[] => {
  const writes = capabilities.filter((one) => one.class === "write" || one.class === "grant").map(({ name }) => name);
  const groups = [...after.authorization.groups];
  const canWrite = (moment: Moment, uid: string, group: string, write: string): boolean =>
    isOrMayBeForPullRequests(moment, uid) && moment.authorization.decisions(uid, group).has(write);
  return [...after.authorization.identities].filter((uid) =>
    groups.some((group) =>
      writes.some((write) => canWrite(after, uid, group, write) && !canWrite(before, uid, group, write)),
    ),
  );
};

/** Who can assume an identity of another organization is not visible, so a pull request may. */
const isOrMayBeForPullRequests = (moment: Moment, uid: string): boolean =>
  !moment.identities.has(uid) || traitsAt(moment, uid)?.isForPullRequests === true;

const newAtRoot = (before: Moment, after: Moment): string[] => {
  const pairs = ({ bindings }: Moment): string[] =>
    [...bindings].filter(([uid]) => isRoot(parentOf(uid))).map(([, { identity, role }]) => `${identity} ${role}`);
  const known = pairs(before);
  return pairs(after)
    .filter((pair) => !known.includes(pair))
    .map((pair) => pair.split(" ")[0] as string);
};

const hasOwner = ({ bindings }: Moment): boolean =>
  [...bindings].some(([uid, { role }]) => isRoot(parentOf(uid)) && role === builtInRoleUid("owner"));

/**
 * Who goes while one of the same name comes, and that one: in the same group first, then in any. Then who goes while one of another name
 * comes, in the same group and for the same workloads.
 */
const replaced = (before: Moment, after: Moment): [old: string, next: string][] => {
  const named = (one: Moment, uid: string) => one.identities.get(uid)?.name;
  const gone = [...before.identities.keys()].filter((uid) => !after.identities.has(uid)).sort();
  const made = new Set([...after.identities.keys()].filter((uid) => !before.identities.has(uid)));
  const found = new Map<string, string>();
  const take = (isNext: (old: string, next: string) => boolean): void => {
    for (const old of gone.filter((uid) => !found.has(uid))) {
      const who = (one: Moment, uid: string) => traitsAt(one, uid)?.who;
      const all = [...made].filter((uid) => isNext(old, uid));
      const next = all.find((uid) => who(after, uid) !== who(before, old)) ?? all[0];
      if (next === undefined) continue;
      made.delete(next);
      found.set(old, next);
    }
  };
  const isNamesake = (old: string, next: string) => named(after, next) === named(before, old);
  const isBeside = (old: string, next: string) => parentOf(old) === parentOf(next);
  const who = (one: Moment, uid: string) => JSON.stringify(traitsAt(one, uid));
  take((old, next) => isNamesake(old, next) && isBeside(old, next));
  take(isNamesake);
  take((old, next) => isBeside(old, next) && who(after, next) === who(before, old));
  return [...found];
};
