// The customer of a token: the owner of a repository, the organization of a pipeline, the project of GitLab or Google, or the namespace of
// a pod. Each CI and cloud has its own place for the name, in the subject or in another claim.
import { ANYTHING, every, type Language, matching, middle, not, some, text } from "../pattern/language.ts";
import { BUILDKITE_ISSUER } from "../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { GOOGLE_ISSUER } from "../preset/google.ts";
import type { TokenWorkload } from "./token.ts";

// Issuers of services that give each customer its own: a pattern that leaves the customer's part open lets in all of them.

interface Issuers {
  /** for people: `every cluster of Amazon EKS` */
  words: string;
  /** of the part of the customer */
  place: Place;
  /** a pattern of that part; default: no slash */
  name?: string;
  /** none of these issuers ends with a slash */
  endsPlain?: true;
}

const ANY_TEXT = "(?s:.*)";
const ANY_PATH = `(?:/${ANY_TEXT})?`;

export const ISSUERS: readonly Issuers[] = [
  // The name before the last part of a host: anyone may register one that fits.
  {
    words: "anyone who registers a host",
    place: ["https://(?:[^/:]*\\.)?", `\\.[a-z]+(?::[0-9]+)?${ANY_PATH}`],
    name: "[^./:]+",
  },
  {
    words: "every cluster of Amazon EKS",
    place: ["https://oidc\\.eks\\.[a-z0-9-]+\\.amazonaws\\.com/id/", ANY_PATH],
    endsPlain: true,
  },
  { words: "every cluster of Azure AKS", place: ["https://[a-z0-9-]+\\.oic\\.prod-aks\\.azure\\.com/", ANY_PATH] },
  {
    words: "every project of Google GKE",
    place: ["https://container\\.googleapis\\.com/v1/projects/", ANY_PATH],
    endsPlain: true,
  },
  {
    words: "every tenant of Microsoft Entra",
    place: ["https://login\\.microsoftonline\\.com/", ANY_PATH],
    endsPlain: true,
  },
  { words: "every tenant of Microsoft Entra", place: ["https://sts\\.windows\\.net/", ANY_PATH] },
  {
    words: "every enterprise of GitHub",
    place: ["https://token\\.actions\\.githubusercontent\\.com/", ""],
    endsPlain: true,
  },
  { words: "every enterprise of GitHub", place: ["https://token\\.actions\\.", "\\.ghe\\.com"], endsPlain: true },
  { words: "every organization of CircleCI", place: ["https://oidc\\.circleci\\.com/org/", ANY_PATH], endsPlain: true },
  {
    words: "every workspace of Bitbucket",
    place: ["https://api\\.bitbucket\\.org/2\\.0/workspaces/", `/${ANY_TEXT}`],
    endsPlain: true,
  },
  { words: "every team of Vercel", place: ["https://oidc\\.vercel\\.com/", ANY_PATH], endsPlain: true },
  { words: "every organization of Fly.io", place: ["https://oidc\\.fly\\.io/", ANY_PATH], endsPlain: true },
  {
    words: "every organization of Azure DevOps",
    place: ["https://vstoken\\.dev\\.azure\\.com/", ANY_PATH],
    endsPlain: true,
  },
  { words: "every organization of Okta", place: ["https://", `\\.okta(?:preview)?\\.com${ANY_PATH}`], endsPlain: true },
  { words: "every tenant of Auth0", place: ["https://", `(?:\\.[a-z]+)?\\.auth0\\.com${ANY_PATH}`], name: "[^./]+" },
  { words: "every account of Spacelift", place: ["https://", "\\.app\\.spacelift\\.io"], endsPlain: true },
  { words: "every organization of Semaphore", place: ["https://", "\\.semaphoreci\\.com"], endsPlain: true },
  { words: "every page of GitHub Pages", place: ["https://", `\\.github\\.io${ANY_PATH}`] },
  { words: "every page of GitLab Pages", place: ["https://", `\\.gitlab\\.io${ANY_PATH}`] },
  { words: "every bucket of Amazon S3", place: ["https://", `\\.s3(?:[.-][a-z0-9-]+)?\\.amazonaws\\.com${ANY_PATH}`] },
  { words: "every bucket of Google Cloud Storage", place: ["https://storage\\.googleapis\\.com/", ANY_PATH] },
];

/** Patterns of the texts before and after a name. */
export type Place = readonly [before: string, after: string];

export interface Customers {
  /** of the service, for people: `GitHub` */
  service: string;
  /** the word for a customer: `owner` */
  word: string;
  /** the issuer that all of them share; absent: each has its own */
  issuer?: string;
  /** the names of customers, as a pattern */
  name: string;
  /** places of the name in subjects */
  places: readonly Place[];
  /** places of the name in further claims */
  claims: Readonly<Record<string, Place>>;
  /** places of other identifiers of the customer in claims */
  marks: Readonly<Record<string, Place>>;
  /** their place in subjects */
  numbers?: Place;
  /** the part of a name by which customers differ, if names have several parts */
  top?: { name: string; place: Place };
  /** claims whose every value belongs to one customer */
  pins: readonly string[];
  /** subjects that each customer can have */
  anonymous?: string;
}

