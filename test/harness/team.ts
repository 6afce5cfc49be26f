// A server on which a role can publish in a group, and a reader sees only that group.
import { serve } from "./api-server.ts";
import { createUid } from "./records.ts";

export const startTeam = async () => {
  const api = await serve();
  const platform = await createUid(api, "groups", api.organization, { name: "platform" });
  const registry = await createUid(api, "groups", platform, { name: "registry" });
  const role = { name: "publisher", capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] };
  const publisher = await createUid(api, "roles", platform, role);
  const reader = await api.actor("reader", { role: "viewer", at: registry });
  return { api, platform, registry, publisher, reader };
};
