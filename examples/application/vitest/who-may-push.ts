// The application: who may push images to a repo. It repeats a read that fails.
import { setTimeout as wait } from "node:timers/promises";

export interface Api {
  baseUrl: string;
  token: string;
}

interface Found {
  uid: string;
  name: string;
}
interface Binding {
  identity: Found;
  role: Found;
  group: Found;
}

const ATTEMPTS = 3;

export const whoMayPush = async (api: Api, name: string): Promise<string[]> => {
  const [repo] = await list<Found>(api, "/registry/v2beta1/repos", "repos", { name });
  if (repo === undefined) throw new Error(`there is no repo ${name}`);
  const roles = await list<Found & { capabilities: string[] }>(api, "/iam/v2beta1/roles", "roles");
  const pushing = new Set(
    roles.filter(({ capabilities }) => capabilities.includes("CAP_MANIFEST_CREATE")).map(({ uid }) => uid),
  );
  const bindings = await list<Binding>(api, "/iam/v2beta1/roleBindings", "roleBindings");
  // A role binding holds in its group and below: the uid of the repo begins with that of the group.
  return bindings
    .filter(({ role, group }) => pushing.has(role.uid) && repo.uid.startsWith(`${group.uid}/`))
    .map(({ identity }) => identity.name)
    .sort();
};

/** All pages of a list. */
const list = async <T>(api: Api, path: string, field: string, query: Record<string, string> = {}): Promise<T[]> => {
  const page = await get(api, `${path}?${new URLSearchParams(query)}`);
  const found = page[field] as T[];
  if (!page.nextPageToken) return found;
  return [...found, ...(await list<T>(api, path, field, { ...query, pageToken: page.nextPageToken as string }))];
};

const get = async ({ baseUrl, token }: Api, target: string): Promise<Record<string, unknown>> => {
  const headers = { authorization: `Bearer ${token}` };
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${baseUrl}${target}`, { headers }).catch((error: Error) => error);
    if (answer instanceof Response && answer.ok) return (await answer.json()) as Record<string, unknown>;
    const problem = answer instanceof Response ? answer.status : answer.message;
    const isFinal = answer instanceof Response && answer.status !== 429 && answer.status !== 503;
    if (isFinal || attempt === ATTEMPTS) throw new Error(`GET ${target}: ${problem}`);
    const seconds = answer instanceof Response ? Number(answer.headers.get("retry-after") ?? 1) : 0;
    await wait(seconds * 1000);
  }
};
