// As the cycles of the provider soak without checkpoints and on an empty machine, with a real engine: all processes of a run are killed while a
// request is under way, and what follows leaves exactly what the last program declares.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { killWhole } from "../support/process.ts";
import { type HoldingProxy, startProxy } from "../support/proxy.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type EngineOptions, prepare } from "./change/groups.ts";
import type { PartResult } from "./part.ts";

/** What a program declares below its top group, beside one identity. */
interface Spec {
  description: string;
  role: string;
  /** groups, and then one in the last of them, and a second role */
  more: number;
  keepsOld: boolean;
}

const BEFORE: Spec = { description: "one", role: "viewer", more: 0, keepsOld: true };
/** More groups than the engine works on at a time. */
const AFTER: Spec = { description: "two", role: "editor", more: 12, keepsOld: false };
const CHANGED: Spec = { description: "three", role: "editor", more: 5, keepsOld: true };

/** Requests of the change from BEFORE to AFTER: the last create, and the delete that follows it. */
const MOMENTS = [
  { method: "POST", path: /\/groups\/[0-9a-f]{40}(\/[0-9a-f]{16}){2}$/ },
  { method: "DELETE", path: /\/groups\// },
] as const;

const FOLLOWS = ["reverted", "same", "changed", "refreshed", "destroyed", "killed again"] as const;

const FORMS = ["pulumi-irm", "pulumi-irm/plugin"] as const;

/** What a kill takes: the run's checkpoints, which it does not save, or its machine with the journal. */
type Loses = "checkpoints" | "machine";

/** `rounds`: killed runs, each with what follows in turn, and in each form: a lost machine first with the plugin. */
export const killedRuns = async (loses: Loses, options: EngineOptions): Promise<PartResult> => {
  const { seed, rounds, log } = options;
  const plugin = await prepare(options);
  const first = loses === "machine" ? 1 : 0;
  const figures = { "runs to kill": rounds, "killed runs": 0 };
  const random = createRandom(seed);
  const place = await createWorkplace();
  const proxy = await startProxy(() => place.server.baseUrl);
  const failures: string[] = [];
  try {
    for (let i = 0; i < rounds; i += 1) {
      const round = { loses, place, proxy, random, plugin, figures, name: `round-${i}` };
      const [form, follow] = [FORMS[(i + first) % 2] as Form, FOLLOWS[Math.floor(i / 2) % FOLLOWS.length] as Follow];
      const problems = await proveOne(round, form, follow).catch((error: Error) => [error.stack ?? String(error)]);
      failures.push(...problems.map((text) => `round ${i}, ${form}, ${follow}: ${text}`));
      log?.(`${i + 1} of ${rounds} killed runs, ${failures.length} problems`);
    }
  } finally {
    await proxy.close();
    await place.close();
  }
  return { figures: { ...figures, "not as declared": failures.length }, failures };
};

type Form = (typeof FORMS)[number];
type Follow = (typeof FOLLOWS)[number];

interface Round {
  loses: Loses;
  place: Workplace;
  proxy: HoldingProxy;
  random: Random;
  plugin: string;
  figures: { "killed runs": number };
  name: string;
}

const proveOne = async (round: Round, form: Form, follow: Follow): Promise<string[]> => {
  const { loses, place, proxy, plugin, name } = round;
  const env = {
    ORG: place.server.organization,
    IRM_BASE_URL: proxy.url,
    IRM_TOKEN: place.server.token,
    IRM_REQUEST_TIMEOUT: "20",
    ...(loses === "checkpoints" && { PULUMI_SKIP_CHECKPOINTS: "true" }),
  };
  const source = (spec: Spec) => sourceOf(form, name, spec);
  const program = await place.program(name, source(BEFORE), env, { ownProcess: true, plugin });
  await program.must("up", "--yes", "--skip-preview");
  program.write(source(AFTER));
  await kill(round, program);
  let last = AFTER;
  if (follow === "reverted") last = BEFORE;
  if (follow === "changed") last = CHANGED;
  if (follow === "killed again") {
    program.write(source(BEFORE));
    await kill(round, program, /./);
  }
  program.write(source(last));
  if (follow === "refreshed") await program.must("refresh", "--yes");
  const problems: string[] = [];
  if (follow === "destroyed") {
    await program.must("destroy", "--yes");
    problems.push(...compare([[], []], liveOf(round)));
  }
  await program.must("up", "--yes", "--skip-preview");
  problems.push(...compare(declaredBy(name, last), liveOf(round)));
  const { output } = await program.must("preview", "--expect-no-changes");
  if (output.includes("is open")) problems.push(`the stack is open after an up:\n${output}`);
  if (loses === "checkpoints") {
    const { code, stdout, stderr } = await irmIn(program, ["recover", "--stack", "dev"]);
    if (code !== 0) problems.push(`irm recover: ${stdout}${stderr}`);
  }
  await program.must("destroy", "--yes", "--skip-preview");
  return [...problems, ...compare([[], []], liveOf(round))];
};

/** A run that ends before the moment is not killed. */
const kill = async (round: Round, program: Program, path?: RegExp): Promise<void> => {
  const { loses, place, proxy, random, figures } = round;
  const moment = path ? { method: random.pick(["PATCH", "DELETE"] as const), path } : random.pick(MOMENTS);
  const held = proxy.hold(moment.method, moment.path, random.pick(["before", "after"] as const));
  const run = program.start("up", "--yes", "--skip-preview");
  const isHeld = await Promise.race([held.reached.then(() => true), run.result.then(() => false)]);
  if (isHeld) {
    killWhole(run.pid);
    figures["killed runs"] += 1;
  }
  await run.exited;
  if (loses === "machine") rmSync(join(place.folder, "journal"), { recursive: true, force: true });
  // Late for the run that was killed.
  held.release();
  if (isHeld) await program.must("cancel", "--yes");
};

const sourceOf = (form: Form, name: string, { description, role, more, keepsOld }: Spec): string => `
import { Group, Identity, RoleBinding } from "${form}";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "${name}", description: "${description}" });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
new RoleBinding("ci-reads", { parent: team, identity: ci, role: "${role}" });
${keepsOld ? 'new Group("old", { parent: team, name: "old" });' : ""}
const groups = Array.from({ length: ${more} }, (_, i) => new Group("more-" + i, { parent: team, name: "more-" + i }));
if (groups.length > 0) {
  const owns = new RoleBinding("ci-owns", { parent: team, identity: ci, role: "owner" });
  new Group("last", { parent: groups.at(-1)!, name: "last", allowReplace: true }, { dependsOn: [...groups, owns] });
}
`;

/** Names of groups with their descriptions, and of the roles that the identity has. */
type Access = [groups: string[], roles: string[]];

const declaredBy = (name: string, { description, role, more, keepsOld }: Spec): Access => [
  [
    `${name} ${description}`,
    ...(keepsOld ? ["old "] : []),
    ...Array.from({ length: more }, (_, i) => `more-${i} `),
    ...(more > 0 ? ["last "] : []),
  ],
  [role, ...(more > 0 ? ["owner"] : [])],
];

const liveOf = ({ place }: Round): Access => {
  const { organization } = place.server;
  const below = `${organization}/%`;
  const groups = place.rows("groups", "uid LIKE ?", below).map(({ name, body }) => `${name} ${body.description ?? ""}`);
  const roles = new Map(place.rows("roles").map(({ uid, name }) => [uid, name]));
  const bindings = place.rows("role_bindings", "parent LIKE ?", below);
  return [groups, bindings.map(({ role_uid }) => String(roles.get(role_uid as string)))];
};

const compare = (declared: Access, live: Access): string[] => {
  const [expected, found] = [declared, live].map((access) => JSON.stringify(access.map((names) => names.toSorted())));
  return expected === found ? [] : [`declared ${expected}, live ${found}`];
};
