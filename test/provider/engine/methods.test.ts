import { afterEach, expect, it, vi } from "vitest";
import { silencing } from "../../../provider/engine/report.ts";
import { title } from "../../../provider/record/kind.ts";
import { MATCH, PREVIEW } from "../../../provider/record/state.ts";
import { systemEnvironment } from "../../../provider/run/session.ts";
import { type Json, printableLines } from "../../../schema/index.ts";
import { START_MS } from "../../harness/clock.ts";
import {
  BASE_URL,
  configuredMethods,
  GROUP,
  getter,
  groupAsked,
  IDENTITY,
  json,
  keyOf,
  ORG,
  refusal,
  SCRIPTED_CONFIG,
  scriptedMethods,
  UNKNOWN,
} from "../../support/scripted.ts";

const TOKEN = { IRM_TOKEN: "token" };
const ENG = { ...keyOf("eng"), parent: ORG, name: "eng" };

const isSettled = async (run: Promise<unknown>): Promise<boolean> => {
  const pending = new Promise((resolve) => setImmediate(resolve, "pending"));
  return (await Promise.race([run.catch(() => undefined), pending])) !== "pending";
};

const OTHER = `${ORG}/2222222222222222`;

it("methods wait for the configuration, which may arrive after the first calls", async () => {
  const { methods, requests } = scriptedMethods(TOKEN, groupAsked);
  const { group } = methods;
  const runs = [
    group.check({}, ENG),
    group.diff(OTHER, { name: "eng" }, { ...keyOf("other"), parent: ORG, name: "eng" }),
    group.create(ENG),
    group.read(OTHER, {}).catch(() => undefined),
    group.update(OTHER, { name: "old" }, { ...keyOf("other"), parent: ORG, name: "eng" }),
    group.delete(OTHER, {}),
  ];
  expect(await Promise.all(runs.map(isSettled))).toEqual(runs.map(() => false));
  expect(requests).toEqual([]);
  await group.configure(SCRIPTED_CONFIG);
  await Promise.all(runs);
  // Three more requests read the time, the existing records, and the organization.
  const isAsking = (path: string) =>
    path.startsWith("/ping/") || path.endsWith("/groups") || path.endsWith(`/groups/${ORG}`);
  expect(requests.filter(({ method, url }) => method !== "GET" || !isAsking(url.pathname))).toHaveLength(4);
});

it.each([
  ["a changed resource", "old"],
  ["a resource as it is, which the user asks to replace, so that the engine compares nothing", "eng"],
])("methods do not report the record of %s as a duplicate of its own replacement", async (_, before) => {
  const listed = { uid: GROUP, name: "eng", createTime: new Date(START_MS).toISOString() };
  const { methods, messages } = await configuredMethods((request) =>
    request.url.pathname.endsWith("/groups") ? json({ groups: [listed], totalCount: 1 }) : groupAsked(request),
  );
  const news = { ...ENG, [PREVIEW]: true };
  // The engine checks a replacement again, without the inputs of the resource that it replaces.
  const { inputs } = await methods.group.check({ ...keyOf("eng"), parent: ORG, name: before }, news);
  if (before !== "eng") await methods.group.diff(GROUP, { name: before }, inputs);
  await methods.group.check({}, news);
  expect(messages).toEqual([]);
  // Another resource that is new and alike is reported.
  await methods.group.check({}, { ...news, ...keyOf("other") });
  expect(messages).toEqual([expect.stringMatching(/^warning: Group other is new, and a group .* already exists:/)]);
});

it("methods adopt the match of a component only for a resource that is new to the stack", async () => {
  const { methods, messages } = await configuredMethods();
  const news = { ...ENG, [MATCH]: GROUP };
  expect(await methods.group.check({}, news)).toMatchObject({ inputs: { adopt: GROUP }, failures: [] });
  expect(messages).toEqual([`Group eng adopts group ${GROUP} "eng"`]);
  // Nothing matches: the resource creates its record.
  const none = await methods.group.check({}, { ...news, ...keyOf("other"), [MATCH]: undefined });
  expect(none.inputs).not.toHaveProperty("adopt");
  const { inputs } = await methods.group.check({ ...news, [MATCH]: undefined }, news);
  expect(inputs).not.toHaveProperty("adopt");
  expect(inputs).not.toHaveProperty(MATCH);
  // The match of a replacement is the record that it replaces.
  await methods.group.diff(GROUP, { name: "eng" }, inputs);
  expect((await methods.group.check({}, news)).inputs).not.toHaveProperty("adopt");
  expect(messages).toHaveLength(1);
});

