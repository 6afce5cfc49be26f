// An organization from a policy file: access.yaml says who may do what.
//
//   npx pulumi-irm check access.yaml
//   pulumi up
import { AccessPolicy } from "pulumi-irm";

const acme = new AccessPolicy("acme", { file: "access.yaml" });

/** IRM_IDENTITY of the release workflow */
export const releaseIdentity = acme.identities.release;
export const groups = acme.groups;
