// A group with its image repositories, its accounts at cloud providers, the identity provider of its people, and an invite
// for a person who has no identity yet.
//
//   pulumi config set parent <uid of your organization>
//   pulumi config set --secret clientSecret <secret of the client that is registered at the issuer>
import * as pulumi from "@pulumi/pulumi";
import {
  AccountAssociation,
  ExternalGroupRoleMapping,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Repo,
  Role,
  Tag,
} from "pulumi-irm";

const config = new pulumi.Config();

const images = new Group("images", { parent: config.require("parent"), name: "images" });

const member = new Role("member", {
  parent: images,
  name: "member",
  capabilities: ["groups.list", "repo.list", "tag.list"],
});

const login = new IdentityProvider("login", {
  parent: images,
  name: "login",
  description: "Where our people sign in",
  defaultRole: member,
  oidc: {
    issuer: "https://login.example.com",
    clientId: "images",
    // Encrypted in the state, and never returned by the service.
    clientSecret: config.requireSecret("clientSecret"),
    additionalScopes: ["email", "profile"],
  },
});

// Whose sign-in names this group sees the whole organization.
new ExternalGroupRoleMapping("auditors", {
  parent: login,
  externalGroupId: "Auditors",
  role: "viewer",
  scope: config.require("parent"),
});

const invite = new GroupInvite("first-editor", {
  parent: images,
  role: "editor",
  email: "editor@example.com",
  ttl: "604800s",
  singleUse: true,
});

const builder = new Identity("builder", {
  parent: images,
  name: "builder",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme@123456/images@456789:ref:refs/heads/main",
  },
});

new AccountAssociation("clouds", {
  parent: images,
  name: "clouds",
  amazon: { account: "123456789012" },
  chainguard: { serviceBindings: { BUILDER: builder } },
});

const nginx = new Repo("nginx", {
  parent: images,
  name: "nginx",
  description: "The web server",
  aliases: ["web:latest"],
  customOverlay: { contents: { packages: ["bash", "curl"] } },
});

// Has the tier, bundles, aliases and active tags of its source.
new Repo("nginx-mirror", { parent: images, name: "nginx-mirror", syncConfig: { source: nginx } });

new Tag("latest", {
  parent: nginx,
  name: "latest",
  digest: config.get("digest") ?? "sha256:0000000000000000000000000000000000000000000000000000000000000000",
});

/** Secret: `pulumi stack output inviteCode --show-secrets` */
export const inviteCode = invite.code;
export const group = images.uid;
