// Records that tests create over REST, with defaults for the fields that a test leaves out.
import type { Answer, Body } from "../support/http.ts";
import { IAM, REGISTRY, type TestServer } from "./api-server.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

/** For each collection its service, and the required fields of its records besides references. */
export const COLLECTIONS = {
  groups: [IAM, { name: "g" }],
  identities: [IAM, { name: "i", claimMatch: { issuer: "https://issuer.example", subject: "s" } }],
  roles: [IAM, { name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] }],
  roleBindings: [IAM, {}],
  groupInvites: [IAM, { ttl: "3600s" }],
  identityProviders: [IAM, { name: "idp" }],
  externalGroupRoleMappings: [IAM, {}],
  accountAssociations: [IAM, { name: "a" }],
  repos: [REGISTRY, { name: "repo" }],
  tags: [REGISTRY, { name: "latest", digest: DIGEST }],
} as const satisfies Record<string, readonly [service: string, fields: Body]>;

export type Collection = keyof typeof COLLECTIONS;

// Each of these replaces the others.
const RELATIONSHIPS = ["claimMatch", "claim_match", "staticKeys", "awsIdentity", "servicePrincipal"];

const bodyOf = (collection: Collection, fields: Body): Body => {
  const defaults: Body = { ...COLLECTIONS[collection][1] };
  if (RELATIONSHIPS.some((name) => name in fields)) delete defaults.claimMatch;
  return { ...defaults, ...fields };
};

/** Sends a create, which may be refused. `parent` "": at the root. The owner asks, unless there is a token. */
export const postRecord = (
  api: Pick<TestServer, "call">,
  collection: Collection,
  parent: string,
  fields: Body = {},
  token?: string,
): Promise<Answer> =>
  api.call("POST", `${COLLECTIONS[collection][0]}/${collection}${parent && `/${parent}`}`, {
    body: bodyOf(collection, fields),
    ...(token !== undefined && { token }),
  });

/** The record that a create answers with; a refusal throws. */
export const recordOf = async (answer: Promise<Answer>): Promise<Body> => {
  const { status, text, json } = await answer;
  if (status !== 200) throw new Error(`a create answered ${status}: ${text}`);
  return json;
};

export const createRecord = (...request: Parameters<typeof postRecord>): Promise<Body> =>
  recordOf(postRecord(...request));

/** The uid of a new record. */
export const createUid = async (...request: Parameters<typeof postRecord>): Promise<string> =>
  (await createRecord(...request)).uid as string;

/** The records of a list, page after page. */
export const listAll = async (
  api: Pick<TestServer, "ok">,
  path: string,
  options: { token?: string; query?: Body } = {},
): Promise<Body[]> => {
  const records: Body[] = [];
  let page_token: string | undefined = options.query?.page_token;
  do {
    const query = { ...options.query, page_token };
    const { nextPageToken, totalCount, skipped: _, ...lists } = await api.ok("GET", path, { ...options, query });
    records.push(...(Object.values(lists)[0] as Body[]));
    if (Number(totalCount) < records.length) throw new Error(`${path} counts ${totalCount}, and lists more`);
    page_token = nextPageToken;
  } while (page_token);
  return records;
};
