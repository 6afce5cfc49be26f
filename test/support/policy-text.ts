// A policy of any size, as text: groups in a tree, workloads of GitHub, custom roles, and bindings at random.
import { createRandom } from "./random.ts";

export interface PolicySize {
  groups: number;
  identities: number;
  bindings: number;
}

const ROLES = ["editor", "viewer", "registry.pull", "registry.push", "publisher"];

/** Three levels of groups: teams, their areas, and the areas below. */
export const policyText = ({ groups, identities, bindings }: PolicySize, seed = 1): string => {
  const { pick } = createRandom(seed);
  const teams = Math.max(1, Math.round(groups / 25));
  const paths: string[] = [];
  for (let i = 0; i < groups; i += 1) paths.push(i < teams ? `team-${i}` : `${paths[i % teams]}/area-${i}`);
  const areasOf = (team: string) =>
    paths.filter((path) => path.startsWith(`${team}/`)).map((path) => path.split("/")[1]);
  const groupLines = paths.slice(0, teams).map(
    (team) =>
      `  ${team}:\n    description: Owns ${team}\n    groups:\n${areasOf(team)
        .map((area) => `      ${area}: {}\n`)
        .join("")}`,
  );

  const names = Array.from({ length: identities }, (_, i) => `workload-${i}`);
  const identityLines = names.map(
    (name, i) => `  ${name}:\n    in: ${pick(paths)}\n    github: { repository: acme/repository-${i}, branch: main }\n`,
  );

  const rows = new Map<string, Set<string>>();
  for (let count = 0; count < bindings; ) {
    const key = `${pick(paths)} ${pick(ROLES)}`;
    const row = rows.get(key) ?? new Set();
    rows.set(key, row);
    const { size } = row;
    row.add(pick(names));
    count += row.size - size;
  }
  const access = Map.groupBy([...rows].toSorted(), ([key]) => key.split(" ")[0] as string);
  const accessLines = [...access].map(
    ([path, own]) =>
      `  ${path}:\n${own.map(([key, members]) => `    ${key.split(" ")[1]}: [${[...members].join(", ")}]\n`).join("")}`,
  );
  return [
    "organization: acme\ngroups:\n",
    ...groupLines,
    "identities:\n",
    ...identityLines,
    "roles:\n  publisher: { can: [repo.list, repo.create, manifest.create, tag.create] }\naccess:\n",
    ...accessLines,
  ].join("");
};
