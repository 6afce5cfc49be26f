// `irm review CHANGE`: a change is carried out again on a fresh copy, without the program. Its file is believed in nothing.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { Change } from "../../access/change/change.ts";
import type { Write } from "../../access/change/write.ts";
import { Report } from "../../access/review/report.ts";
import { checkChangeFile, writeChange } from "../../cli/files.ts";
import { createRecord } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import { makeChange, writeChangeFile } from "../harness/change-file.ts";
import { createUid } from "../harness/records.ts";
import { signInForEach } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { failure, runIrm } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const { api, platform, registry, publisher } = await startTeam();
const seen = await api.actor("seen");
const folder = testFolder();
const path = folder.path("change.json");

signInForEach(api);

/** What an update sends that makes a group and an identity which publishes there, and lets an identity that exists do so too. */
const made = await makeChange(api, async (client) => {
  const { uid: team } = await createRecord(client, resources.group, platform, { name: "team" });
  const claimMatch = { issuer: "https://issuer.example", subject: "bot" };
  const { uid: bot } = await createRecord(client, resources.identity, String(team), { name: "bot", claimMatch });
  const requests = [bot, seen.uid].map((identityUid) => ({ roleBinding: { identityUid } }));
  await client.call("BatchCreateRoleBindings", { parent: team, roleUid: publisher, requests } as never);
});
writeChangeFile(path, made);

const fileOf = (change: Partial<Change>): string => writeChangeFile(folder.path("other.json"), { ...made, ...change });
const edited = (n: number, edit: (write: Write) => object): Write[] =>
  made.writes.map((write) => (write.n === n ? { ...write, ...edit(write) } : write));

const reviewed = async (file: string) => {
  const { code, stdout, stderr } = await runIrm("review", file, "--format", "json");
  expect(stdout, stderr).not.toBe("");
  return { code, report: Report.parse(JSON.parse(stdout)) };
};
const failed = ({ steps }: Report) => steps.filter(({ ok }) => !ok).map(({ urn, op, error }) => [urn, op, error]);

test("carries the writes out on a fresh copy, finds the access as it is recorded, and changes nothing", async () => {
  const { code, report } = await reviewed(path);
  expect({ code, failed: failed(report) }).toEqual({ code: 0, failed: [] });
  expect(report).toMatchObject({
    as: { uid: api.identity, name: "owner", rights: "operator" },
    ...{ writes: 4, digest: made.digest, differs: [], errors: [], others: [] },
    origin: { stack: "access/dev", service: api.baseUrl, time: made.created },
  });
  expect(report.steps.map(({ urn, op }) => [urn, op])).toEqual([
    ["1", "CreateGroup"],
    ["2", "CreateIdentity"],
    ["3", "CreateRoleBinding"],
    ["4", "CreateRoleBinding"],
  ]);
  const publishes = { capability: "tag.create", role: "publisher", groupName: "platform/team", group: null };
  expect(report.identities).toMatchObject([
    { name: "bot", uid: null, change: "created" },
    { name: "seen", uid: seen.uid, change: "none" },
  ]);
  for (const { gains } of report.identities) expect(gains).toContainEqual(publishes);
  const { groups } = await api.ok("GET", "/iam/v2beta1/groups", { query: { name: "team" } });
  expect(groups).toEqual([]);
});

test("finds what a change by hand has made of it", async () => {
  const binding = await createUid(api, "roleBindings", platform, { identityUid: seen.uid, roleUid: publisher });
  const { code, report } = await reviewed(path);
  expect(code).toBe(3);
  expect(new Set(report.differs.map(({ row, identity }) => row?.identity ?? identity))).toEqual(new Set([seen.uid]));
  await api.ok("DELETE", `/iam/v2beta1/roleBindings/${binding}`);
  expect((await reviewed(path)).code).toBe(0);
});

test("finds access that a hand has given an identity of the change, and another workload that may act as it", async () => {
  const binding = await createUid(api, "roleBindings", registry, {
    identityUid: seen.uid,
    roleUid: await api.role("editor"),
  });
  const { code, report } = await reviewed(path);
  const message = "after the change it is not as in the file";
  expect([code, report.differs]).toEqual([3, [{ identity: seen.uid, message }]]);
  await api.ok("DELETE", `/iam/v2beta1/roleBindings/${binding}`);
  const { uid: _, ...relationship } = await api.ok("GET", `/iam/v2beta1/identities/${seen.uid}`);
  const rename = (subject: string) =>
    api.ok("PATCH", `/iam/v2beta1/identities/${seen.uid}`, {
      query: { updateMask: "claimMatch" },
      body: { claimMatch: { ...(relationship.claimMatch as object), subject } },
    });
  await rename("another");
  expect((await reviewed(path)).report.differs).toEqual([{ identity: seen.uid, message }]);
  await rename((relationship.claimMatch as { subject: string }).subject);
  expect((await reviewed(path)).code).toBe(0);
});

