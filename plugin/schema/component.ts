// AccessPolicy, a component: the arguments and outputs of the TypeScript class of that name (provider/program/access-policy.ts), which
// constructs it in the plugin too.
import type { ObjectSpec, PropertySpec, ResourceSpec, TypeSpec } from "./spec.ts";
import { token } from "./types.ts";

export const ACCESS_POLICY = "AccessPolicy";

/** What `adopt` takes beside "match". */
const ADOPT_FILE = token("PolicyAdoptFile");

export const accessPolicyTypes: Readonly<Record<string, ObjectSpec>> = {
  [ADOPT_FILE]: {
    description: "A file of uids, as irm export writes it",
    type: "object",
    properties: {
      file: {
        type: "string",
        plain: true,
        description: "Path of the file, relative to the folder of the Pulumi project",
      },
    },
    required: ["file"],
  },
};

const plain = (type: TypeSpec, description: string): PropertySpec => ({ ...type, plain: true, description });

const uids = (description: string): PropertySpec => ({
  type: "object",
  additionalProperties: { type: "string" },
  description,
});

export const accessPolicySpec = (): ResourceSpec => ({
  description:
    "A policy as resources: its groups, roles, identities, and who has which role where. Logical names follow from the keys of the policy, never from its order.",
  isComponent: true,
  inputProperties: {
    file: plain({ type: "string" }, "The policy file, relative to the folder of the Pulumi project"),
    policy: plain({ $ref: "pulumi.json#/Any" }, "The policy as an object, in the shape of the file"),
    adopt: plain(
      { oneOf: [{ type: "string" }, { $ref: `#/types/${ADOPT_FILE}`, plain: true }] },
      '"match" adopts the records that have these names in these groups, and creates the others; `{ file }` adopts the records with the uids of this file, relative to the folder of the Pulumi project, as irm export writes it; default: all are created',
    ),
    deleteAdopted: plain(
      { type: "boolean" },
      "Adopted records are deleted with their resources; default: they are left in place",
    ),
    exclusive: plain(
      { type: "boolean" },
      "Removes role bindings that the policy does not declare, in each of its groups, as RoleBindingSet does; default: they stay",
    ),
    maxRemovals: plain({ type: "integer" }, "Most role bindings that a run removes in one group; default: 20"),
    allowReplace: plain(
      { type: "boolean" },
      "Allows a changed `in` to create a new identity, role or group, with a new uid; default: refused in the preview",
    ),
    allowDuplicate: plain(
      { type: "boolean" },
      "Creates groups, identities and roles although equal ones exist that this stack did not create; default: the update refuses them",
    ),
    identityProviders: uids(
      "Identity providers that `people` names, by name: their uids; default: each is looked up by its name in the organization",
    ),
  },
  requiredInputs: [],
  properties: {
    organization: { type: "string", description: "uid of the organization" },
    groups: uids("uids of the groups, by path: `platform/registry`"),
    identities: uids("uids of the identities, by key"),
    roles: uids("uids of the custom roles, by key"),
  },
  required: ["organization", "groups", "identities", "roles"],
});
