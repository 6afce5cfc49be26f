// The owner of the organization, who calls the server directly: to list records, and to create foreign ones.
import type { Json } from "../../../schema/index.ts";
import type { RunningServer } from "../../../server/index.ts";
import { workloadToken } from "../provider.ts";

/** What every record of the API has. */
export type LiveRecord = Json & { uid: string };

export const IAM = "/iam/v2beta1";

/** Lists of what programs declare: each ends with the field of its records. */
const LISTS = [
  ...["groups", "identities", "roles", "roleBindings", "groupInvites"].map((plural) => `${IAM}/${plural}`),
  ...["repos", "tags"].map((plural) => `/registry/v2beta1/${plural}`),
];

export type Owner = Awaited<ReturnType<typeof ownerOf>>;

export const ownerOf = async (server: Pick<RunningServer, "baseUrl" | "authUrl" | "issuer" | "identity">) => {
  const { baseUrl, authUrl, identity = "" } = server;
  /** every token that was issued */
  const tokens: string[] = [];
  /** A workload's token, noted as a secret. */
  const mintToken = async (): Promise<string> => {
    const issued = await workloadToken(server, "owner");
    tokens.push(issued);
    return issued;
  };
  let token = "";
  /** Takes one that knows the organizations that were created since. */
  const renewToken = async (): Promise<void> => {
    const query = new URLSearchParams({ aud: baseUrl, identity });
    const headers = { authorization: `Bearer ${await mintToken()}` };
    const answer = await fetch(`${authUrl}/sts/exchange?${query}`, { headers });
    ({ token } = (await answer.json()) as { token: string });
    tokens.push(token);
  };
  await renewToken();
  const call = async (method: string, path: string, body?: Json): Promise<Json> => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text || "{}") as Json;
  };
  const listRecords = async (path: string, pageToken: unknown = ""): Promise<LiveRecord[]> => {
    const page = await call("GET", `${path}?pageSize=200&pageToken=${encodeURIComponent(String(pageToken))}`);
    const found = (page[path.split("/").at(-1) as string] ?? []) as LiveRecord[];
    return page.nextPageToken ? [...found, ...(await listRecords(path, page.nextPageToken))] : found;
  };
  return {
    ...{ mintToken, call, tokens },
    /** Returns the uid. */
    create: async (path: string, body: Json) => (await call("POST", `${IAM}/${path}`, body)).uid as string,
    /** the API token of its calls */
    token: () => token,
    renewToken,
    /** all that it may read, by uid */
    records: async () => {
      // New roots are known to new tokens only.
      await renewToken();
      const all = await Promise.all(LISTS.map((path) => listRecords(path)));
      return new Map(all.flat().map((record) => [record.uid, record]));
    },
  };
};

/** Foreign records of every kind; `home` is the group in which programs create theirs. */
export const furnish = async ({ create }: Owner, organization: string) => {
  const home = await create(`groups/${organization}`, { name: "home", description: "of others" });
  const sibling = await create(`groups/${home}`, { name: "sibling", description: "of others" });
  const claimMatch = { issuer: "https://issuer.example.com", subject: "foreigner" };
  const identity = await create(`identities/${sibling}`, { name: "foreigner", claimMatch });
  const role = await create(`roles/${home}`, { name: "foreign", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  await create(`roleBindings/${home}`, { identityUid: identity, roleUid: role });
  return { home, foreign: { identity, role } };
};