it("methods need no credentials and no network for a preview", async () => {
  const { methods, requests } = scriptedMethods({}, groupAsked);
  await methods.group.configure(SCRIPTED_CONFIG);
  await methods.group.check({}, { parent: UNKNOWN, name: "eng" });
  await methods.group.diff(GROUP, { name: "eng" }, { parent: ORG, name: "new" });
  expect(requests).toEqual([]);
  await expect(methods.group.create(ENG)).rejects.toThrow("no credentials in the environment");
});

it("methods report a wrong configuration in the preview; configure itself never fails", async () => {
  const { methods } = scriptedMethods({}, groupAsked);
  await methods.group.configure({ config: { get: getter({ "irm:baseUrl": "http://example.com" }) } });
  await expect(methods.group.check({}, {})).rejects.toThrow("stack configuration irm:baseUrl: must be an https URL");
});

it("methods refuse another address, or a misspelt key, in the preview, and still read and delete", async () => {
  const { methods, requests } = scriptedMethods(TOKEN, groupAsked);
  const stack = { "irm:baseUrl": "https://evil.example", "irm:authURL": "https://auth.example.com" };
  await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
  const refused = await methods.group.check({}, ENG).catch(String);
  expect(refused).toContain(
    `stack configuration irm:baseUrl: https://evil.example differs from ${BASE_URL} (environment IRM_BASE_URL)`,
  );
  expect(refused).toContain("  - stack configuration irm:authURL: there is no such setting; did you mean irm:authUrl?");
  expect(requests).toEqual([]);
  expect(await methods.group.read(GROUP, {})).toMatchObject({ props: { name: "eng" } });
  await methods.group.delete(OTHER, {});
  expect(new Set(requests.map(({ url }) => url.host))).toEqual(new Set([new URL(BASE_URL).host]));
});

it("methods report an ignored key once", async () => {
  const { methods, messages } = scriptedMethods(TOKEN, groupAsked);
  const stack = { "irm:baseUrl": BASE_URL, "irm:colour": "blue" };
  await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
  for (const kind of [methods.group, methods.role]) await kind.check({}, { parent: ORG, name: "eng" });
  expect(messages).toEqual([expect.stringMatching(/^stack configuration irm:colour is ignored: /)]);
});

it("methods throw messages for people, without a stack", async () => {
  const { methods } = scriptedMethods(TOKEN, refusal("PERMISSION_DENIED", "no"));
  await methods.group.configure(SCRIPTED_CONFIG);
  const error = await methods.group.read(GROUP, {}).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ stack: "" });
  expect(String(error)).toContain(`GetGroup group ${GROUP}: PERMISSION_DENIED: Permission denied: no\n`);
});

it("methods throw a shared error once, and then name the resource that has the message", async () => {
  const { methods } = scriptedMethods({}, groupAsked);
  await methods.group.configure(SCRIPTED_CONFIG);
  const create = (name: string) => methods.group.create({ ...ENG, ...keyOf(name) });
  await expect(create("first")).rejects.toThrow("no credentials in the environment: set IRM_TOKEN");
  const rest = [create("second"), methods.group.read(GROUP, keyOf("third"))];
  for (const run of rest) await expect(run).rejects.toThrow(/^failed for the same reason as Test::first$/);
});

it("methods report a change of outputs that another version wrote, and the update sends nothing", async () => {
  const { methods, requests } = await configuredMethods();
  const { group } = methods;
  const own = { ...ENG, __provider: "text" };
  const outputs = { uid: GROUP, name: "eng", description: "d", updateTime: "2026-01-28T12:00:00Z" };
  const news = { ...own, description: "d" };
  expect(await group.diff(GROUP, { ...outputs, __provider: "text" }, news)).toEqual({ changes: false, replaces: [] });
  expect(await group.diff(GROUP, outputs, news)).toEqual({ changes: true, replaces: [] });
  const { outs } = await group.update(GROUP, outputs, news);
  expect(outs).toMatchObject(outputs);
  // The organization is read once, and nothing is sent.
  expect(requests.map(({ method }) => method)).toEqual(["GET"]);
});

