// docs/take-over.md: its commands in their order, first on a copy; then a change of the program is tried on the copy.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { driftOf, irmIn } from "../harness/irm-command.ts";
import { commandsOf } from "../support/document.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs", "take-over.md"), "utf8");
const [exported = [], copied = [], taken = [], drift = []] = page.split(/^## /m).slice(1).map(commandsOf);

/** A command of `pulumi` as the page has it: the engine asks nobody here. */
const runPulumi = (program: Program, command: string) => {
  const [, ...args] = command.split(" ");
  return program.must(...args, ...(args[0] === "up" ? ["--yes", "--skip-preview"] : []));
};
const ofPulumi = (commands: string[]) => commands.filter((command) => /^pulumi (?!stack init)/.test(command));

const places: Workplace[] = [];
let original: Workplace;
let program: Program;
let source: string;
let wrote: string;
let uids: string;
beforeAll(async () => {
  original = await createWorkplace();
  places.push(original);
  const { organization } = original.server;
  const platform = await original.create(`groups/${organization}`, { name: "platform" });
  const subject = "repo:acme/images:ref:refs/heads/main";
  const claimMatch = { issuer: "https://token.actions.githubusercontent.com", subject };
  const identityUid = await original.create(`identities/${platform}`, { name: "release", claimMatch });
  const capabilities = ["CAP_REPO_LIST", "CAP_TAG_CREATE"];
  const roleUid = await original.create(`roles/${platform}`, { name: "publisher", capabilities });
  await original.create(`roleBindings/${platform}`, { identityUid, roleUid });
  await original.server.takeRequests();

  const [command = ""] = exported.filter((line) => line.startsWith("npx pulumi-irm export"));
  const env = { ...process.env, IRM_BASE_URL: original.server.baseUrl, IRM_TOKEN: original.server.token };
  const { code, stdout, stderr } = await irmIn({ folder: original.folder, env } as never, command.split(" ").slice(2));
  expect(code, stderr).toBe(0);
  wrote = stdout + stderr;
  source = readFileSync(join(original.folder, "acme", "index.ts"), "utf8");
  uids = readFileSync(join(original.folder, "acme", "adopt.json"), "utf8");
  vi.stubEnv("IRM_TOKEN", original.server.token);
  places.push(await createWorkplace(["--copy-of", original.server.baseUrl]));
  vi.unstubAllEnvs();
  await original.server.takeRequests();
});
afterAll(() => Promise.all(places.map((place) => place.close())));

it("docs/take-over.md: the export prints what the page shows", () => expect(page).toContain(wrote.trim()));

it.each([
  ["on a copy", 1, copied],
  ["in the organization", 0, taken],
] as const)("the program takes everything over %s, and sends nothing", async (_where, at, commands) => {
  const place = places[at] as Workplace;
  program = await place.program("program", source);
  writeFileSync(join(program.folder, "adopt.json"), uids);
  expect(ofPulumi(commands).length).toBeGreaterThan(1);
  const outputs: string[] = [];
  for (const command of ofPulumi(commands)) outputs.push((await runPulumi(program, command)).output);
  const release = place.rows("identities", "name = ?", "release")[0]?.uid as string;
  expect(outputs[0]).toContain(`Identity release adopts identity ${release}`);
  expect(await place.writes()).toEqual([]);
  if (at === 1) expect(await original.server.takeRequests()).toEqual([]);
  if (at === 0) {
    expect(drift).toContain("npx pulumi-irm drift");
    const { code, stdout } = await driftOf(program);
    expect(code, stdout).toBe(0);
    // The page has another project, stack and organization.
    const [title = ""] = stdout.split("\n");
    expect(title).toMatch(/^Drift of program\/dev in \S+: no difference$/);
    expect(page).toMatch(/^ *Drift of access\/production in acme: no difference$/m);
    expect(await place.writes()).toEqual([]);
  }
});

it("docs/take-over.md: a changed program goes on at the copy, and its service hears nothing of it", async () => {
  const [, copy] = places as [Workplace, Workplace];
  const file = join(original.folder, "state.json");
  await program.must("stack", "export", "--file", file);
  await Promise.all(places.map(({ server }) => server.takeRequests()));
  const [parent, identity] = [original.uidOf("groups", "platform"), original.uidOf("identities", "release")];
  const edit = `new RoleBinding("edits", { parent: "${parent}", identity: "${identity}", role: "editor" });`;
  // The first program of the copy has the other folder of this name.
  rmSync(join(copy.folder, "program"), { recursive: true });
  const trial = await copy.program("program", `${source}\n${edit}\n`, { IRM_MOVED_FROM: original.server.baseUrl });
  await trial.must("stack", "import", "--file", file);
  appendFileSync(join(trial.folder, "Pulumi.yaml"), "options:\n  refresh: always\n");
  const { output } = await trial.must("up", "--yes", "--skip-preview");
  const writes = writesOf(await copy.server.takeRequests()).map(({ operation }) => operation);
  expect(writes, output).toEqual(["CreateRoleBinding"]);
  expect(await original.server.takeRequests()).toEqual([]);
});
