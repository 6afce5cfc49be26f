// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517), and with `--dev` those of the development issuer, which
// mints a token for anyone who asks (docs/contract.md#d33). It serves this machine only: a foreign site that resolves its own
// name to a loopback address (DNS rebinding) still names itself as the host of the request, and is refused.
import { z } from "zod";
import { type ApiError, apiError, invalidArgument, isLoopbackAuthority } from "../../schema/index.ts";
import { restError } from "../rest/decode.ts";
import type { HttpOptions, Page } from "../rest/server.ts";
import { JWKS_PATH, type Sts } from "../sts/index.ts";

export const DEV_ISSUER_PATH = "/dev-issuer";

/** What a request names as its host that comes from this machine by a name of it. */

/** A token to mint: the body of `POST /dev-issuer/token`. */
export interface MintRequest {
  /** `sub` of the token */
  subject: string;
  /** `aud`; default: the address of the issuer of API tokens */
  audience?: string | string[] | undefined;
  /** further claims; `exp`, `iat`, `nbf`, `iss` and `jti` take the place of what the issuer would write */
  claims?: Record<string, unknown> | undefined;
  /** default: one hour */
  lifetimeSeconds?: number | undefined;
}

const MintRequest: z.ZodType<MintRequest, MintRequest> = z.strictObject({
  subject: z.string().min(1).max(255),
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
  lifetimeSeconds: z.int().positive().max(86_400).optional(),
});

export const issuerPages =
  (sts: Sts): HttpOptions["pages"] =>
  async (method, path, body, host): Promise<Page | undefined> => {
    const pages: Record<string, () => Promise<unknown> | unknown> = {
      "/.well-known/openid-configuration": () => sts.discovery(),
      [JWKS_PATH]: () => sts.jwks(),
      ...(sts.devIssuer && {
        [`${DEV_ISSUER_PATH}/.well-known/openid-configuration`]: sts.devIssuer.discovery,
        [`${DEV_ISSUER_PATH}${JWKS_PATH}`]: sts.devIssuer.jwks,
      }),
    };
    const page = pages[path];
    if (page && method === "GET") return { status: 200, json: await page() };
    if (!sts.devIssuer || path !== `${DEV_ISSUER_PATH}/token` || method !== "POST") return undefined;
    if (!isLoopbackAuthority(host))
      return refused(apiError("PERMISSION_DENIED", "the development issuer is reached by a name of loopback only"));
    const { success, data, error } = MintRequest.safeParse(parse(await body()));
    if (!success)
      return refused(
        invalidArgument(error.issues.map((issue) => ({ field: issue.path.join("."), description: issue.message }))),
      );
    const { subject, audience, claims, lifetimeSeconds } = data;
    const lifetimeMs = lifetimeSeconds === undefined ? undefined : lifetimeSeconds * 1000;
    return { status: 200, json: { token: await sts.devIssuer.mint({ subject, audience, claims, lifetimeMs }) } };
  };

/** An error as a page. */
export const refused = (error: ApiError): Page => {
  const { http, headers, status } = restError(error, "iam");
  return { status: http, headers, json: status };
};

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // Refused below as no object, like any other body of the wrong shape.
    return undefined;
  }
};