afterEach(() => vi.restoreAllMocks());

// Text of the service, and errors, on their way to the person who runs Pulumi.
it("a message escapes the control characters of a name, and keeps its own line breaks", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  systemEnvironment().log(`deletes:\n  - group ${GROUP} ${title({ name: "a\u001b[2J\u009b\nforged" })}`);
  expect(log.mock.calls).toEqual([[`deletes:\n  - group ${GROUP} "a\\u001b[2J\\u009b\\u000aforged"`]]);
  expect(title({ identity: { name: "i\u202e" }, role: { name: "r" } })).toBe("(i\\u202e as r)");
});

it("so does an error that quotes a name", async () => {
  const { methods } = await configuredMethods(refusal("PERMISSION_DENIED", "no\u001b[2J"));
  const inputs = { ...keyOf("eng"), parent: ORG, name: "a\u009b2J\u202e" };
  const failed = (await methods.group.create(inputs).catch((error: unknown) => error)) as Error;
  expect(failed).toBeInstanceOf(Error);
  expect(failed.message).toContain('"a\\u009b2J\\u202e"');
  expect(failed.message).toContain("no\\u001b[2J");
  expect(printableLines(failed.message)).toBe(failed.message);
});

it("an error that the engine reports is not printed twice, and every other text is printed", () => {
  const printed: unknown[][] = [];
  const console = { error: (...texts: unknown[]) => void printed.push(texts) };
  const silence = silencing(console);
  const error = Object.assign(new Error("no address of the API"), { stack: "" });
  silence(error);
  // As @pulumi/pulumi/cmd/dynamic-provider/index.ts prints it.
  console.error(`${error}: ${error.stack}`);
  expect(printed).toEqual([]);
  const others = ["one", "two"].map(() => Object.assign(new Error("for the same reason"), { stack: "" }));
  for (const other of others) silence(other);
  for (const other of [...others, error]) console.error(`${other}: ${other.stack}`);
  expect(printed.splice(0)).toEqual([[`${error}: `]]);
  const defect = new TypeError("x is not a function");
  console.error(`${defect}: ${defect.stack}`);
  console.error("two", "texts");
  expect(printed).toEqual([[`${defect}: ${defect.stack}`], ["two", "texts"]]);
});

const ISSUER = "https://token.actions.githubusercontent.com";

/** Checks of new resources; `warnings` are the lines of the log that warn. */
const startChecks = async () => {
  const { methods, messages } = await configuredMethods();
  const checkWith = (isSecret: (names: readonly string[]) => boolean) => async (name: string, relationship: object) =>
    methods.identity.check({}, { ...keyOf(name), parent: ORG, name, ...relationship }, isSecret);
  return { methods, checkWith, warnings: () => messages.filter((text) => text.startsWith("warning")) };
};

