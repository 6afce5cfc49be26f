// `irm serve --copy-of` as a command: what it asks of the original, prints, writes and refuses.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { COPY_HEAD, copyText } from "../../access/copy/copy.ts";
import { clientErrorText } from "../../cli/client.ts";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { CopyError, copyLines, copyOf } from "../../cli/copy.ts";
import type { Client } from "../../client/client.ts";
import { ListError } from "../../client/errors.ts";
import { systemTransport } from "../../client/transport.ts";
import { isObject } from "../../schema/index.ts";
import { parseSeed } from "../../server/index.ts";
import { clientOf } from "../access/client.ts";
import { startServerProcess } from "../harness/api-process.ts";
import { type CallOptions, IAM, queryText, serve, type TestServer } from "../harness/api-server.ts";
import { createByHand } from "../harness/by-hand.ts";
import { listEverything, serveCopy, startCopy } from "../harness/copy.ts";
import { createUid } from "../harness/records.ts";
import { startCommand } from "../support/command.ts";
import type { Body } from "../support/http.ts";
import { exactFailure, failure, runIrm, usageError } from "../support/irm.ts";
import { unusedPort } from "../support/listen.ts";
import { startProxy } from "../support/proxy.ts";
import { createRandom, type Random } from "../support/random.ts";
import { json, refusal } from "../support/scripted.ts";
import { testFolder } from "../support/test-folder.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = testFolder();
const callerOf = ({ baseUrl, token }: { baseUrl: string; token: string }) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async (method: string, path: string, { body, query = {} }: CallOptions = {}) => {
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(baseUrl + path + queryText(query), sent);
    const text = await answer.text();
    return { status: answer.status, text, json: JSON.parse(text) };
  };
  const ok = async (...request: Parameters<typeof call>) => (await call(...request)).json;
  return { call, ok, owner: { uid: "", token } } as unknown as TestServer;
};

const port = await unusedPort();
const proxy = await startProxy(() => `http://127.0.0.1:${port}`);
const original = await startServerProcess(["--port", `${port}`, "--public-url", proxy.url]);
await createByHand(callerOf(original), original.organization);
afterAll(async () => {
  await original.stop();
  await proxy.close();
});
beforeEach(() => {
  for (const name of ["IRM_BASE_URL", "IRM_IDENTITY", "IRM_IDENTITY_TOKEN", "IRM_TOKEN"]) vi.stubEnv(name, "");
  return () => vi.unstubAllEnvs();
});

test("--copy-of --copy-to sends GETs alone, starts with the copy, and writes it as a seed", async () => {
  vi.stubEnv("IRM_IDENTITY", original.identity);
  vi.stubEnv("IRM_IDENTITY_TOKEN", await mintDevToken(original.issuer, { subject: "owner" }));
  const everything = await listEverything(callerOf(original));
  const file = folder.path("copy.yaml");
  writeFileSync(file, `${COPY_HEAD}\nold: true\n`);
  proxy.seen.length = 0;
  const refused = proxy.only(({ method }) => method === "GET");
  const server = startCommand("serve", "--dev", "--json", "--copy-of", proxy.url, "--copy-to", file);
  const ready = JSON.parse(await server.firstLine);
  // The exchange is a GET too.
  expect(proxy.seen.some(({ path }) => path.startsWith("/sts/exchange"))).toBe(true);
  expect(proxy.seen.length).toBeLessThanOrEqual(20);
  expect(refused).toEqual([]);
  proxy.only(() => true);

  expect(ready.organization).toBe(original.organization);
  // Its owner has just exchanged a token there, before the copy was read.
  const lists = await listEverything(callerOf(ready));
  const seen = (all: typeof lists) => ({
    ...all,
    identities: all.identities?.map(({ lastSeenTime: _, ...one }) => one),
  });
  expect(seen(lists)).toEqual(seen(everything));
  const lines = server.stderr().split("\n");
  const messages = lines.filter((line) => line.includes('"event":"copy"')).map((line) => JSON.parse(line).message);
  expect(messages).toEqual([
    `copied ${Object.values(lists).flat().length} records of ${proxy.url}`,
    "not copied: the client secret, if there is one, of 2 identity providers",
    "not copied: the code of 2 group invites",
    "not copied: the readme of 2 repos",
    "not copied: advisories",
    `wrote ${file}`,
  ]);
  server.process.kill("SIGTERM");
  expect(await server.finished).toMatchObject({ code: 0 });

  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await startCopy(parseSeed(readFileSync(file, "utf8"), file));
  expect(await listEverything(again).finally(again.close)).toEqual(lists);
});