const REST = `(?::${ANY_TEXT})?`;

// Claims that a template of GitHub may write and that any customer can have. Anyone can call a public workflow.
const EVERYONES =
  `job_workflow_ref job_workflow_sha environment event_name ref ref_type ref_protected head_ref base_ref sha workflow
  workflow_sha run_id run_number run_attempt runner_environment repository_visibility check_run_id`.split(/\s+/);
const ANONYMOUS_PART = `(?:${EVERYONES.join("|")}):[^:]*|pull_request`;

const WHOLE: Place = ["", ""];

export const CUSTOMERS: readonly Customers[] = [
  {
    service: "GitHub",
    word: "owner",
    issuer: GITHUB_ISSUER,
    name: "[^/:@]+",
    places: [
      ["repo:", `(?:@[0-9]+)?/${ANY_TEXT}`],
      ["repository:", `/${ANY_TEXT}`],
      ["workflow_ref:", `/${ANY_TEXT}`],
      ["repository_owner:", REST],
    ],
    claims: { repository_owner: WHOLE, repository: ["", `/${ANY_TEXT}`], workflow_ref: ["", `/${ANY_TEXT}`] },
    marks: { repository_owner_id: WHOLE, enterprise: WHOLE, enterprise_id: WHOLE },
    numbers: ["repo:[^/:@]+@", `/${ANY_TEXT}`],
    pins: ["repository_id", "actor", "actor_id"],
    anonymous: `(?:${ANONYMOUS_PART})(?::(?:${ANONYMOUS_PART}))*`,
  },
  {
    service: "GitLab",
    word: "project",
    issuer: GITLAB_ISSUER,
    name: "[^:]+",
    places: [["project_path:", REST]],
    claims: { project_path: WHOLE },
    marks: { namespace_path: WHOLE, namespace_id: WHOLE },
    top: { name: "[^/:]+", place: ["project_path:", `/${ANY_TEXT}`] },
    pins: ["project_id", "user_id", "user_login", "user_email"],
  },
  {
    service: "Buildkite",
    word: "organization",
    issuer: BUILDKITE_ISSUER,
    name: "[^:]+",
    places: [["organization:", REST]],
    claims: { organization_slug: WHOLE },
    marks: { organization_id: WHOLE },
    pins: ["pipeline_id", "cluster_id"],
  },
  // https://developer.hashicorp.com/terraform/cloud-docs/dynamic-provider-credentials/workload-identity-tokens
  {
    service: "HCP Terraform",
    word: "organization",
    issuer: "https://app.terraform.io",
    name: "[^:]+",
    places: [["organization:", REST]],
    claims: { terraform_organization_name: WHOLE },
    marks: { terraform_organization_id: WHOLE },
    pins: ["terraform_project_id", "terraform_workspace_id"],
  },
  // https://www.pulumi.com/docs/pulumi-cloud/access-management/oidc/provider/
  {
    service: "Pulumi Cloud",
    word: "organization",
    issuer: "https://api.pulumi.com/oidc",
    name: "[^:]+",
    places: [["pulumi:[a-z]+:org:", REST]],
    claims: {},
    marks: {},
    pins: [],
  },
  {
    service: "Google",
    word: "account",
    issuer: GOOGLE_ISSUER,
    name: "[0-9]+",
    places: [WHOLE],
    claims: {},
    marks: { email: ["[^@]*@", ""], hd: WHOLE },
    pins: ["azp"],
  },
  {
    service: "Kubernetes",
    word: "namespace",
    name: "[^:]+",
    places: [["system:serviceaccount:", REST]],
    claims: {},
    marks: {},
    pins: [],
  },
];

/** The names of the customers whose tokens are accepted. */
export const namesIn = (tokens: TokenWorkload, customers: Customers): Language =>
  every(
    matching(customers.name),
    some(...customers.places.map((place) => between(place, tokens.subject))),
    customersOfClaims(tokens, customers) ?? ANYTHING,
  );

/** The customers that its claims name, whatever the subject is; undefined if they name none. */
export const customersOfClaims = (
  { claims }: TokenWorkload,
  { name, claims: places }: Customers,
): Language | undefined => {
  const languages = Object.entries(places).flatMap(([claim, place]) => {
    const language = claims.get(claim);
    return language ? [between(place, language)] : [];
  });
  return languages.length === 0 ? undefined : every(matching(name), ...languages);
};

/** Subjects that name no customer. */
export const withoutCustomers = (subject: Language): Language =>
  every(
    subject,
    ...CUSTOMERS.flatMap(({ name, places }) =>
      places.map(([before, after]) => not(matching(`${before}(?:${name})${after}`))),
    ),
  );

/** The texts at that place in the texts of a language. */
export const between = ([before, after]: Place, language: Language): Language => {
  const [first, last] = [before, after].map((one) => (one === "" ? text("") : matching(one))) as [Language, Language];
  return before === "" && after === "" ? language : middle(first, language, last);
};
