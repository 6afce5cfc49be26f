// How many files and functions an engineer reads to follow one check, one create, or one delete. The bounds only go down, and count schema/
// and pulumi/ too: of provider/ and client/ a first check passes 34 files and 110 functions, where it passed 55 and 177 at 12c58a12.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { startService } from "../harness/provider.ts";
import { temporaryFolder } from "../support/command.ts";

const folder = temporaryFolder();
const service = await startService();
afterAll(async () => {
  await service.close();
  folder.remove();
});

interface Passed {
  stored: { id: string; outs: object };
  /** names of functions by file */
  way: Record<string, string[]>;
}

const pass = async (...args: string[]): Promise<Passed> => {
  const script = fileURLToPath(new URL("../support/steady-way.ts", import.meta.url));
  const env = { ...process.env, ...service.env, IRM_JOURNAL: folder.path("journals") };
  const { stdout } = await promisify(execFile)(process.execPath, [script, service.organization as string, ...args], {
    env,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) as string) as Passed;
};

/** The functions with a name; the others belong to the one that they are in. */
const countOf = (way: Passed["way"]) => {
  const functions = Object.values(way).flat();
  return { files: Object.keys(way).length, functions: functions.filter((name) => name !== "anonymous").length };
};

const requireShort = ({ way }: Passed, files: number, functions: number): void => {
  const count = countOf(way);
  const lines = Object.entries(way).map(([file, names]) => `${file}: ${names.join(" ")}`);
  const text = [`${count.files} files, ${count.functions} named functions:`, ...lines].join("\n  ");
  expect(count.files <= files && count.functions <= functions, text).toBe(true);
};

it("passes few files and functions: checks, one more create, and a first delete", async () => {
  requireShort(await pass("first-check"), 47, 157);
  requireShort(await pass("check"), 24, 54);
  const created = await pass("create");
  const { id, outs } = created.stored;
  const deleted = await pass("delete", id, JSON.stringify(outs));
  requireShort(created, 28, 117);
  requireShort(deleted, 19, 60);
});
