// Group: a node of the hierarchy. Everything else belongs to one. A group without a parent is an organization.
import type { z } from "zod";
import {
  bool,
  enumeration,
  int32Map,
  isZero,
  message,
  optional,
  output,
  plain,
  recordTimes,
  required,
  string,
} from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { description, name } from "../text.ts";
import { uidp } from "../uidp.ts";

export const OrgKind = enumeration(
  "iam.OrgKind",
  {
    ORG_KIND_UNSPECIFIED: 0,
    ORG_KIND_STARTER: 1,
    ORG_KIND_CUSTOMER: 2,
    ORG_KIND_DEV: 3,
    ORG_KIND_INFRA: 4,
    ORG_KIND_AWS_MARKETPLACE: 5,
  },
  { argumentType: "GroupKind", text: "Kind of an organization" },
);

export const OrgStatus = enumeration("iam.OrgStatus", {
  ORG_STATUS_UNSPECIFIED: 0,
  ORG_STATUS_INITIALIZING: 1,
  ORG_STATUS_READY: 2,
  ORG_STATUS_SUSPENDED: 3,
});

export const Group = message("iam.Group", {
  uid: output(1, uidp, "Path of hexadecimal segments, the ancestors first: what other resources refer to"),
  name: required(2, name, "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique"),
  description: optional(3, description, "One line, at most 512 characters; default: empty", { always: true }),
  resourceLimits: output(4, int32Map, "Limits of the organization: number of records, by resource", { always: true }),
  verified: optional(5, bool, "Only the operator of the service may set it; default: the service's choice", {
    always: true,
    serverChosen: true,
  }),
  ...recordTimes(6),
  kind: optional(8, OrgKind, "Kind of the organization that the group belongs to", {
    argumentText: "Kind of the organization, which the groups below inherit; default: the service's choice",
    serverChosen: true,
  }),
  status: output(9, OrgStatus.optional(), "State of the organization that the group belongs to"),
});
export type Group = z.infer<typeof Group>;

const standard = standardMethods(Group, "group", "groups");
const groupOperations = rows("iam.GroupsService", "/iam/{version}", {
  GetGroup: standard.get("groups.list"),
  DeleteGroup: standard.delete("groups.delete"),
  ListGroups: standard.list("groups.list", { name: plain(2, string, "The whole name") }, 3),
  // Unscoped on purpose: any caller may create an organization; the service checks a parent (docs/internals/contract.md#authorization).
  CreateGroup: {
    http: "POST /groups/{parent=**}",
    body: "group",
    request: message("iam.CreateGroupRequest", {
      parent: plain(1, string, "uid of the group that holds the new one; absent: a new organization"),
      group: required(2, Group, "The group"),
    }),
    response: Group,
    capabilities: ["groups.create"],
  },
  UpdateGroup: standard.update("groups.update"),
  // Uses the e-mail domain in the caller's token, never one in the request (docs/internals/contract.md#groups).
  LookupGroup: {
    http: "GET /groups:lookupGroup",
    request: message("iam.LookupGroupRequest", {}),
    response: message("iam.LookupGroupResponse", {
      group: plain(1, Group, "The organization of the caller's e-mail domain"),
    }),
    capabilities: [],
  },
});

export const group = resource("Group", groupOperations, {
  texts: {
    about: "a node of the hierarchy; one without a parent is an organization.",
    parent: {
      argument: "The group that this one belongs to: a Group or a uid",
      output: "uid of the group that this one belongs to; undefined for an organization",
    },
    allowReplace:
      "Allows a change of parent to create a new group, with a new uid for it and all below it; default: refused in the preview",
    forceDestroy:
      "Also deletes the records below the group that this run does not delete. It lists them in the log first and begins with the deepest. It is not allowed on a root group. `protect` and `retainOnDelete` do not protect resources below. Default: a group that contains something is not deleted",
    allowDuplicate:
      "Creates the group although one with the same parent and fields exists that this stack did not create; default: the update refuses it",
    lookUp: { by: "name", text: "The group of that name in `parent`; without one, the organization of that name." },
    list: "Groups that the caller may read.",
  },
  schema: Group,
  root: true,
  replacementBreaks: "its uid and the uids of everything below it would change, and the role bindings in it would end",
  // Groups below the root inherit its kind (docs/internals/contract.md#groups).
  violations: ({ kind }, parent) =>
    parent === undefined || isZero(Group.shape.kind, kind)
      ? []
      : [{ field: "kind", description: "belongs to the root group; leave it out below" }],
});
