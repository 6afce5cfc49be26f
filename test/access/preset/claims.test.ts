// Presets match the published claims of the workloads that they name, and not those of a neighbour. The matcher of the token exchange decides.
import { describe, expect, test } from "vitest";
import {
  type AwsRelationship,
  aws,
  buildkite,
  type ClaimMatchRelationship,
  githubActions,
  gitlab,
  google,
  kubernetes,
} from "../../../access/preset/index.ts";
import { ClaimMatch, Identity, patternMatcher } from "../../../schema/index.ts";
import { inputViolations } from "../../../schema/input.ts";
import { mismatch, ruleFromClaimMatch } from "../../../server/sts/rule/match.ts";
import { valuesOf } from "../../support/rows.ts";

type Claims = Readonly<Record<string, unknown>>;

const isMatch = ({ claimMatch }: ClaimMatchRelationship, claims: Claims): boolean => {
  expect(inputViolations(ClaimMatch, claimMatch)).toEqual([]);
  const audiences = [claims.aud ?? "https://api.example"].flat().map(String);
  const token = { issuer: String(claims.iss), subject: String(claims.sub), audiences, claims: { ...claims } };
  return (
    mismatch(
      ruleFromClaimMatch(claimMatch, () => true),
      token as Parameters<typeof mismatch>[1],
    ) === undefined
  );
};

const functions = { githubActions, gitlab, buildkite, google, kubernetes, aws };

/** `table`: what is matched, the arguments of the preset, and the samples that match. */
const describeMatches = <R, S>(
  preset: keyof typeof functions,
  samples: Readonly<Record<string, S>>,
  matches: (relationship: R, sample: S) => boolean,
  table: string,
): void => {
  describe(`${preset} matches what it names, and not the neighbour:`, () => {
    test.each(valuesOf<[string, object, string[]]>("-yy", table))("%s", (_, args, names) => {
      const relationship = functions[preset](args as never) as R;
      expect(Object.keys(samples).filter((name) => matches(relationship, samples[name] as S))).toEqual(names);
    });
  });
};

// https://docs.github.com/actions/reference/security/oidc and https://docs.github.com/actions/concepts/security/openid-connect
const GITHUB = "https://token.actions.githubusercontent.com";
const github = (sub: string, claims: Claims = {}): Claims => ({
  ...{ iss: GITHUB, sub: `repo:${sub}`, aud: "https://github.com/octo-org" },
  ...{ event_name: "workflow_dispatch", ...claims },
});
const repository = "octo-org/octo-repo";
const onMain = { repository, branch: "main" };

describeMatches(
  "githubActions",
  {
    main: github(`${repository}:ref:refs/heads/main`, { event_name: "push" }),
    "branch with a slash": github(`${repository}:ref:refs/heads/release/v1`, { event_name: "push" }),
    "tag main": github(`${repository}:ref:refs/tags/main`),
    "pull request": github(`${repository}:pull_request`, { event_name: "pull_request" }),
    "environment with a colon": github(`${repository}:environment:Production%3AV1`),
    fork: github("somebody/octo-repo:ref:refs/heads/main"),
    "its pull request": github("somebody/octo-repo:pull_request"),
    "longer repository": github(`${repository}-2:ref:refs/heads/main`),
    "longer organization": github("octo-org-2/octo-repo:ref:refs/heads/main"),
    "another letter for the dot": github("octo-org/octoXrepo:ref:refs/heads/main"),
    "other case": github("Octo-Org/octo-repo:ref:refs/heads/main"),
    immutable: github("octo-org@123456/octo-repo@456789:ref:refs/heads/main"),
    "immutable, recycled": github("octo-org@999999/octo-repo@456789:ref:refs/heads/main"),
    "another issuer": github(`${repository}:ref:refs/heads/main`, { iss: "https://token.actions.example.com" }),
    "an issuer that begins the same": github(`${repository}:ref:refs/heads/main`, { iss: `${GITHUB}/evil` }),
  },
  isMatch,
  `
  a branch | { repository: octo-org/octo-repo, branch: main } | [main]
  a branch with a slash | { repository: octo-org/octo-repo, branch: release/v1 } | [branch with a slash]
  a tag | { repository: octo-org/octo-repo, tag: main } | [tag main]
  an environment | { repository: octo-org/octo-repo, environment: "Production:V1" } | [environment with a colon]
  pull requests | { repository: octo-org/octo-repo, event: pull_request } | [pull request]
  another event | { repository: octo-org/octo-repo, event: push } | [main, branch with a slash]
  every repository of an organization, and of no other | { repository: octo-org/*, branch: main }
    | [main, longer repository, another letter for the dot]
  a dot of a repository is a dot | { repository: octo-org/octo.repo*, branch: main } | []
  an immutable owner | { repository: octo-org@123456/*, branch: main } | [immutable]
  ids | { repository: octo-org/octo-repo, branch: main, ownerId: "123456", repositoryId: "456789" } | [immutable]
  every repository of an owner by its id, those without ids too | { repository: octo-org/*, ownerId: "123456", branch: main }
    | [main, longer repository, another letter for the dot, immutable]
  an issuer | { repository: octo-org/octo-repo, branch: main, issuer: https://token.actions.example.com } | [another issuer]
  an audience | { repository: octo-org/octo-repo, branch: main, audience: https://github.com/octo-org } | [main]
  another audience | { repository: octo-org/octo-repo, branch: main, audience: https://x.example } | []
  `,
);

