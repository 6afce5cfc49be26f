"""An organization with three levels of groups, identities for GitHub Actions workflows, and who may do what where.

    npm run build                    # once, in the clone: writes dist/plugin, and the wheel to release/
    python3 -m venv venv && . venv/bin/activate && pip install -r requirements.txt
    npm run -s pulumi -- up          # in this folder

In a project of your own, copy the wheel into it, npm install ./pulumi-irm-*.tgz, and set path: node_modules/pulumi-irm/plugin.
"""

import pulumi
from pulumi_irm import Group, Identity, Role, RoleBinding

config = pulumi.Config()

organization = Group(
    "organization",
    root=True,
    name=config.get("name") or "acme",
    description="The whole company",
)

platform = Group(
    "platform",
    parent=organization.uid,
    name="platform",
    description=config.get("platformDescription") or "Builds and runs what the other teams build on",
)

registry = Group("registry", parent=platform.uid, name="registry", description="Images and packages")

clusters = Group("clusters", parent=platform.uid, name="clusters", description="Where everything runs")

product = Group("product", parent=organization.uid, name="product", description="What customers see")

ISSUER = "https://token.actions.githubusercontent.com"

# By exact claims: one branch of one repository.
release = Identity(
    "release",
    parent=platform.uid,
    name="release workflow",
    description="Publishes images from the main branch",
    claim_match={"issuer": ISSUER, "subject": "repo:acme@123456/images@456789:ref:refs/heads/main"},
)

# By pattern (RE2, matching the whole claim), narrowed by another claim: pull requests of every repository.
review = Identity(
    "review",
    parent=organization.uid,
    name="pull requests",
    description="Reads what a change would do",
    claim_match={
        "issuer": ISSUER,
        "subject_pattern": "repo:acme(@123456)?/[^:]+:pull_request",
        "claims": {"repository_owner": "acme"},
    },
)

deploy = Identity(
    "deploy",
    parent=product.uid,
    name="deploy workflow",
    claim_match={"issuer": ISSUER, "subject_pattern": "repo:acme@123456/(shop@456796|site@456799):environment:production"},
)

publisher = Role(
    "publisher",
    parent=platform.uid,
    name="publisher",
    description="Pushes images and tags, deletes none",
    capabilities=[
        "groups.list",
        "repo.list",
        "repo.create",
        "manifest.create",
        "manifest.list",
        "tag.create",
        "tag.list",
    ],
)

# Built-in roles by their names, a role of our own by its uid.
RoleBinding("review-reads-everything", parent=organization.uid, identity=review.uid, role="viewer")
if config.get_bool("pullRequestsPublish"):
    RoleBinding("review-publishes", parent=registry.uid, identity=review.uid, role=publisher.uid)
RoleBinding("release-publishes", parent=registry.uid, identity=release.uid, role=publisher.uid)
RoleBinding(
    "release-edits-clusters",
    parent=clusters.uid,
    identity=release.uid,
    role=config.get("clustersRole") or "editor",
)
RoleBinding("deploy-works-on-product", parent=product.uid, identity=deploy.uid, role="viewer")

pulumi.export("organizationUid", organization.uid)
pulumi.export("releaseIdentity", release.uid)
