// WhoAmI (docs/contract.md#validate): what an API token says of its holder, and the roles bound to it now. Of version 1.
import { z } from "zod";
import { message, plain, string, strings, timestamp } from "../field.ts";
import { Empty } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { GroupV1, RoleV1 } from "./v1.ts";

export const WhoAmI = message("auth.WhoAmI", {
  issuer: plain(1, string),
  /** uid of the identity */
  subject: plain(2, string),
  audience: plain(3, strings),
  expiry: plain(4, timestamp),
  issuedAt: plain(5, timestamp),
  capabilities: plain(
    101,
    z.array(message("auth.WhoAmI.Capability", { group: plain(1, GroupV1), role: plain(2, RoleV1) })),
  ),
  /** of the token that was exchanged */
  email: plain(102, string),
});

export const authOperations = rows("auth.Auth", "/auth/v1", {
  Validate: { http: "GET /ok", request: Empty, response: WhoAmI, capabilities: [] },
}) satisfies Operations;
