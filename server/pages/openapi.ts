// GET /openapi.json: the description of the REST interface, without a token: it tells what is published.
import { openapiDocument } from "../../schema/index.ts";
import type { Page } from "../rest/server.ts";

export const openapiPage = () => {
  let text: string | undefined;
  return async (method: string, path: string): Promise<Page | undefined> => {
    if (path !== "/openapi.json" || (method !== "GET" && method !== "HEAD")) return undefined;
    text ??= JSON.stringify(openapiDocument());
    return { status: 200, text, headers: { "content-type": "application/json" } };
  };
};
