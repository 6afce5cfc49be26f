// A server on which a role can publish in a group, and a reader sees only that group.
import { type Actor, serve, type TestServer } from "./api-server.ts";
import { createUid } from "./records.ts";

export interface Team {
  api: TestServer;
  /** uids of a group and of the group in it */
  platform: string;
  registry: string;
  /** uid of a role of `platform` */
  publisher: string;
  /** viewer at `registry` */
  reader: Actor;
}

export const startTeam = async (): Promise<Team> => {
  const api = await serve();
  const platform = await createUid(api, "groups", api.organization, { name: "platform" });
  const registry = await createUid(api, "groups", platform, { name: "registry" });
  const role = { name: "publisher", capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] };
  const publisher = await createUid(api, "roles", platform, role);
  const reader = await api.actor("reader", { role: "viewer", at: registry });
  return { api, platform, registry, publisher, reader };
};
