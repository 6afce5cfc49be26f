// `irm rehearse FILE`: a change is carried out again on a fresh copy, without the program. Its file is believed in nothing.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../access/canonical.ts";
import { type Change, lifeFrom } from "../../access/change/change.ts";
import type { Call } from "../../access/change/methods.ts";
import { changeRows } from "../../access/change/rows.ts";
import { type Write, writesFrom } from "../../access/change/write.ts";
import { checkChangeFile, writeChange } from "../../cli/change.ts";
import { accessOf, rowsBetween } from "../../cli/twin/access.ts";
import { recordsOf, startTwin } from "../../cli/twin/twin.ts";
import { createRecord } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import { copyOfServer } from "../harness/copy.ts";
import { createUid } from "../harness/records.ts";
import { startTeam } from "../harness/team.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const { api, platform, registry, publisher } = await startTeam();
const seen = await api.actor("seen");
const folder = temporaryFolder();
const path = folder.path("change.json");

beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  return () => vi.unstubAllEnvs();
});
afterAll(async () => {
  folder.remove();
  await api.close();
});

/** What an update sends that makes a group and an identity which publishes there, and lets an identity that exists do so too. */
const made: Change = await (async () => {
  const calls: Call[] = [];
  const twin = await startTwin(await copyOfServer(api), api.baseUrl, { onWrite: (call) => void calls.push(call) });
  const client = await twin.clientOf(api.identity);
  const before = await accessOf(twin, [seen.uid]);
  const { uid: team } = await createRecord(client, resources.group, platform, { name: "team" });
  const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
  const identity = { name: "bot", claimMatch };
  const { uid: bot } = await createRecord(client, resources.identity, String(team), identity);
  const requests = [bot, seen.uid].map((identityUid) => ({ roleBinding: { identityUid } }));
  await client.call("BatchCreateRoleBindings", { parent: team, roleUid: publisher, requests } as never);
  const after = await accessOf(twin, [seen.uid, String(bot)]);
  const { writes, textOf } = writesFrom(calls, { recordOf: recordsOf(new Map([[api.baseUrl, twin]]), api.baseUrl) });
  const rows = changeRows({ gains: rowsBetween(after, before), losses: rowsBetween(before, after) }, textOf);
  await twin.close();
  writeChange(path, {
    ...{ version: 1, operation: "up", arguments: [], stack: "access/dev", services: [api.baseUrl], as: api.identity },
    ...{ ...lifeFrom(api.clock.today()), writes, rows },
  });
  return JSON.parse(readFileSync(path, "utf8"));
})();

/** A file that says this, with the digest of it. */
const fileOf = (change: Partial<Change>): string => {
  const { digest: _, ...content } = { ...made, ...change };
  const file = folder.path("other.json");
  writeFileSync(file, JSON.stringify({ ...content, digest: digestOf(content) }));
  return file;
};
const rehearsed = async (file: string, ...flags: string[]) => {
  const { code, stdout, stderr } = await runIrm("rehearse", file, ...flags, "--format", "json");
  return { code, stderr, report: stdout === "" ? undefined : JSON.parse(stdout) };
};