test("--copy-of --copy-to: ^C while it reads leaves no file, and nothing else", async () => {
  vi.stubEnv("IRM_TOKEN", original.token);
  const empty = folder.path("empty");
  mkdirSync(empty);
  const held = proxy.hold("GET", /\/roleBindings\?/, "before");
  const server = startCommand("serve", "--dev", "--copy-of", proxy.url, "--copy-to", `${empty}/copy.yaml`);
  await held.reached;
  server.process.kill("SIGINT");
  expect(await server.finished).toMatchObject({ code: null, stdout: "" });
  held.release();
  expect(readdirSync(empty)).toEqual([]);
});

const taken = folder.write("taken.yaml", "organization: { name: mine }\n");
const database = folder.write("taken.db", "");

test.each<[what: string, flags: string[], sentence: string]>([
  [
    "a database that exists",
    ["--copy-of", "https://irm.example", "--db", database],
    `--copy-of needs a new database, and ${database} exists: leave out --copy-of to serve what it holds, or name another file`,
  ],
  [
    "a file of something else",
    ["--copy-of", "https://irm.example", "--copy-to", taken],
    `--copy-to: ${taken} already exists and is not a copy; give another name`,
  ],
])("irm serve --copy-of refuses %s", async (_, flags, sentence) => {
  expect(await runIrm("serve", ...flags)).toEqual(usageError("irm serve", sentence));
  expect(readFileSync(taken, "utf8")).toBe("organization: { name: mine }\n");
});

test("irm serve --copy-of refuses to send the token of another service", async () => {
  vi.stubEnv("IRM_BASE_URL", "https://elsewhere.example");
  vi.stubEnv("IRM_TOKEN", "secret-of-elsewhere");
  proxy.seen.length = 0;
  expect(await runIrm("serve", "--copy-of", proxy.url)).toEqual(
    exactFailure(
      1,
      "irm serve: pulumi-irm is not configured:\n  - --copy-of: no credentials; IRM_TOKEN is for the service of IRM_BASE_URL, so set IRM_BASE_URL to the same address, with a token for it\nSee docs/troubleshooting.md#sign-in\n",
    ),
  );
  expect(proxy.seen).toEqual([]);
});

test("irm serve --copy-of refuses a service that refuses the token, with its reason, and starts nothing", async () => {
  vi.stubEnv("IRM_TOKEN", "refused-by-the-service");
  const file = folder.path("refused.yaml");
  const refused = await runIrm("serve", "--copy-of", proxy.url, "--copy-to", file);
  expect(refused).toEqual(failure(1, /^irm serve: .*UNAUTHENTICATED.*a valid bearer token is required/));
  expect(refused.stderr).not.toContain("refused-by");
  expect(existsSync(file)).toBe(false);
});

const api = await serve({ faults: {} });
const made = await createByHand(api, api.organization);
const stranger = await api.actor("stranger");
const everything = await listEverything(api);

const wire = systemTransport();

/** A client whose service answers something else: a page of a list by its plural, such as groups. */
const changed = (change: (plural: string, page: Body) => Body | Promise<Body>): Client =>
  clientOf(api, undefined, undefined, async (request) => {
    const answer = await wire(request);
    const plural = request.url.pathname.split("/").at(-1) ?? "";
    if (answer.status !== 200 || everything[plural] === undefined) return answer;
    return json(await change(plural, JSON.parse(answer.body)));
  });

const lieOf = (plural: string, change: (records: Body[]) => Body[]): Client =>
  changed((own, page) => (own === plural ? { ...page, [plural]: change(page[plural]) } : page));

const refusing = (plural: string, code: "PERMISSION_DENIED" | "UNIMPLEMENTED"): Client =>
  clientOf(api, undefined, undefined, async (request) =>
    request.url.pathname.endsWith(`/${plural}`) ? refusal(code, "not for you") : wire(request),
  );

