// The owner of the organization, who calls the server directly: to list records, and to create foreign ones.
import type { Json } from "../../../schema/index.ts";
import type { RunningServer } from "../../../server/index.ts";
import { workloadToken } from "../provider.ts";

/** What every record of the API has. */
export type LiveRecord = Json & { uid: string };

export const IAM = "/iam/v2beta1";

const REGISTRY = "/registry/v2beta1";

/** Lists of what programs declare: each ends with the field of its records. */
const LISTS = [
  ...["groups", "identities", "roles", "roleBindings", "groupInvites"].map((plural) => `${IAM}/${plural}`),
  ...["repos", "tags"].map((plural) => `${REGISTRY}/${plural}`),
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
  const exchangeToken = async (): Promise<string> => {
    const query = new URLSearchParams({ aud: baseUrl, identity });
    const answer = await fetch(`${authUrl}/sts/exchange?${query}`, {
      headers: { authorization: `Bearer ${await mintToken()}` },
    });
    const issued = ((await answer.json()) as { token: string }).token;
    tokens.push(issued);
    return issued;
  };
  let token = await exchangeToken();
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
  /** Takes one that knows the organizations that were created since. */
  const renewToken = async (): Promise<void> => {
    token = await exchangeToken();
  };
  const listRecords = async (path: string): Promise<LiveRecord[]> => {
    const found: LiveRecord[] = [];
    const plural = path.split("/").at(-1) as string;
    let pageToken = "";
    do {
      const page = await call("GET", `${path}?pageSize=200&pageToken=${encodeURIComponent(pageToken)}`);
      found.push(...((page[plural] ?? []) as LiveRecord[]));
      pageToken = (page.nextPageToken ?? "") as string;
    } while (pageToken !== "");
    return found;
  };
  return {
    mintToken,
    call,
    tokens,
    /** the API token of its calls */
    token: () => token,
    renewToken,
    /** all that it may read, by uid */
    records: async () => {
      // New roots are known to new tokens only.
      await renewToken();
      const all = await Promise.all(LISTS.map(listRecords));
      return new Map(all.flat().map((record) => [record.uid, record]));
    },
  };
};

/** Foreign records of every kind; `home` is the group in which programs create theirs. */
export const furnish = async ({ call }: Owner, organization: string) => {
  const createRecord = async (path: string, body: Json) => (await call("POST", `${IAM}/${path}`, body)).uid as string;
  const home = await createRecord(`groups/${organization}`, { name: "home", description: "of others" });
  const sibling = await createRecord(`groups/${home}`, { name: "sibling", description: "of others" });
  const claimMatch = { issuer: "https://issuer.example.com", subject: "foreigner" };
  const identity = await createRecord(`identities/${sibling}`, { name: "foreigner", claimMatch });
  const role = await createRecord(`roles/${home}`, { name: "foreign", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  await createRecord(`roleBindings/${home}`, { identityUid: identity, roleUid: role });
  return { home, foreign: { identity, role } };
};
