// The set-up of docs/change.md#user: `irm apply --user` as root; the engine, the program and its provider as another user.
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, linkSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { createStack } from "../harness/engine-stack.ts";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { installPackage, runIn, writeProject } from "../support/package.ts";

const [project, place] = await Promise.all([installPackage(), createWorkplace()]);
afterAll(() => place.close());

/** The engine wants one that the system knows. It is of no use for anything else. */
const USER = "nobody";
const [UID, GID] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, USER]))) as [number, number];

const source = (resources: string) => `
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { isDryRun } from "@pulumi/pulumi/runtime/index.js";
import { dynamic } from "@pulumi/pulumi";
import { Group, Identity, RoleBinding } from "pulumi-irm";
const { ORG: parent, TOKEN_FILE, IRM_RUN } = process.env;
const run = IRM_RUN ? JSON.parse(readFileSync(IRM_RUN, "utf8")) : {};
const isApplied = run.kind === "apply" && !isDryRun();
const codeOf = (act) => {
  try {
    act();
    return "done";
  } catch ({ code }) {
    return code;
  }
};
if (isApplied) {
  const seen = {
    user: process.getuid(),
    memory: codeOf(() => openSync("/proc/" + run.pid + "/mem")),
    environment: codeOf(() => readFileSync("/proc/" + run.pid + "/environ")),
    token: codeOf(() => readFileSync(TOKEN_FILE)),
    signal: codeOf(() => process.kill(run.pid, "SIGTERM")),
    root: codeOf(() => process.setuid(0)),
  };
  writeFileSync("seen.json", JSON.stringify(seen));
}
const { USERS } = process.env;
const provider = {
  check: async (_, inputs) => {
    process.getBuiltinModule("node:fs").appendFileSync(USERS, process.getuid() + "\\n");
    return { inputs };
  },
  create: async () => ({ id: "other" }),
};
class Other extends dynamic.Resource {}
new Other(provider, "other", {});
const team = new Group("team", { parent, name: "team" });
const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
const bot = new Identity("bot", { parent: team, name: "bot", claimMatch });
const views = new RoleBinding("views", { parent: team, identity: bot, role: "viewer" });
${resources}
`;

const link = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    // On another file system.
    copyFileSync(from, to);
  }
};

/** PATH with the engine and this Node. They may stand where only root may go, so they are linked into `folder`. */
const pathFor = (folder: string): string => {
  const engine = dirname(runIn(folder, "sh", "-c", "realpath $(command -v pulumi)").trim());
  for (const name of readdirSync(engine)) link(join(engine, name), join(folder, name));
  link(process.execPath, join(folder, "node"));
  return [folder, process.env.PATH].join(delimiter);
};

/** Files that come later are of the engine, which runs as that user. */
const giveAway = (folder: string): void => {
  for (const name of [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    chownSync(join(folder, name), UID, GID);
};

test.runIf(process.getuid?.() === 0)(
  "as another user, a program cannot reach the gate and its credentials (needs root)",
  async () => {
    // Its folder for temporary files is of one user.
    chmodSync(inject("packageFolder"), 0o755);
    const program = writeProject(join(project.folder, "other-user"), {
      "Pulumi.yaml": "name: other-user\nruntime: nodejs\n",
      "package.json": { name: "other-user", type: "module", main: "index.js" },
      "index.js": source(""),
    });
    const folder = writeProject(join(project.folder, "other-user-stack"), { "journal/read.me": "" });
    const path = pathFor(writeProject(join(project.folder, "other-user-path"), { "read.me": "" }));
    const { IRM_IDENTITY_TOKEN_FILE: TOKEN_FILE = "" } = place.env;
    const users = join(program, "users");
    const own = { ORG: place.server.organization, TOKEN_FILE, USERS: users, IRM_JOURNAL: join(folder, "journal") };
    const { env } = await createStack({ folder, program, env: { ...place.env, ...own, NODE_OPTIONS: "", PATH: path } });
    const irm = (...args: string[]) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        const command = [join(project.folder, "node_modules", ".bin", "irm"), ...args, "--stack", "dev"];
        execFile(process.execPath, command, { cwd: program, env }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
      });

    const review = await irm("review", "--out", "change.json");
    expect(review.code, review.stderr).toBe(0);
    writeFileSync(users, "");
    for (const one of [program, folder]) giveAway(one);
    const more = `if (isApplied) new Group("more", { parent, name: "more" }, { dependsOn: views });`;
    writeFileSync(join(program, "index.js"), source(more));
    const { code, stdout, stderr } = await irm("apply", "change.json", "--user", USER, "--yes", "--format", "json");
    expect(code, stderr).toBe(3);
    expect(stdout, stderr).not.toBe("");
    expect(JSON.parse(stdout), stderr).toMatchObject({ applied: 3, missing: 0, refused: [{ method: "CreateGroup" }] });
    expect(JSON.parse(readFileSync(join(program, "seen.json"), "utf8"))).toEqual({
      ...{ user: UID, memory: "EACCES", environment: "EACCES", token: "EACCES", signal: "EPERM", root: "EPERM" },
    });
    // Also the provider that runs in a review, and while the change is computed again.
    expect(new Set(readFileSync(users, "utf8").trim().split("\n"))).toEqual(new Set([String(UID)]));
    expect(place.rows("groups").map(({ name }) => name)).toContain("team");
  },
);
