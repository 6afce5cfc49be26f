// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517), and with `--dev` the pages of the development issuer, which
// mints a token for anyone on this machine who asks (docs/contract.md#d33).
import { z } from "zod";
import { type FieldViolation, invalidArgument } from "../../schema/index.ts";
import { shapeError, shapeProblems } from "../../schema/shape.ts";
import { jsonFromBody } from "../rest/body.ts";
import { local, type Page, type PageRequest, type Pages, pagesAt } from "../rest/page.ts";
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

export const issuerPages = (sts: Sts): Pages => {
  const json = (document: () => object) => () => ({ http: 200, json: document() });
  const { devIssuer } = sts;
  return pagesAt({
    "GET /.well-known/openid-configuration": json(sts.discovery),
    [`GET ${JWKS_PATH}`]: json(sts.jwks),
    ...(devIssuer && {
      [`GET ${DEV_ISSUER_PATH}/.well-known/openid-configuration`]: json(devIssuer.discovery),
      [`GET ${DEV_ISSUER_PATH}${JWKS_PATH}`]: json(devIssuer.jwks),
      [`POST ${DEV_ISSUER_PATH}/token`]: local("the development issuer is", mint(devIssuer)),
    }),
  });
};

const mint =
  (issuer: NonNullable<Sts["devIssuer"]>) =>
  async ({ body }: PageRequest): Promise<Page> => {
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
    return { http: 200, json: { token: await issuer.mint(data) } };
  };
