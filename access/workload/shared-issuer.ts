// Issuers of which each customer of a service has one of its own: a pattern that leaves the customer's part open lets in all of them.

export interface Issuers {
  /** for people: `every cluster of Amazon EKS` */
  words: string;
  /** patterns of what stands before and after the part of the customer */
  place: readonly [before: string, after: string];
  /** what that part can be, as a pattern; default: no slash */
  name?: string;
  /** none of these issuers ends with a slash */
  endsPlain?: true;
}

const ANY = "(?s:.*)";
const REST = `(?:/${ANY})?`;

export const ISSUERS: readonly Issuers[] = [
  // The name before the last part of a host: anyone may register one that fits.
  {
    words: "anyone who registers a host",
    place: ["https://(?:[^/:]*\\.)?", `\\.[a-z]+(?::[0-9]+)?${REST}`],
    name: "[^./:]+",
  },
  {
    words: "every cluster of Amazon EKS",
    place: ["https://oidc\\.eks\\.[a-z0-9-]+\\.amazonaws\\.com/id/", REST],
    endsPlain: true,
  },
  { words: "every cluster of Azure AKS", place: ["https://[a-z0-9-]+\\.oic\\.prod-aks\\.azure\\.com/", REST] },
  {
    words: "every project of Google GKE",
    place: ["https://container\\.googleapis\\.com/v1/projects/", REST],
    endsPlain: true,
  },
  {
    words: "every tenant of Microsoft Entra",
    place: ["https://login\\.microsoftonline\\.com/", REST],
    endsPlain: true,
  },
  { words: "every tenant of Microsoft Entra", place: ["https://sts\\.windows\\.net/", REST] },
  {
    words: "every enterprise of GitHub",
    place: ["https://token\\.actions\\.githubusercontent\\.com/", ""],
    endsPlain: true,
  },
  { words: "every enterprise of GitHub", place: ["https://token\\.actions\\.", "\\.ghe\\.com"], endsPlain: true },
  { words: "every organization of CircleCI", place: ["https://oidc\\.circleci\\.com/org/", REST], endsPlain: true },
  {
    words: "every workspace of Bitbucket",
    place: ["https://api\\.bitbucket\\.org/2\\.0/workspaces/", `/${ANY}`],
    endsPlain: true,
  },
  { words: "every team of Vercel", place: ["https://oidc\\.vercel\\.com/", REST], endsPlain: true },
  { words: "every organization of Fly.io", place: ["https://oidc\\.fly\\.io/", REST], endsPlain: true },
  {
    words: "every organization of Azure DevOps",
    place: ["https://vstoken\\.dev\\.azure\\.com/", REST],
    endsPlain: true,
  },
  { words: "every organization of Okta", place: ["https://", `\\.okta(?:preview)?\\.com${REST}`], endsPlain: true },
  { words: "every tenant of Auth0", place: ["https://", `(?:\\.[a-z]+)?\\.auth0\\.com${REST}`], name: "[^./]+" },
  { words: "every account of Spacelift", place: ["https://", "\\.app\\.spacelift\\.io"], endsPlain: true },
  { words: "every organization of Semaphore", place: ["https://", "\\.semaphoreci\\.com"], endsPlain: true },
  { words: "every page of GitHub Pages", place: ["https://", `\\.github\\.io${REST}`] },
  { words: "every page of GitLab Pages", place: ["https://", `\\.gitlab\\.io${REST}`] },
  { words: "every bucket of Amazon S3", place: ["https://", `\\.s3(?:[.-][a-z0-9-]+)?\\.amazonaws\\.com${REST}`] },
  { words: "every bucket of Google Cloud Storage", place: ["https://storage\\.googleapis\\.com/", REST] },
];
