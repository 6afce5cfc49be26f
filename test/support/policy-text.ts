// A policy of any size, as text: groups in a tree, workloads of GitHub, a custom role, and bindings at random.
import { Document, visit } from "yaml";
import { createRandom } from "./random.ts";

const ROLES = ["editor", "viewer", "registry.pull", "registry.push", "publisher"];

/** Groups are teams, and areas in them. Lists are in one line, as people write them. */
export const policyText = (size: Record<"groups" | "identities" | "bindings", number>, seed = 1): string => {
  const { pick } = createRandom(seed);
  const count = Math.max(1, Math.round(size.groups / 25));
  const teams = Array.from({ length: count }, (_, i) => `team-${i}`);
  const groups: Record<string, object> = Object.fromEntries(
    teams.map((team) => [team, { description: `Owns ${team}` }]),
  );
  const paths = [...teams];
  for (let i = count; i < size.groups; i += 1) {
    const [team, area] = [`team-${i % count}`, `area-${i}`];
    groups[team] = { ...groups[team], groups: { ...(groups[team] as { groups?: object }).groups, [area]: {} } };
    paths.push(`${team}/${area}`);
  }
  const names = Array.from({ length: size.identities }, (_, i) => `workload-${i}`);
  const workloadOf = (name: string) => ({ in: pick(paths), github: { repository: `acme/${name}`, branch: "main" } });
  const access: Record<string, Record<string, string[]>> = {};
  for (let left = size.bindings; left > 0; ) {
    const [path, role, name] = [pick(paths), pick(ROLES), pick(names)];
    const known = access[path]?.[role] ?? [];
    if (known.includes(name)) continue;
    access[path] = { ...access[path], [role]: [...known, name] };
    left -= 1;
  }
  const identities = Object.fromEntries(names.map((name) => [name, workloadOf(name)]));
  const roles = { publisher: { can: ["repo.list", "repo.create", "manifest.create", "tag.create"] } };
  const document = new Document({ organization: "acme", groups, identities, roles, access });
  visit(document, { Seq: (_, list) => void Object.assign(list, { flow: true }) });
  return document.toString({ lineWidth: 0 });
};
