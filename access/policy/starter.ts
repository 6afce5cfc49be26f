// The policy, tests, rules and program that `irm init` writes. They are valid without changes, and comments explain each section.
import { stringify } from "yaml";

// Editors look for the schema relative to the folder in which the package is installed.
const editorLine = (schema: string) =>
  `# yaml-language-server: $schema=./node_modules/pulumi-irm/${schema}.schema.json`;

export const starterPolicy = (organization: string): string => `${editorLine("access")}
#
# Who may do what. \`npx pulumi-irm check\` finds mistakes, \`npx pulumi-irm review\` shows who gains and who loses access by an edit, and
# \`pulumi up\` makes it so.

# The name of your organization, or { uid: ... } of one that exists.
organization: ${stringify(organization).trimEnd()}

# Groups, as a tree. A role that is given at a group holds there and everywhere below.
groups:
  platform:
    description: Builds what others stand on
    groups:
      registry: {}

# Workloads. \`in\` is the path of a group; without it, the organization. * stands for any characters except / and :
# GitHub writes the ids of owner and repository into the tokens of repositories created, renamed or transferred after 15 July 2026:
# gh api repos/acme/images --jq '.owner.id, .id' prints yours. Leave both out for an older repository.
identities:
  release: # the main branch of one repository
    in: platform
    github: { repository: acme/images, ownerId: "123456", repositoryId: "456789", branch: main }
  pull-requests: # of every repository of the organization
    github: { repository: acme/*, ownerId: "123456", event: pull_request }

# Roles of your own. Built-in ones need no entry: owner, editor, viewer, registry.pull, registry.push and others.
roles:
  publisher:
    in: platform
    can: [repo.list, repo.create, manifest.create, tag.create]

# Who has which role where. / is the organization.
access:
  platform/registry:
    publisher: [release]
  /:
    viewer: [pull-requests]
`;

export const starterTests = `${editorLine("access.tests")}
#
# What must hold, whatever is edited in access.yaml. \`npx pulumi-irm test\` tests the policy, and each review tests the change.
tests:
  - name: pull requests never create, update or delete
    workload: { github: { repository: acme/*, ownerId: "123456", event: pull_request } }
    cannot: ["*.create", "*.update", "*.delete"]
`;

export const starterRules = `# A review that finds one of these exits with 3, and so does a failed test (docs/change.md#rules).
deny: [gains-owner, last-owner-goes, matches-everyone, pull-request-writes]
`;

export const starterProgram = (organization: string): string => `import { AccessPolicy } from "pulumi-irm";

new AccessPolicy(${JSON.stringify(organization)}, { file: "access.yaml" });
`;