test.each(["PERMISSION_DENIED", "UNIMPLEMENTED"] as const)(
  "a refused list (%s) is named, and the rest copied",
  async (code) => {
    const copy = await copyOf(refusing("groupInvites", code), api.baseUrl);
    expect(copyLines(copy)).toContainEqual(
      expect.stringMatching(`^not visible: the list of group invites cannot be read: ${code}: .*not for you$`),
    );
    const server = await serveCopy(copy);
    const { groupInvites: _, ...others } = everything;
    expect(await listEverything(server, undefined, "groupInvites")).toEqual(others);
    expect((await server.call("GET", `${IAM}/groupInvites`)).json.message).toBe(
      "Permission denied: this copy does not have the group invites: read the original with credentials that may list them",
    );
  },
);

test("without the list of roles, bindings stay, and their roles grant nothing; without the list of groups there is no copy", async () => {
  const copy = await copyOf(refusing("roles", "PERMISSION_DENIED"), api.baseUrl);
  const server = await serveCopy(copy);
  const { roles, ...expected } = everything;
  // An invite shows what its role grants, in the copy too.
  expect(await listEverything(server, undefined, "roles")).toEqual(expected);
  const known = roles?.find(({ name }) => name === "publisher")?.uid as string;
  const unknown = roles?.find(({ name }) => name === "editor")?.uid as string;
  const bind = (roleUid: string) =>
    server.call("POST", `${IAM}/roleBindings/${made.platform}`, { body: { identityUid: made.release, roleUid } });
  expect((await bind(known)).status).toBe(200);
  // What it grants is not known, so neither is who gains what.
  expect((await bind(unknown)).json.message).toContain(
    `role ${unknown} may exist, and this copy does not have all roles`,
  );
  // Somebody who founds an organization on the copy owns it all the same.
  const uid = await createUid(server, "groups", "", { name: "founded" });
  await createUid(server, "groups", uid, { name: "below" });
  await expect(copyOf(refusing("groups", "PERMISSION_DENIED"), api.baseUrl)).rejects.toThrow("not for you");
  await expect(copyOf(clientOf(api, stranger.token), api.baseUrl)).rejects.toThrow(
    `these credentials can list nothing at ${api.baseUrl} that could be copied`,
  );
});

test("an identity that goes away while its binding is listed is known by name, and the binding stays", async () => {
  const uid = await createUid(api, "identities", made.platform, { name: "short-lived" });
  const roleUid = await api.role("viewer");
  const binding = await createUid(api, "roleBindings", made.platform, { identityUid: uid, roleUid });
  const bindings = Promise.withResolvers<void>();
  const client = changed(async (plural, page) => {
    if (plural === "roleBindings") bindings.resolve();
    if (plural !== "identities") return page;
    await bindings.promise;
    await api.ok("DELETE", `${IAM}/identities/${uid}`);
    return { ...page, identities: page.identities.filter((one: Body) => one.uid !== uid) };
  });
  const copy = await copyOf(client, api.baseUrl);
  expect(copyLines(copy)).toContain(`named by others, and in no list: identity ${uid} "short-lived"`);
  const server = await serveCopy(copy);
  const { identity } = await server.ok("GET", `${IAM}/roleBindings/${binding}`);
  expect(identity).toMatchObject({ uid, name: "short-lived", issuer: "https://issuer.example", subject: "s" });
  // Whom it trusts is not known, so nobody can assume it, and it is not shown.
  expect((await server.call("GET", `${IAM}/identities/${uid}`)).status).toBe(403);
  expect((await listEverything(server)).identities?.some((one) => one.uid === uid)).toBe(false);
});

const leftOut = async (client: Client) => {
  const copy = await copyOf(client, api.baseUrl);
  await serveCopy(parseSeed(copyText(copy), "copy.yaml"));
  return copyLines(copy).filter((line) => line.startsWith("left out: "));
};
const [repo] = (everything.repos ?? []).filter(({ name }) => name === "Nginx_1");
const copyUid = `${repo?.uid.slice(0, -16)}${"e".repeat(16)}`;

