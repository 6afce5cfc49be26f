// The file that `irm init` writes: a policy that is right as it stands, with a comment for each section.
import { stringify } from "yaml";

/** Where editors find the schema, from the folder in which the package is installed. */
const SCHEMA = "./node_modules/pulumi-irm/access.schema.json";

export const starterPolicy = (organization: string): string => `# yaml-language-server: $schema=${SCHEMA}
#
# Who may do what. \`npx pulumi-irm check access.yaml\` finds its mistakes, \`npx pulumi-irm review --policy access.yaml\` compares it with the API, and
# new AccessPolicy("access", { file: "access.yaml" }) in a Pulumi program creates what it says.

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
  review: # pull requests of every repository of the organization
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
    viewer: [review]

# What must hold, whatever is edited above: \`npx pulumi-irm test access.yaml\` runs it. Further tests may be in access.tests.yaml.
tests:
  - name: pull requests never write
    workload: { github: { repository: acme/*, ownerId: "123456", event: pull_request } }
    cannot: ["*.create", "*.update", "*.delete"]
`;