test("names each write that fails, and what waits for it", async () => {
  const writes = edited(1, () => ({ parent: `${registry}/${"0".repeat(16)}` }));
  const { code, report } = await reviewed(fileOf({ writes }));
  expect(code).toBe(3);
  expect(failed(report)).toEqual([
    ["1", "CreateGroup", expect.stringContaining("Not found: ")],
    ["2", "CreateIdentity", "it needs what write 1 makes"],
    ["3", "CreateRoleBinding", "it needs what write 1 makes"],
    ["4", "CreateRoleBinding", "it needs what write 1 makes"],
  ]);
});

test("does not send what decides access and is secret", async () => {
  const claimMatch = { issuer: "https://issuer.example", subject: { $secret: true } };
  const { code, report } = await reviewed(
    fileOf({ writes: edited(2, ({ fields }) => ({ fields: { ...fields, claimMatch } })) }),
  );
  const message = "what it gives is not known: claimMatch.subject is secret";
  expect([code, failed(report)[0]]).toEqual([3, ["2", "CreateIdentity", message]]);
  const hidden = edited(1, ({ fields }) => ({ fields: { ...fields, description: { $secret: true } } }));
  expect(failed((await reviewed(fileOf({ writes: hidden }))).report)).toEqual([]);
});

test("needs no more than to read what the writes rest on: who acts may be hidden", async () => {
  const capabilities = ["CAP_IAM_GROUPS_LIST"];
  const role = await createUid(api, "roles", api.organization, { name: "mapper", capabilities });
  const { token } = await api.actor("mapper", { role });
  vi.stubEnv("IRM_TOKEN", token);
  const { code, report } = await reviewed(fileOf({ writes: made.writes.slice(0, 1), rows: [], after: [] }));
  expect(code).toBe(0);
  expect(report).toMatchObject({ as: { uid: api.identity, name: null }, identities: [] });
  expect(report.notVisible.map(({ kind, group }) => [kind, group])).toContainEqual(["identity", api.organization]);
  expect(report.notCopied).toContainEqual(expect.stringMatching(/^not visible: .*identities/));
});

test("takes no write that says another thing than it does", async () => {
  const again = { ...made.writes[1], n: 5, fields: { ...made.writes[1]?.fields, description: "" } } as Write;
  const { code, report } = await reviewed(fileOf({ writes: [...made.writes, again] }));
  const message = "on this copy it is another write than the file says";
  expect([code, failed(report)]).toEqual([3, [["5", "CreateIdentity", message]]]);
});

test.each<[what: string, file: () => string, problem: string]>([
  [
    "of another service",
    () => fileOf({ services: ["https://other.example"] }),
    "is a change for https://other.example, and this is http://127.0.0.1:",
  ],
  [
    "of an identity that is not there",
    () => fileOf({ as: `${platform}/${"0".repeat(16)}` }),
    "0000000000000000: there is no identity with this uid at http://127.0.0.1:",
  ],
  ["that is not there", () => folder.path("none.json"), "there is no file"],
  ["that never ends", () => "/dev/zero", "is not a regular file"],
])("refuses a file %s", async (_, file, problem) => {
  const refused = await runIrm("review", file());
  expect(refused).toEqual(failure(1, problem));
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
});

test("--out writes for this user alone, replaces another change, and no other file", () => {
  const { digest: _, ...content } = made;
  writeChange(folder.path("written.json"), content);
  expect(statSync(folder.path("written.json")).mode & 0o777).toBe(0o600);
  checkChangeFile(folder.path("written.json"));
  checkChangeFile(folder.path("new.json"));
  const other = folder.path("package.json");
  writeFileSync(other, "{}");
  expect(() => checkChangeFile(other)).toThrow(`${other} exists already, and is not a change; give another name`);
  mkdirSync(folder.path("dir"));
  expect(() => checkChangeFile(folder.path("dir"))).toThrow("is not a change");
});