test("a refused record is left out, and named: the second repo of a name, with its tags", async () => {
  const client = changed((_, page) => {
    if (page.repos) return { ...page, repos: [...page.repos, { ...repo, uid: copyUid }] };
    const tag = { ...page.tags?.[0], uid: `${copyUid}/${"f".repeat(16)}` };
    return page.tags ? { ...page, tags: [...page.tags, tag] } : page;
  });
  expect(await leftOut(client)).toEqual([
    expect.stringMatching(`^left out: repo ${copyUid} "Nginx_1": Already exists: `),
    expect.stringMatching(`^left out: tag ${copyUid}/f+ "[^"]+": Not found: `),
  ]);
});

test("a refused record is left out, and named: a mapping whose identity provider is not listed", async () => {
  const lines = await leftOut(lieOf("identityProviders", (all) => all.filter(({ name }) => name !== "sso")));
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^left out: external group role mapping \S+: Not found: /);
});

test("a refused record is left out, and named: a group without a name, with all that is in it", async () => {
  const lines = await leftOut(
    lieOf("groups", (all) => all.map((one) => (one.uid === made.platform ? { ...one, name: undefined } : one))),
  );
  expect(lines).toContain(`left out: group ${made.platform}: name: is required`);
  expect(lines).toContainEqual(expect.stringMatching(`^left out: identity ${made.release} "release": Not found: `));
});

test("a record with a uid that is none ends it with one message", async () => {
  const client = lieOf("identities", ([first, ...others]) => [{ ...first, uid: "../../etc/passwd" }, ...others]);
  await expect(copyOf(client, api.baseUrl)).rejects.toThrow(ListError);
});

test("records outside every listed group are kept, and their groups are named", async () => {
  const root = "d".repeat(40);
  const uid = `${root}/${"1".repeat(16)}/${"2".repeat(16)}`;
  const client = lieOf("identities", (all) => [...all, { ...all[0], uid }]);
  const copy = await copyOf(client, api.baseUrl);
  expect(copyLines(copy)).toContain(`named by others, and in no list: group ${root} "${root}"`);
  const server = await serveCopy(copy);
  expect((await server.ok("GET", `${IAM}/identities/${uid}`)).uid).toBe(uid);
});

test("fields that this version does not know are not copied, in case they are secret, and named", async () => {
  const odd = (one: Body) => ({
    ...one,
    password: "hush",
    ...(one.claimMatch && { claimMatch: { ...one.claimMatch, proof: "hush" } }),
  });
  const client = lieOf("identities", (all) => all.map(odd));
  const copy = await copyOf(client, api.baseUrl);
  expect(copyText(copy)).not.toContain("hush");
  const { identities = [] } = everything;
  const matched = identities.filter(({ claimMatch }) => claimMatch).length;
  expect(copy.copy.unknownFields).toEqual(
    expect.arrayContaining([
      `field password of identities, which this version does not know (${identities.length})`,
      `field claimMatch.proof of identities, which this version does not know (${matched})`,
    ]),
  );
});

test("what a service writes does not control the terminal", async () => {
  const name = "same\u001b[2J";
  const client = lieOf("repos", ([one]) =>
    ["1", "2"].map((digit) => ({ ...one, uid: one?.uid.replace(/.{16}$/, digit.repeat(16)), name })),
  );
  const copy = await copyOf(client, api.baseUrl);
  expect(copy.copy.leftOut.length).toBeGreaterThan(0);
  for (const line of copyLines(copy)) expect(line).not.toMatch(/\p{Cc}/u);
});

/** Takes away, doubles, empties or replaces something in a record, at any depth. */
const damage = (value: unknown, random: Random): unknown => {
  if (random.below(12) === 0)
    return random.pick<unknown>([undefined, "", "x", 7, true, [], {}, null, "a".repeat(70_000), "0".repeat(40)]);
  if (Array.isArray(value)) return value.map((one) => damage(one, random));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, one]) => [k, k === "uid" ? one : damage(one, random)]));
};

test("whatever is wrong with records, there is a copy or one message", async () => {
  let copies = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = createRandom(seed);
    const plural = random.pick(Object.keys(everything));
    const lying = lieOf(plural, (records) => records.map((one) => damage(one, random) as Body));
    try {
      const copy = await copyOf(lying, api.baseUrl);
      await (await serveCopy(parseSeed(copyText(copy), "copy.yaml"))).close();
      copies += 1;
    } catch (error) {
      expect(error instanceof CopyError || clientErrorText(error), String(error)).toBeTruthy();
    }
  }
  expect(copies).toBeGreaterThan(3);
});
