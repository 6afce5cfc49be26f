// What a request of a path is about, for people.
import { type AccessGraph, placesIn } from "../graph/graph.ts";

const CREATED = /\$\{(\d+)\.uid\}/;

/** The uid that the path of a request ends with, or `${N.uid}`; empty: none, or that of a new record. */
export const recordIn = (path: string): string =>
  CREATED.exec(path)?.[0] ?? path.match(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?!.*[0-9a-f]{40})/)?.[0] ?? "";

/** That record, in words. */
export const targetsIn = (graph: AccessGraph): ((path: string, method: string) => string) => {
  const placeOf = placesIn(graph);
  return (path, method) => {
    const id = recordIn(path);
    const own = CREATED.exec(id)?.[1];
    if (own !== undefined) return `what step ${own} created`;
    const [identity, role, provider] = [graph.identities.get(id), graph.roles.get(id), graph.providers.get(id)];
    if (identity) return `identity ${identity.name}`;
    if (role) return `role ${role.name}`;
    if (provider) return `identity provider ${provider.name}`;
    const binding = graph.bindings.get(id);
    if (binding) return `role binding of ${graph.identities.get(binding.identity)?.name ?? binding.identity}`;
    if (graph.groups.has(id)) return method === "POST" ? `new role binding at ${placeOf(id)}` : placeOf(id);
    return /<uid of ([^>]*)>/.exec(path)?.[1] ?? "a sign-in";
  };
};
