// The Pulumi program of the recorded previews, before and after an edit.

export const BEFORE = `
import { Group, Identity, Role, RoleBinding, RoleBindingSet } from "pulumi-irm";
const org = process.env.ORGANIZATION;
const platform = new Group("platform", { parent: org, name: "platform" });
const registry = new Group("registry", { parent: platform, name: "registry" });
const legacy = new Group("legacy", { parent: org, name: "legacy", forceDestroy: true });
const publisher = new Role("publisher", { parent: platform, name: "publisher", capabilities: ["repo.list", "repo.create"] });
const github = (subject) => ({ issuer: "https://token.actions.githubusercontent.com", subject });
const release = new Identity("release", { parent: platform, name: "release", claimMatch: github("repo:acme/images:ref:refs/heads/main") });
const review = new Identity("review", { parent: org, name: "review", claimMatch: github("repo:acme/images:pull_request") });
const moved = new Identity("moved", { parent: legacy, name: "moved", claimMatch: github("repo:acme/moved:ref:refs/heads/main") });
new RoleBinding("release-publishes", { parent: registry, identity: release, role: publisher });
new RoleBinding("review-views", { parent: org, identity: review, role: "viewer" });
new RoleBinding("moved-edits", { parent: registry, identity: moved, role: "editor" });
new RoleBinding("by-hand", { parent: platform, identity: review, role: "editor" });
const tools = new Group("tools", { parent: platform, name: "tools" });
new RoleBindingSet("tools", { parent: tools, bindings: [{ identity: moved, role: "viewer" }], exclusive: true });
`;

// release gets a pattern, publisher a capability; legacy goes with what was created in it by hand; moved changes its group;
// clusters, deploy and its bindings are new, one of them with a role that no dependency names; partner is adopted;
// the exclusive set of tools gets a pair, keeps that of the identity that moves, and removes what was created by hand.
export const AFTER = `
import { Group, Identity, Role, RoleBinding, RoleBindingSet } from "pulumi-irm";
import * as pulumi from "@pulumi/pulumi";
const org = process.env.ORGANIZATION;
const platform = new Group("platform", { parent: org, name: "platform" });
const registry = new Group("registry", { parent: platform, name: "registry" });
const publisher = new Role("publisher", { parent: platform, name: "publisher", capabilities: ["repo.list", "repo.create", "tag.create"] });
const issuer = "https://token.actions.githubusercontent.com";
const github = (subject) => ({ issuer, subject });
const release = new Identity("release", { parent: platform, name: "release", claimMatch: { issuer, subjectPattern: "repo:acme/.*:ref:refs/heads/main" } });
const review = new Identity("review", { parent: org, name: "review", claimMatch: github("repo:acme/images:pull_request") });
const moved = new Identity("moved", { parent: platform, name: "moved", claimMatch: github("repo:acme/moved:ref:refs/heads/main"), allowReplace: true });
new RoleBinding("release-publishes", { parent: registry, identity: release, role: publisher });
new RoleBinding("review-views", { parent: org, identity: review, role: "viewer" });
new RoleBinding("moved-edits", { parent: registry, identity: moved, role: "editor" });
new RoleBinding("by-hand", { parent: platform, identity: review, role: "editor" });
const tools = new Group("tools", { parent: platform, name: "tools" });
const pairs = [{ identity: moved, role: "viewer" }, { identity: review, role: publisher }];
new RoleBindingSet("tools", { parent: tools, bindings: pairs, exclusive: true });
const clusters = new Group("clusters", { parent: platform, name: "clusters" });
const deploy = new Identity("deploy", { parent: clusters, name: pulumi.secret("deploy"), claimMatch: github("repo:acme/deploy:ref:refs/heads/main") });
new RoleBinding("deploy-publishes", { parent: clusters, identity: deploy, role: publisher });
new RoleBinding("deploy-unknown", { parent: clusters, identity: deploy, role: clusters.createTime.apply((time) => (time ? "viewer" : "editor")) });
const partner = new Identity("partner", { parent: org, name: "partner", claimMatch: github("repo:acme/partner:ref:refs/heads/main"), adopt: "match" });
new RoleBinding("partner-views", { parent: registry, identity: partner, role: "viewer" });
`;

export const BROKEN = `
import { Group } from "pulumi-irm";
new Group("platform", { parent: process.env.ORGANIZATION, name: "platform" });
new Group("broken", { parent: process.env.ORGANIZATION, name: "Not A Name" });
`;
