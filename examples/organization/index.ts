// An organization with three levels of groups, identities for GitHub Actions workflows, and who may do what where.

import * as pulumi from "@pulumi/pulumi";
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";

const config = new pulumi.Config();

const organization = new Group("organization", {
  root: true,
  name: config.get("name") ?? "acme",
  description: "The whole company",
});

const platform = new Group("platform", {
  parent: organization,
  name: "platform",
  description: config.get("platformDescription") ?? "Builds and runs what the other teams build on",
});

const registry = new Group("registry", {
  parent: platform,
  name: "registry",
  description: "Images and packages",
});

const clusters = new Group("clusters", {
  parent: platform,
  name: "clusters",
  description: "Where everything runs",
});

const product = new Group("product", { parent: organization, name: "product", description: "What customers see" });

const issuer = "https://token.actions.githubusercontent.com";

// By exact claims: one branch of one repository.
const release = new Identity("release", {
  parent: platform,
  name: "release workflow",
  description: "Publishes images from the main branch",
  claimMatch: { issuer, subject: "repo:acme@123456/images@456789:ref:refs/heads/main" },
});

// By pattern (RE2, matching the whole claim), narrowed by another claim: pull requests of every repository.
const review = new Identity("review", {
  parent: organization,
  name: "pull requests",
  description: "Reads what a change would do",
  claimMatch: {
    issuer,
    subjectPattern: "repo:acme(@123456)?/[^:]+:pull_request",
    claims: { repository_owner: "acme" },
  },
});

const deploy = new Identity("deploy", {
  parent: product,
  name: "deploy workflow",
  claimMatch: { issuer, subjectPattern: "repo:acme@123456/(shop@456796|site@456799):environment:production" },
});

const publisher = new Role("publisher", {
  parent: platform,
  name: "publisher",
  description: "Pushes images and tags, deletes none",
  capabilities: [
    "groups.list",
    "repo.list",
    "repo.create",
    "manifest.create",
    "manifest.list",
    "tag.create",
    "tag.list",
  ],
});

// Built-in roles by their names, a role of our own as the resource.
new RoleBinding("review-reads-everything", { parent: organization, identity: review, role: "viewer" });
if (config.getBoolean("pullRequestsPublish"))
  new RoleBinding("review-publishes", { parent: registry, identity: review, role: publisher });
new RoleBinding("release-publishes", { parent: registry, identity: release, role: publisher });
new RoleBinding("release-edits-clusters", {
  parent: clusters,
  identity: release,
  role: config.get("clustersRole") ?? "editor",
});
new RoleBinding("deploy-works-on-product", { parent: product, identity: deploy, role: "viewer" });

export const organizationUid = organization.uid;
export const releaseIdentity = release.uid;
