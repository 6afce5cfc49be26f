import { interpolate } from "@pulumi/pulumi";
import { Identity, RoleBinding } from "pulumi-irm";

const organization = "<uid of your organization>";
const issuer = "https://token.actions.githubusercontent.com";
const repository = "repo:acme@123456/access@456793";

// Reviews and drift
const preview = new Identity("preview", {
  parent: organization,
  name: "access preview",
  claimMatch: { issuer, subjectPattern: `${repository}:(pull_request|ref:refs/heads/main)` },
});
// Behind the approval
const apply = new Identity("apply", {
  parent: organization,
  name: "access apply",
  claimMatch: { issuer, subject: `${repository}:environment:access`, claims: { ref: "refs/heads/main" } },
});

const reads = new RoleBinding("preview-reads", { parent: organization, identity: preview, role: "viewer" });
const owns = new RoleBinding("apply-owns", { parent: organization, identity: apply, role: "owner" });

// Values of the variables IRM_PREVIEW_IDENTITY, IRM_UP_IDENTITY and IRM_DRIFT_ALLOW
export const previewIdentity = preview.uid;
export const applyIdentity = apply.uid;
export const driftAllow = interpolate`${reads.uid}\n${owns.uid}`;
