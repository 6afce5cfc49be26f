// GET /openapi.json: the description of the REST interface. It takes no token: the description is public.
import { openapiDocument } from "../../schema/index.ts";
import { once } from "../base/once.ts";
import type { Pages } from "../rest/page.ts";

export const openapiPage = (): Pages => {
  const document = once(() => Buffer.from(JSON.stringify(openapiDocument())));
  return async ({ method, path }) =>
    path === "/openapi.json" && (method === "GET" || method === "HEAD")
      ? { http: 200, bytes: document(), headers: { "content-type": "application/json" } }
      : undefined;
};
