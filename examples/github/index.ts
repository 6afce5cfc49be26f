// Creates what access.yaml says.
import { AccessPolicy } from "pulumi-irm";

const acme = new AccessPolicy("acme", { file: "access.yaml" });

/** IRM_IDENTITY of the release workflow */
export const releaseIdentity = acme.identities.release;
