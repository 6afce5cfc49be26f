// Every served method, by name, except the exchange, which authenticates by itself (server/sts/).
import type { OperationName } from "../../schema/index.ts";
import { accountAssociationService } from "./account-association.ts";
import { advisoryService } from "./advisory.ts";
import type { Services } from "./context.ts";
import { externalGroupRoleMappingService } from "./external-group-role-mapping.ts";
import { groupService, lookupGroupService } from "./group.ts";
import { groupInviteService } from "./group-invite.ts";
import { identityService } from "./identity.ts";
import { identityProviderService } from "./identity-provider.ts";
import { repoService } from "./repo.ts";
import { roleService } from "./role.ts";
import { roleBindingService } from "./role-binding.ts";
import { tagService } from "./tag.ts";
import { v1Service } from "./v1.ts";
import { whoAmIService } from "./who-am-i.ts";

export type ServedName = Exclude<OperationName, "Exchange" | "ExchangeGet" | "ExchangeRefreshToken">;

export const services: Services<ServedName> = {
  ...groupService,
  ...identityService,
  ...roleService,
  ...roleBindingService,
  ...identityProviderService,
  ...externalGroupRoleMappingService,
  ...accountAssociationService,
  ...groupInviteService,
  ...lookupGroupService,
  ...repoService,
  ...tagService,
  ...advisoryService,
  Ping: () => ({ response: "pong" }),
  ...whoAmIService,
  ...v1Service,
};
