// Random parts of roles and identities.
import type { Json } from "../../../schema/index.ts";
import type { Random } from "../../support/random.ts";

const CAPABILITIES = ["IAM_GROUPS_LIST", "IAM_ROLES_LIST", "REPO_LIST", "REPO_CREATE", "TAG_CREATE"].map(
  (name) => `CAP_${name}`,
);

export const someCapabilities = (random: Random): string[] =>
  random.shuffle(CAPABILITIES).slice(0, 1 + random.below(3));

export const someClaims = (random: Random): Json => ({
  issuer: "https://issuer.example.com",
  ...(random.below(4) === 0
    ? { subjectPattern: `repo:acme/${random.hex(6)}-[a-z]+` }
    : { subject: `repo:acme/${random.hex(6)}` }),
});
