// The page at `/`: what this server is, its addresses, and the API as documentation, which Swagger UI renders from our own
// openapi.json. It loads nothing from another host, and its content security policy forbids it to.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isLoopbackAuthority, openapiDocument } from "../../schema/index.ts";
import { once } from "../base/once.ts";
import { type Page, type Pages, pagesAt, reading } from "../rest/page.ts";
import { type HomeFacts, homeDocument } from "./home-document.ts";

export interface HomeOptions extends Omit<HomeFacts, "token"> {
  /** An API token of the development owner. */
  ownerToken?: () => Promise<string>;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets style attributes.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ASSETS: Readonly<Record<string, string>> = {
  "/assets/home.css": "home.css",
  "/assets/home.js": "home.js",
  "/assets/swagger-ui.css": "swagger-ui.css",
  "/assets/swagger-ui.js": "swagger-ui-bundle.js",
};

/** Gives the owner's token only to a browser on this machine that names a loopback host, so not to a rebound DNS name. */
export const homePages = ({ ownerToken, ...facts }: HomeOptions): Pages => {
  const assets = new Map<string, Buffer>();
  return async ({ method, path, host }) => {
    if (method !== "GET" && method !== "HEAD") return undefined;
    if (path === "/") {
      const isLocal = isLoopbackAuthority(host);
      const { baseUrl, authUrl, issuer, ...records } = facts;
      // The owner may have been deleted; then the page has no token.
      const token = isLocal ? await ownerToken?.().catch(() => undefined) : undefined;
      const text = homeDocument({ baseUrl, authUrl, issuer, ...(isLocal && records), token });
      return page({ text }, "text/html; charset=utf-8", { "content-security-policy": POLICY });
    }
    const asset = ASSETS[path];
    if (!asset) return undefined;
    const bytes = assets.get(path) ?? readAsset(asset);
    assets.set(path, bytes);
    return page({ bytes }, `text/${path.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`);
  };
};

/** The description of the REST interface. It takes no token: the description is public. */
export const openapiPage = (): Pages => {
  const bytes = once(() => Buffer.from(JSON.stringify(openapiDocument())));
  const headers = { "content-type": "application/json" };
  return pagesAt(reading("/openapi.json", () => ({ http: 200, bytes: bytes(), headers })));
};

const page = (body: Pick<Page, "text" | "bytes">, type: string, headers: Record<string, string> = {}): Page => ({
  http: 200,
  ...body,
  headers: { "content-type": type, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", ...headers },
  quiet: true,
});

const readAsset = (name: string): Buffer => {
  try {
    return readFileSync(new URL(`assets/${name}`, import.meta.url));
  } catch {
    // The published package has a copy of the renderer beside our assets (scripts/build.ts); a clone has it as a dependency.
    return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  }
};