// https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload
const gitlabToken = (ref: string, project = "my-group/my-project", claims: Claims = {}): Claims => ({
  ...{ iss: "https://gitlab.com", aud: "https://vault.example.com", ref_protected: "false" },
  ...{ sub: `project_path:${project}:ref_type:${ref}`, ...claims },
});
const project = "my-group/my-project";

describeMatches(
  "gitlab",
  {
    "protected main": gitlabToken("branch:ref:main", project, { ref_protected: "true" }),
    main: gitlabToken("branch:ref:main"),
    "tag main": gitlabToken("tag:ref:main"),
    "fork, and its merge request": gitlabToken("branch:ref:main", "somebody/my-project"),
    "longer project": gitlabToken("branch:ref:main", "my-group/my-project-2"),
    subgroup: gitlabToken("branch:ref:main", "my-group/sub/my-project"),
    "longer group": gitlabToken("branch:ref:main", "my-group-2/my-project"),
    "own instance": gitlabToken("branch:ref:main", project, { iss: "https://gitlab.example.com" }),
  },
  isMatch,
  `
  main, protected or not | { project: my-group/my-project, branch: main } | [protected main, main]
  main, protected | { project: my-group/my-project, branch: main, protected: true } | [protected main]
  a tag | { project: my-group/my-project, tag: main } | [tag main]
  a group | { project: my-group/*, branch: main } | [protected main, main, longer project]
  a project of a subgroup | { project: my-group/sub/my-project, branch: main } | [subgroup]
  an instance | { project: my-group/my-project, branch: main, issuer: https://gitlab.example.com } | [own instance]
  `,
);

// https://buildkite.com/docs/pipelines/security/oidc, and without a step key: https://github.com/rubygems/rubygems.org/issues/5412
const [organization, pipeline] = ["acme-inc", "super-duper-app"];
const buildkiteToken = (
  ref: string,
  end = "commit:9f31820:step:build",
  of = `${organization}:pipeline:${pipeline}`,
) => ({
  ...{ iss: "https://agent.buildkite.com", aud: "https://buildkite.com/acme-inc" },
  sub: `organization:${of}:ref:refs/${ref}:${end}`,
});

describeMatches(
  "buildkite",
  {
    published: buildkiteToken("heads/main"),
    "without a step key": buildkiteToken("heads/main", "commit:b5ffe3a:step:"),
    "commit HEAD": buildkiteToken("heads/main", "commit:HEAD:step:test"),
    "tag main": buildkiteToken("tags/main"),
    "pull request of a fork": buildkiteToken("heads/somebody:main"),
    "a branch that imitates the end": buildkiteToken("heads/main:commit:x:step:y"),
    "longer pipeline": buildkiteToken("heads/main", undefined, `${organization}:pipeline:${pipeline}-2`),
    "another organization": buildkiteToken("heads/main", undefined, `${organization}-2:pipeline:${pipeline}`),
  },
  isMatch,
  `
  a branch | { organization: acme-inc, pipeline: super-duper-app, branch: main } | [published, without a step key, commit HEAD]
  a tag | { organization: acme-inc, pipeline: super-duper-app, tag: main } | [tag main]
  every pipeline | { organization: acme-inc, pipeline: "*", branch: main } | [published, without a step key, commit HEAD, longer pipeline]
  `,
);

// https://cloud.google.com/compute/docs/instances/verifying-instance-identity#payload
const email = "739419398126-compute@developer.gserviceaccount.com";
const uniqueId = "107517467455664443765";
const verified = { iss: "https://accounts.google.com", aud: "https://www.example.com", email_verified: true };

describeMatches(
  "google",
  {
    published: { ...verified, sub: uniqueId, email },
    "without an address": { ...verified, sub: uniqueId, email_verified: undefined },
    "unverified address": { ...verified, sub: uniqueId, email, email_verified: false },
    "recycled address": { ...verified, sub: "999999999999999999999", email },
    "another account": { ...verified, sub: "999999999999999999999", email: `x${email}` },
    "another project": { ...verified, sub: "888888888888888888888", email: `${email}.evil.example` },
    "another issuer": { ...verified, sub: uniqueId, email, iss: "accounts.google.com" },
  },
  isMatch,
  `
  a unique id | { uniqueId: "107517467455664443765" } | [published, without an address, unverified address]
  an address | { email: 739419398126-compute@developer.gserviceaccount.com } | [published, recycled address]
  both | { uniqueId: "107517467455664443765", email: 739419398126-compute@developer.gserviceaccount.com } | [published]
  addresses by * | { email: "*-compute@developer.gserviceaccount.com" } | [published, recycled address, another account]
  `,
);

// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#schema-for-service-account-private-claims
const issuer = "https://my-cluster.example.com";
const pod = (subject: string, iss = issuer) => ({
  ...{ iss, sub: `system:${subject}`, aud: ["https://my-audience.example.com"] },
});

describeMatches(
  "kubernetes",
  {
    published: pod("serviceaccount:my-namespace:my-serviceaccount"),
    "another account": pod("serviceaccount:my-namespace:my-serviceaccount-2"),
    "another namespace": pod("serviceaccount:my-namespace-2:my-serviceaccount"),
    "another cluster": pod("serviceaccount:my-namespace:my-serviceaccount", "https://my-cluster-2.example.com"),
    "a path below the issuer": pod("serviceaccount:my-namespace:my-serviceaccount", `${issuer}/id/7`),
    "a group": pod("serviceaccounts:my-namespace"),
  },
  isMatch,
  `
  a service account | { issuer: https://my-cluster.example.com, namespace: my-namespace, serviceAccount: my-serviceaccount } | [published]
  all of a namespace | { issuer: https://my-cluster.example.com, namespace: my-namespace, serviceAccount: "*" } | [published, another account]
  namespaces by * | { issuer: https://my-cluster.example.com, namespace: my-*, serviceAccount: my-serviceaccount }
    | [published, another namespace]
  an audience
    | { issuer: https://my-cluster.example.com, namespace: my-namespace, serviceAccount: my-serviceaccount, audience: https://my-audience.example.com }
    | [published]
  `,
);

// https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html. The reference server does not sign AWS principals in, so the
// patterns are matched alone.
const account = "123456789012";
const principal = (arn: string, userId: string, awsAccount = account) => ({
  ...{ awsAccount, arn: `arn:aws:${arn.replace("::", `::${awsAccount}:`)}`, userId },
});
const isPrincipal = ({ awsIdentity }: AwsRelationship, sample: ReturnType<typeof principal>): boolean => {
  expect(inputViolations(Identity, { name: "deployer", awsIdentity })).toEqual([]);
  const { awsAccount, arn, arnPattern = "", userId, userIdPattern = "" } = awsIdentity;
  return (
    awsAccount === sample.awsAccount &&
    (arn === undefined ? patternMatcher(arnPattern)(sample.arn) : arn === sample.arn) &&
    (userId === undefined ? patternMatcher(userIdPattern)(sample.userId) : userId === sample.userId)
  );
};

describeMatches(
  "aws",
  {
    role: principal("sts::assumed-role/my-role/my-session", "AROA123EXAMPLE123:my-session"),
    "another session": principal("sts::assumed-role/my-role/i-0abc", "AROA123EXAMPLE123:i-0abc"),
    "longer role": principal("sts::assumed-role/my-role-2/s", "AROA999EXAMPLE123:s"),
    "a new role of the name": principal("sts::assumed-role/my-role/my-session", "AROA999EXAMPLE999:my-session"),
    account: principal("sts::assumed-role/my-role/my-session", "AROA123EXAMPLE124:my-session", "999999999999"),
    "the role itself": principal("iam::role/my-role", "AROA123EXAMPLE123"),
    user: principal("iam::user/Alice", "AIDACKCEVSQ6C2EXAMPLE"),
    "user of a team": principal("iam::user/teams/Alice", "AIDACKCEVSQ6C2EXAMPLF"),
  },
  isPrincipal,
  `
  a role | { account: "123456789012", role: my-role } | [role, another session, a new role of the name]
  its id | { account: "123456789012", role: my-role, uniqueId: AROA123EXAMPLE123 } | [role, another session]
  a session | { account: "123456789012", role: my-role, session: i-* } | [another session]
  roles by * | { account: "123456789012", role: my-* } | [role, another session, longer role, a new role of the name]
  a user with a path | { account: "123456789012", user: teams/Alice } | [user of a team]
  a user | { account: "123456789012", user: Alice } | [user]
  `,
);

test("without * the subject is exact", () => {
  expect([githubActions(onMain), gitlab({ project, branch: "main" })]).toEqual([
    { claimMatch: { issuer: GITHUB, subject: `repo:${repository}:ref:refs/heads/main` } },
    { claimMatch: { issuer: "https://gitlab.com", subject: `project_path:${project}:ref_type:branch:ref:main` } },
  ]);
});
