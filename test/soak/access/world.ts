// A reference server in this process, and organizations in it, one at a time: an auditor sees all of it, and a reader a part.

import { type Live, readLive } from "../../../access/graph/live.ts";
import { operator } from "../../../server/caller/caller.ts";
import { builtInRoleUid } from "../../../server/services/role.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createPageTokens } from "../../../server/store/list.ts";
import { createStore } from "../../../server/store/store.ts";
import { clientOf } from "../../access/client.ts";
import { type Actor, sharedKeys, shuffledIds, startServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import { createOrganization, type Organization } from "./organization.ts";

export interface World {
  /** A new organization, of which the reader sees the group and below that the number means. */
  inOrganization(work: (organization: Organization) => Promise<void>): Promise<void>;
  /** as one who sees all of the organization */
  read(): Promise<Live>;
  /** as one who sees one of its groups, by one of a few roles */
  readPart(organization: Organization, which: number): Promise<Live>;
  close(): Promise<void>;
}

/** Roles by which one sees all, or the bindings without the roles, or no bindings. */
const PARTS = ["viewer", "registry.pull", "registry.pull_token_creator"];

export const createWorld = async (seed: number): Promise<World> => {
  const store = createStore(openDatabase(":memory:"));
  const clock = manualClock();
  const api = await startServer({ clock, store, ids: shuffledIds(seed) });
  const [auditor, reader, outsider] = [
    await api.actor("auditor"),
    await api.actor("reader"),
    await api.actor("outsider"),
  ];
  const services = {
    log: () => undefined,
    store,
    tokens: createPageTokens(sharedKeys().pageTokenKey, clock)(operator),
    ids: shuffledIds(seed + 1),
    now: clock(),
    identityRules: { loopback: true, ownIssuer: api.authUrl, anyone: api.anyone },
    uniqueRoleBindings: false,
    withoutAntiEscalation: false,
  };

  const withBinding = async <T>(
    organization: Organization,
    { uid }: Actor,
    place: string,
    role: string,
    work: () => Promise<T>,
  ) => {
    const roleBinding = { identityUid: uid, roleUid: builtInRoleUid(role) } as never;
    const { uid: binding } = organization.serve("CreateRoleBinding", { parent: place, roleBinding });
    try {
      return await work();
    } finally {
      organization.serve("DeleteRoleBinding", { uid: binding as string });
    }
  };

  const clients = { auditor: clientOf(api, auditor.token), reader: clientOf(api, reader.token) };
  return {
    inOrganization: async (work) => {
      const organization = createOrganization(services, outsider.uid, [auditor.uid, reader.uid]);
      await withBinding(organization, auditor, organization.uid, "viewer", () => work(organization));
      organization.deleteTree(organization.uid);
    },
    read: () => readLive(clients.auditor),
    readPart: (organization, which) => {
      const groups = organization.uids("groups");
      const place = groups[which % groups.length] as string;
      const role = PARTS[which % PARTS.length] as string;
      return withBinding(organization, reader, place, role, () => readLive(clients.reader));
    },
    close: api.close,
  };
};