describe("irm rehearse FILE", () => {
  test("carries the writes out on a fresh copy, finds the access as it is recorded, and changes nothing", async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { code, stderr, report } = await rehearsed(path);
    expect(code, stderr).toBe(0);
    expect(report).toEqual({
      ...{ stack: "access/dev", services: [api.baseUrl], as: api.identity, digest: made.digest },
      ...{ writes: 4, failed: [], rows: made.rows, differs: [] },
    });
    expect(report.rows).toContainEqual({
      change: "gain",
      identity: { $uid: 2 },
      group: { $uid: 1 },
      capability: "tag.create",
    });
    expect(report.rows).toContainEqual({
      change: "gain",
      identity: seen.uid,
      group: { $uid: 1 },
      capability: "tag.create",
    });
    const { groups } = await api.ok("GET", "/iam/v2beta1/groups", { query: { name: "team" } });
    expect(groups).toEqual([]);
  });

  test("prints names, the worst capability first", async () => {
    const { code, stdout } = await runIrm("rehearse", path);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Change of \S+: 4 writes, carried out on a copy$/m);
    expect(stdout).toContain("- bot gains tag.create at team and below");
    expect(stdout.indexOf("tag.create")).toBeLessThan(stdout.indexOf("repo.list"));
  });

  test("names each row that the file has and the copy has not, and the other way round", async () => {
    const [first, ...others] = made.rows as [Change["rows"][0], ...Change["rows"]];
    const invented = { ...first, capability: "groups.delete" };
    const { code, report } = await rehearsed(fileOf({ rows: [...others, invented] }));
    expect(code).toBe(3);
    expect(report.rows).toEqual(made.rows);
    expect(report.differs).toEqual([
      { row: first, message: "the file does not have it" },
      { row: invented, message: "only the file has it" },
    ]);
  });

  test("finds what a change by hand has made of it", async () => {
    const binding = await createUid(api, "roleBindings", platform, { identityUid: seen.uid, roleUid: publisher });
    const { code, report } = await rehearsed(path);
    expect(code).toBe(3);
    expect(new Set(report.differs.map(({ row }: { row: Change["rows"][0] }) => row.identity))).toEqual(
      new Set([seen.uid]),
    );
    await api.ok("DELETE", `/iam/v2beta1/roleBindings/${binding}`);
    expect((await rehearsed(path)).code).toBe(0);
  });

  test("names each write that fails, and what waits for it", async () => {
    const writes = made.writes.map(
      (write): Write => (write.n === 1 ? { ...write, parent: `${registry}/${"0".repeat(16)}` } : write),
    );
    const { code, report } = await rehearsed(fileOf({ writes }));
    expect(code).toBe(3);
    const [first, ...others] = report.failed;
    expect(first).toMatchObject({ n: 1, method: "CreateGroup" });
    expect(first.message).toContain("Not found: ");
    expect(others.map(({ message }: { message: string }) => message)).toEqual(
      new Array(3).fill("it needs what write 1 makes"),
    );
  });

  test("does not send what decides access and is secret", async () => {
    const writes = made.writes.map((write): Write => {
      const claimMatch = { issuer: "https://issuer.example", subject: { $secret: true } };
      return write.n === 2 ? { ...write, fields: { ...write.fields, claimMatch } } : write;
    });
    const { code, report } = await rehearsed(fileOf({ writes }));
    expect([code, report.failed[0]]).toEqual([
      3,
      { n: 2, method: "CreateIdentity", message: "what it gives is not known: claimMatch.subject is secret" },
    ]);
    const hidden = made.writes.map(
      (write): Write =>
        write.n === 1 ? { ...write, fields: { ...write.fields, description: { $secret: true } } } : write,
    );
    expect((await rehearsed(fileOf({ writes: hidden }))).report.failed).toEqual([]);
  });

  test("needs no more than to read what the writes rest on: who acts may be hidden", async () => {
    const role = await createUid(api, "roles", api.organization, {
      ...{ name: "mapper", capabilities: ["CAP_IAM_GROUPS_LIST"] },
    });
    const { token } = await api.actor("mapper", { role });
    vi.stubEnv("IRM_TOKEN", token);
    const { code, stderr, report } = await rehearsed(fileOf({ writes: made.writes.slice(0, 1), rows: [] }));
    expect(code, stderr).toBe(0);
    expect(report).toMatchObject({ as: api.identity, failed: [], rows: [] });
  });

  test("takes no write that says another thing than it does", async () => {
    const again = { ...made.writes[1], n: 5, fields: { ...made.writes[1]?.fields, description: "" } } as Write;
    const { code, report } = await rehearsed(fileOf({ writes: [...made.writes, again] }));
    const message = "on this copy it is another write than the file says";
    expect([code, report.failed]).toEqual([3, [{ n: 5, method: "CreateIdentity", message }]]);
  });

  test.each<[what: string, file: () => string, problem: string]>([
    [
      "of another service",
      () => fileOf({ services: ["https://other.example"] }),
      "is a change for https://other.example, and this is http://127.0.0.1:",
    ],
    [
      "that has expired",
      () => fileOf({ expires: "2026-01-01T00:00:00Z" }),
      "expired at 2026-01-01T00:00:00Z; make the change again",
    ],
    [
      "of an identity that is not there",
      () => fileOf({ as: `${platform}/${"0".repeat(16)}` }),
      "0000000000000000: there is no identity with this uid at http://127.0.0.1:",
    ],
    ["that is not there", () => folder.path("none.json"), "there is no file"],
    ["that is a folder", () => folder.path(""), "is not a regular file"],
    ["that never ends", () => "/dev/zero", "is not a regular file"],
  ])("refuses a file %s", async (_, file, problem) => {
    const { code, stderr } = await rehearsed(file());
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test.each(["--stack", "--as", "--rights", "--rate-limit", "--out"])("takes no %s: no program runs", async (flag) => {
    const { code, stderr } = await runIrm("rehearse", path, flag, "own");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} is for a program, and ${path} is a change`)]);
  });
});

test("arguments of the engine come after --, with or without a program", async () => {
  const refused = await runIrm("rehearse", path, "--", "--target", "urn:x");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`--target urn:x: ${path} is a change`)]);
  const other = await runIrm("rehearse", "--", "--parallel", "1");
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('"--parallel" is not passed on to the engine'),
  ]);
});

test("--out replaces another change, and no other file", () => {
  checkChangeFile(path);
  checkChangeFile(folder.path("new.json"));
  const other = folder.path("package.json");
  writeFileSync(other, "{}");
  expect(() => checkChangeFile(other)).toThrow(`${other} exists already, and is not a change; give another name`);
  mkdirSync(folder.path("dir"));
  expect(() => checkChangeFile(folder.path("dir"))).toThrow("is not a change");
});
