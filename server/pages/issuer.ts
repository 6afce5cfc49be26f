// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517), and with `--dev` the pages of the development issuer, which
// mints a token for anyone on this machine who asks (docs/contract.md#d33).
import { z } from "zod";
import { type FieldViolation, invalidArgument } from "../../schema/index.ts";
import { shapeError, shapeProblems } from "../../schema/shape.ts";
import { jsonFromBody } from "../rest/body.ts";
import { type Pages, refusalOfForeign } from "../rest/page.ts";
import { restError } from "../rest/status.ts";
import { JWKS_PATH, type MintRequest, type Sts } from "../sts/index.ts";

export const DEV_ISSUER_PATH = "/dev-issuer";

const isAudience = (value: unknown): boolean => {
  const texts = [value].flat();
  return texts.length > 0 && texts.every((text) => typeof text === "string" && text !== "");
};
const AUDIENCE = "must be a string, or a list of strings, none of them empty";

/** The body of `POST /dev-issuer/token`. */
const MintBody: z.ZodType<MintRequest, MintRequest> = z.strictObject({
  subject: z.string().min(1).max(255),
  audience: z.custom<string | string[]>(isAudience, AUDIENCE).optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
  lifetimeSeconds: z.int().min(1).max(86_400).optional(),
});

export const issuerPages =
  (sts: Sts): Pages =>
  async (request) => {
    const { method, path, body } = request;
    const pages: Record<string, () => Promise<unknown> | unknown> = {
      "/.well-known/openid-configuration": () => sts.discovery(),
      [JWKS_PATH]: () => sts.jwks(),
      ...(sts.devIssuer && {
        [`${DEV_ISSUER_PATH}/.well-known/openid-configuration`]: sts.devIssuer.discovery,
        [`${DEV_ISSUER_PATH}${JWKS_PATH}`]: sts.devIssuer.jwks,
      }),
    };
    const page = pages[path];
    if (page && method === "GET") return { http: 200, json: await page() };
    if (!sts.devIssuer || path !== `${DEV_ISSUER_PATH}/token` || method !== "POST") return undefined;
    const refusal = refusalOfForeign("the development issuer is", request);
    if (refusal) return refusal;
    const violations: FieldViolation[] = [];
    const json = jsonFromBody(await body(), violations);
    if (violations.length > 0) return restError(invalidArgument(violations));
    const { success, data, error } = MintBody.safeParse(json, { error: shapeError });
    if (!success)
      return restError(
        invalidArgument(
          shapeProblems(error.issues).map(({ path, text }) => ({ field: path.join("."), description: text })),
        ),
      );
    return { http: 200, json: { token: await sts.devIssuer.mint(data) } };
  };
