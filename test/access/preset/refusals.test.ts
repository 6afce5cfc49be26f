// Presets refuse wrong arguments, and say what to write instead.
import { expect, test } from "vitest";
import { aws, buildkite, githubActions, gitlab, google, kubernetes } from "../../../access/preset/index.ts";
import type { IdentityArgs } from "../../../provider/program/generated/identity.ts";

const presets = { aws, buildkite, githubActions, gitlab, google, kubernetes };
const [repository, project, account] = ["octo-org/octo-repo", "acme/images", "123456789012"];
const onMain = { repository, branch: "main" };
const ofMain = { organization: "acme", pipeline: "images", branch: "main" };
const pod = { issuer: "https://k.example", namespace: "prod", serviceAccount: "deployer" };

test.each<[preset: keyof typeof presets, object, string]>([
  ["githubActions", { repository: "acme", branch: "main" }, "repository must be owner/name, such as acme/images"],
  [
    "githubActions",
    { repository: "https://github.com/acme/images.git", branch: "m" },
    "repository must be owner/name: acme/images",
  ],
  [
    "githubActions",
    { repository: "git@github.com:acme/images.git", branch: "m" },
    "repository must be owner/name: acme/images",
  ],
  [
    "githubActions",
    { repository: "acme*/images", branch: "main" },
    "repository must name one owner: * may stand only after the slash, as in acme/*",
  ],
  ["githubActions", { repository, branch: "refs/heads/main" }, "branch must be the name of the branch alone: main"],
  ["githubActions", { repository, tag: "refs/tags/v1" }, "tag must be the name of the tag alone: v1"],
  [
    "githubActions",
    { repository, branch: "a:b" },
    'branch must not contain ":", which separates the parts of the subject',
  ],
  [
    "githubActions",
    { repository, event: "pull-request" },
    "event is not an event of GitHub; did you mean pull_request?",
  ],
  ["githubActions", { repository }, "one of branch, tag, environment, event is required"],
  ["githubActions", { ...onMain, tag: "v1" }, "tag only one of branch, tag, environment, event may be given"],
  ["githubActions", { branch: "main" }, "repository is required"],
  ["githubActions", { repository, branch: 1 }, 'branch must be a string: write "1", in quotes'],
  ["githubActions", { repository, branch: "" }, "branch must not be empty"],
  ["githubActions", { repository, branch: "a\nb" }, "branch must not contain control characters"],
  ["githubActions", { ...onMain, branchh: "a" }, "branchh unknown argument; did you mean branch?"],
  ["githubActions", { ...onMain, issuer: "http://ghe.example.com" }, "issuer must be https: https://ghe.example.com"],
  [
    "githubActions",
    { ...onMain, ownerId: "octo-org", repositoryId: "012" },
    'ownerId must be a number, as gh api repos/acme/images --jq ".owner.id, .id" prints it; repositoryId must be a number',
  ],
  ["githubActions", { ...onMain, ownerId: "12" }, "ownerId needs repositoryId too: a subject has both ids, or none"],
  ["githubActions", { ...onMain, repositoryId: "34" }, "repositoryId needs ownerId too: a subject has both ids"],
  [
    "githubActions",
    { repository: "acme/*", branch: "main", ownerId: "12", repositoryId: "34" },
    "repositoryId is of one repository; leave it out beside *",
  ],
  [
    "githubActions",
    { repository: "acme@12/images@34", branch: "main", ownerId: "12", repositoryId: "34" },
    "ownerId is given twice: repository has ids already",
  ],
  ["githubActions", { repository: "acme", brnch: "main" }, "repository must be owner/name, such as acme/images; brnch"],
  ["gitlab", { project: "images", branch: "main" }, "project must be a path such as acme/images"],
  ["gitlab", { project: "/acme/images", branch: "main" }, "project must be a path such as acme/images"],
  [
    "gitlab",
    { project: "*/images", branch: "main" },
    "project must name one group: * may stand only after the first slash, as in acme/*",
  ],
  ["gitlab", { project, branch: "main", protected: "yes" }, "protected must be true or false"],
  ["gitlab", { project, branch: "main", issuer: "gitlab.com" }, "issuer must be an https URL: https://gitlab.com"],
  ["buildkite", { ...ofMain, organization: "*" }, "organization must name one organization: * is not allowed here"],
  ["buildkite", { ...ofMain, pipeline: "a/b" }, 'pipeline must not contain "/"'],
  ["google", {}, "one of uniqueId, email is required"],
  ["google", { uniqueId: "deployer" }, "uniqueId must be the number of the service account: digits alone, in quotes"],
  ["google", { email: "deployer" }, "email must be an address such as deployer@acme.iam.gserviceaccount.com"],
  ["google", { email: "deployer@*" }, "email must name one project: * may stand only before the @"],
  ["kubernetes", { ...pod, issuer: undefined }, "issuer is required"],
  ["kubernetes", { ...pod, issuer: "https://*.example.com" }, "issuer must name one issuer: * is not allowed here"],
  [
    "kubernetes",
    { ...pod, namespace: "*", serviceAccount: "*" },
    "serviceAccount matches every pod of the cluster, together with namespace; name one of them",
  ],
  ["kubernetes", { ...pod, namespace: "prod:deployer" }, 'namespace must not contain ":"'],
  ["aws", { account: 123456789012, role: "r" }, 'account must be a string: write "123456789012", in quotes'],
  ["aws", { account: "1234", role: "r" }, "account must be twelve digits, in quotes"],
  ["aws", { account, role: "arn:aws:iam::1:role/r" }, "role must be the name alone, not an ARN"],
  ["aws", { account, role: "path/r" }, 'role must not contain "/"'],
  ["aws", { account, user: "u", session: "s" }, "session belongs to a role, not to a user"],
  ["aws", { account, user: "u", uniqueId: "AROA1" }, "uniqueId is the id of a role, not of a user"],
  ["aws", { account, role: "r", partition: "azure" }, "partition must be aws, aws-cn or aws-us-gov"],
])("%s refuses %j: %s", (preset, args, message) => {
  expect(() => presets[preset](args as never)).toThrow(`${preset}: ${message}`);
});

test("what the presets return are arguments of an Identity", () => {
  const fields = { parent: "p", name: "n" };
  const identities: IdentityArgs[] = [
    { ...fields, ...githubActions({ repository, branch: "main" }) },
    { ...fields, ...aws({ account, role: "deployer" }) },
  ];
  expect(identities.map((args) => Object.keys(args).at(-1))).toEqual(["claimMatch", "awsIdentity"]);
});
