// WhoAmI (docs/contract.md#validate), a method of v1: what an API token shows of its holder, and the roles bound to it now.
import { z } from "zod";
import { message, plain, string, strings, timestamp } from "../field.ts";
import { Empty } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { GroupV1, RoleV1 } from "./v1.ts";

export const WhoAmI = message("auth.WhoAmI", {
  issuer: plain(1, string, { text: "`iss` of the token" }),
  subject: plain(2, string, { text: "uid of the identity" }),
  audience: plain(3, strings, { text: "`aud` of the token" }),
  expiry: plain(4, timestamp, { text: "When the token expires: RFC 3339, UTC" }),
  issuedAt: plain(5, timestamp, { text: "When the token was issued: RFC 3339, UTC" }),
  capabilities: plain(
    101,
    z.array(
      message("auth.WhoAmI.Capability", {
        group: plain(1, GroupV1, { text: "Where the role is granted" }),
        role: plain(2, RoleV1, { text: "The role; absent where the capabilities there differ from every known role" }),
        capabilities: plain(3, strings, {
          text: "Where `role` is absent: all that the holder may do there, by friendly names such as `groups.list`",
        }),
      }),
    ),
    { text: "What the holder may do, and where" },
  ),
  email: plain(102, string, { text: "Address in the token that was exchanged" }),
});

export const authOperations = rows("auth.Auth", "/auth/v1", {
  Validate: { http: "GET /ok", request: Empty, response: WhoAmI, capabilities: [] },
}) satisfies Operations;
