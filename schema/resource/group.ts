// Group: the node of the hierarchy that everything else belongs to; one without a parent is an organization.
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
  required,
  string,
  timestamp,
} from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { description, name } from "../text.ts";
import { uidp } from "../uidp.ts";

export const OrgKind = enumeration("iam.OrgKind", {
  ORG_KIND_UNSPECIFIED: 0,
  ORG_KIND_STARTER: 1,
  ORG_KIND_CUSTOMER: 2,
  ORG_KIND_DEV: 3,
  ORG_KIND_INFRA: 4,
  ORG_KIND_AWS_MARKETPLACE: 5,
});

export const OrgStatus = enumeration("iam.OrgStatus", {
  ORG_STATUS_UNSPECIFIED: 0,
  ORG_STATUS_INITIALIZING: 1,
  ORG_STATUS_READY: 2,
  ORG_STATUS_SUSPENDED: 3,
});

export const Group = message("iam.Group", {
  /** path of hexadecimal segments, the ancestors first */
  uid: output(1, uidp),
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: required(2, name),
  /** one line, at most 512 characters */
  description: optional(3, description, { always: true }),
  /** limits of the organization, by resource */
  resourceLimits: output(4, int32Map, { always: true }),
  /** set by the operator of the service only */
  verified: optional(5, bool, { always: true, serverChosen: true }),
  createTime: output(6, timestamp),
  updateTime: output(7, timestamp),
  /** kind of the organization; groups below a root inherit it */
  kind: optional(8, OrgKind, { serverChosen: true }),
  status: output(9, OrgStatus.optional()),
});
export type Group = z.infer<typeof Group>;

const groupOperations = rows("iam.GroupsService", "/iam/{version}", {
  GetGroup: {
    http: "GET /groups/{uid=**}",
    request: getRequest("iam.GetGroupRequest"),
    response: Group,
    capabilities: ["groups.list"],
    scope: "uid",
  },
  DeleteGroup: {
    http: "DELETE /groups/{uid=**}",
    request: getRequest("iam.DeleteGroupRequest"),
    response: Empty,
    capabilities: ["groups.delete"],
    scope: "uid",
  },
  ListGroups: {
    http: "GET /groups",
    request: listRequest(
      "iam.ListGroupsRequest",
      {
        /** the whole name */
        name: plain(2, string),
      },
      3,
    ),
    response: listResponse("iam.ListGroupsResponse", "groups", Group),
    capabilities: ["groups.list"],
  },
  // Unscoped on purpose: any caller may create an organization; the service checks a parent (docs/contract.md#authorization).
  CreateGroup: {
    http: "POST /groups/{parent=**}",
    body: "group",
    request: message("iam.CreateGroupRequest", { parent: plain(1, string), group: required(2, Group) }),
    response: Group,
    capabilities: ["groups.create"],
  },
  UpdateGroup: {
    http: "PATCH /groups/{group.uid=**}",
    body: "group",
    request: updateRequest("iam.UpdateGroupRequest", "group", Group),
    response: Group,
    capabilities: ["groups.update"],
    scope: "group.uid",
  },
  // By the e-mail domain in the caller's token, never by what the request claims (docs/contract.md#groups).
  LookupGroup: {
    http: "GET /groups:lookupGroup",
    request: message("iam.LookupGroupRequest", {}),
    response: message("iam.LookupGroupResponse", { group: plain(1, Group) }),
    capabilities: [],
  },
}) satisfies Operations;

export const group = resource("Group", groupOperations, {
  schema: Group,
  root: true,
  replacementBreaks: "its uid and those of all that is below it would change, and the role bindings in it would end",
  // Groups below the root inherit its kind (docs/contract.md#groups).
  violations: ({ kind }, parent) =>
    parent === undefined || isZero(Group.shape.kind, kind)
      ? []
      : [{ field: "kind", description: "belongs to the root group; leave it out below" }],
});
