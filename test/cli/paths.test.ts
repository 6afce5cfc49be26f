// `irm access paths` at a real server, in each format, and what is wrong with a question.
import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { IAM } from "../harness/api-server.ts";
import { listEverything } from "../harness/copy.ts";
import { startPartners } from "../harness/partners.ts";
import { createUid } from "../harness/records.ts";
import { signInForEach } from "../harness/signed-in.ts";
import { failure, runIrm } from "../support/irm.ts";

const { api, helper, registry } = await startPartners();
signInForEach(api);
beforeEach(() => void vi.stubEnv("COLUMNS", "100"));

const paths = (...flags: string[]) => runIrm("access", "paths", ...flags);
const UID = /[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g;

/** The same with uids by the order in which they come, and without the address. */
const withoutUids = (text: string): string => {
  const known: string[] = [];
  return text
    .replaceAll(UID, (uid) => `<${(known.includes(uid) ? known : [...known, known.push(uid) && uid]).indexOf(uid)}>`)
    .replaceAll(encodeURIComponent(api.baseUrl), "https%3A%2F%2Firm.example.com");
};

test("prints what docs/access.md#paths shows", async () => {
  const page = readFileSync(new URL("../../docs/access.md", import.meta.url), "utf8");
  const [, shown = ""] = /```\n(Paths to more access in acme.*?)```/s.exec(page) ?? [];
  const { stdout, ...others } = await paths();
  expect(others).toEqual({ code: 0, stderr: "" });
  expect(withoutUids(stdout)).toBe(withoutUids(shown));
});

test("prints JSON: who starts, what is gained, and each request; a workload starts with its exchange", async () => {
  const question = ["--from", "helper", "--to", "tag.create", "--at", "registry of acme"];
  const { code, stdout } = await paths(...question, "--format", "json");
  const { paths: found, ...others } = JSON.parse(stdout);
  expect({ code, ...others }).toEqual({ code: 0, notVisible: [], notSearched: [] });
  const gains = [{ capability: "tag.create", group: registry }];
  const steps = [{ as: helper }, { as: "workload" }];
  expect(found).toMatchObject([{ from: { identity: helper }, gains, assumes: "strict", steps }]);
  const keys = (one: object) => Object.keys(one);
  expect([keys(found[0]), keys(found[0].steps[0])]).toEqual([
    ["from", "gains", "assumes", "steps"],
    ["as", "method", "path", "body", "why"],
  ]);
  for (const workload of [
    "{ github: { repository: partner/helper, branch: main } }",
    '{ "issuer": "https://token.actions.githubusercontent.com", "subject": "repo:partner/helper:ref:refs/heads/main" }',
  ]) {
    const { stdout } = await paths("--from", workload, "--to", "tag.create", "--format", "json");
    expect(JSON.parse(stdout).paths).toMatchObject([
      {
        from: { workload: { subject: "repo:partner/helper:ref:refs/heads/main" } },
        steps: [{ as: "workload" }, { as: helper }, { as: "workload" }],
      },
    ]);
  }
});

test.each([
  ["markdown", "## Paths to more access in `acme` and `partner`\n"],
  ["html", '<svg class="path strict"'],
])("prints them as %s", async (format, text) => expect((await paths("--format", format)).stdout).toContain(text));

test("--prove carries each path out on a copy, and changes nothing of the original", async () => {
  const before = await listEverything(api);
  const { code, stdout, stderr } = await paths("--prove", "--format", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const found = JSON.parse(stdout).paths as { assumes: string; gains: object[]; proof: object }[];
  expect(found.map(({ assumes }) => assumes).toSorted()).toEqual(["cautious", "strict"]);
  for (const { gains, proof } of found) expect(proof).toEqual({ carriedOut: true, holds: gains });
  expect(await listEverything(api)).toEqual(before);
  expect((await paths("--prove", "--to", "tag.create")).stdout).toContain(
    "carried out on a copy: mirror then holds it\n",
  );
  const invite = await createUid(api, "groupInvites", registry, {
    roleUid: await api.role("editor"),
    ttl: "300000000s",
  });
  const reader = await api.actor("reader", { role: "viewer", at: registry });
  const person = await paths("--prove", "--from", reader.uid, "--to", "repo.create");
  expect(person.stdout).toContain(
    "not carried out on a copy, which needs more than requests: a person who has the code",
  );
  for (const path of [`groupInvites/${invite}`, `identities/${reader.uid}`]) await api.ok("DELETE", `${IAM}/${path}`);
});

test("says what the caller cannot see, and that nothing was found", async () => {
  const seer = await api.actor("seer", { role: "registry.pull", at: registry });
  vi.stubEnv("IRM_TOKEN", seer.token);
  const { code, stdout } = await paths();
  expect(code).toBe(0);
  expect(stdout).toMatch(/Not visible to you, so paths may be missing here\n- .*No path leads to more access\.\n$/s);
});

test.each([
  [["--from", "helpr"], 'there is no identity "helpr"; did you mean helper?'],
  [["--at", "registri of acme"], 'there is no group "registri of acme"'],
])("a question with a wrong name, %j, is one clear error", async (flags, message) => {
  expect(await paths(...flags)).toEqual(failure(1, `irm access paths: ${message}`));
});