// What the check of an identity or a role binding says beyond its arguments.
it("the check of an identity warns of the patterns that irm check refuses in a policy, and of no others", async () => {
  const { checkWith, warnings } = await startChecks();
  const check = checkWith(() => false);
  await check("open", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" } });
  await check("closed", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:acme/.*" } });
  await check("unknown", { claimMatch: UNKNOWN });
  await check("aws", { awsIdentity: { awsAccount: "123456789012", arnPattern: ".*", userIdPattern: "A.*" } });
  await check("wrong", { claimMatch: { issuer: ISSUER, subjectPattern: ".*(" } });
  const secret = checkWith((names) => names.includes("claimMatch"));
  await secret("secret", { claimMatch: { issuer: ISSUER, subjectPattern: "repo:.*" } });
  expect(warnings()).toEqual([
    `warning: Identity open: claimMatch.subjectPattern matches the workloads of every customer of ${ISSUER}; name the organization`,
    "warning: Identity aws: awsIdentity.arnPattern matches everything; name the role or user, as the preset aws does",
    "warning: Identity secret: claimMatch, which is secret, lets in everyone",
  ]);
});

it("the check of an identity refuses claims that match no token, unless the identity exists with them", async () => {
  const { methods, warnings } = await startChecks();
  const claimMatch = { issuer: `${ISSUER}/`, subject: "repo:acme/*:ref:refs/heads/main" };
  const news = { ...keyOf("ci"), parent: ORG, name: "ci", claimMatch };
  const check = async (olds: Json, more: Json = {}, isSecret?: boolean) => {
    const shows = isSecret === undefined ? undefined : () => isSecret;
    return (await methods.identity.check(olds, { ...news, ...more }, shows)).failures;
  };
  const slash = "ends with a slash, which this issuer does not have, so it matches no token";
  const star = "is compared byte for byte, so * stands for itself and it matches no token";
  expect(await check({}, {}, false)).toEqual([
    { property: "claimMatch.issuer", reason: `${slash}; write ${ISSUER}` },
    {
      property: "claimMatch.subject",
      reason: `${star}; write subjectPattern: "repo:acme/[^/:]*:ref:refs/heads/main"`,
    },
  ]);
  for (const isSecret of [true, undefined])
    expect((await check({}, {}, isSecret)).map(({ reason }) => reason)).toEqual([
      `${slash}; leave it out`,
      `${star}; use subjectPattern instead`,
    ]);
  expect(warnings()).toEqual([]);
  expect(await check(news, { description: "x" }, false)).toEqual([]);
  expect(await check({}, { adopt: GROUP }, false)).toEqual([]);
  expect(warnings().filter((text) => text.startsWith("warning: Identity ci: claimMatch."))).toHaveLength(4);
});

it("the check of an identity warns once of a GitHub subject without ids beside one with them", async () => {
  const { checkWith, warnings } = await startChecks();
  const check = (name: string, subject: string) =>
    checkWith(() => false)(name, { claimMatch: { issuer: ISSUER, subject } });
  await check("old", "repo:acme/images:pull_request");
  await check("elsewhere", "repo:umbrella/images:pull_request");
  await check("new", "repo:acme@1/images@2:pull_request");
  await check("newer", "repo:acme@1/charts@3:pull_request");
  await check("old", "repo:acme/images:pull_request");
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^warning: Identity old has a GitHub subject without numeric ids, and Identity new, of the same owner, has one with them: /,
    ),
  ]);
});

const previews = async () => {
  const { methods, warnings } = await startChecks();
  const check = async (kind: "identity" | "roleBinding", name: string, args: Json, olds: Json = {}) => {
    const { failures } = await methods[kind].check(olds, { ...keyOf(name), ...args, [PREVIEW]: true });
    expect(failures).toEqual([]);
  };
  return { check, reported: () => warnings().filter((text) => /duplicates|has the same/.test(text)) };
};
const identity = (name: string, subject: string) => ({ parent: GROUP, name, claimMatch: { issuer: ISSUER, subject } });
const pair = (parent: string, role: string) => ({ parent, identity: IDENTITY, role });

it("two resources that declare the same are reported, without their values", async () => {
  const { check, reported } = await previews();
  await check("identity", "one", identity("one", "s"));
  await check("identity", "two", identity("two", "t"));
  await check("identity", "three", identity("three", "s"));
  await check("roleBinding", "a", pair(GROUP, "viewer"));
  await check("roleBinding", "b", pair(GROUP, "editor"));
  await check("roleBinding", "c", pair(ORG, "viewer"));
  await check("roleBinding", "d", pair(GROUP, "viewer"));
  expect(reported()).toEqual([
    expect.stringMatching(/^warning: Identity three has the same issuer and subject as Identity one: a token exchange/),
    expect.stringMatching(/^warning: RoleBinding d duplicates RoleBinding a: the same role to the same identity/),
  ]);
  expect(reported().join()).not.toContain(ISSUER);
});

it("two resources that declare the same are not reported where a part is not known, or one is checked again for its replacement", async () => {
  const { check, reported } = await previews();
  for (const name of ["a", "b"]) await check("roleBinding", name, { ...pair(GROUP, "viewer"), identity: UNKNOWN });
  const one = identity("one", "s");
  await check("identity", "one", one, { ...one, ...keyOf("one") });
  await check("identity", "one", one);
  expect(reported()).toEqual([]);
});
