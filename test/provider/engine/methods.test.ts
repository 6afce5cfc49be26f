import { describe, expect, it } from "vitest";
import { methodsWith } from "../../../provider/engine/methods.ts";
import { MATCH, PREVIEW } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock, START_MS } from "../../harness/clock.ts";
import {
  GROUP,
  getter,
  json,
  keyOf,
  ORG,
  refusal,
  scriptedTransport,
  UNKNOWN,
  usedJournal,
} from "../../support/scripted.ts";

const CONFIG = { config: { get: getter({ "irm:baseUrl": "https://api.example.com" }) } };

/** The group of that uid; of a create, a new one. */
const groupAsked = ({ method, url }: { method: string; url: URL }) => {
  const uid = method === "POST" ? GROUP : /\/groups\/(.+)$/.exec(url.pathname)?.[1];
  return json({ uid: uid ?? GROUP, name: "eng", createTime: new Date(START_MS).toISOString() });
};

const setUp = (
  env = { IRM_TOKEN: "token" } as Record<string, string>,
  ...steps: Parameters<typeof scriptedTransport>
) => {
  const { transport, requests } = scriptedTransport(...(steps.length > 0 ? steps : [groupAsked]));
  const messages: string[] = [];
  const own = { IRM_BASE_URL: "https://api.example.com", IRM_JOURNAL: usedJournal("https://api.example.com"), ...env };
  const environment = { env: own, clock: manualClock(), transport, log: (text: string) => messages.push(text) };
  return { methods: methodsWith(environment), requests, messages };
};

/** The methods of a process that has its configuration and a token. */
const configured = async (...steps: Parameters<typeof scriptedTransport>) => {
  const own = setUp(undefined, ...steps);
  await own.methods.group.configure(CONFIG);
  return own;
};

const isSettled = async (run: Promise<unknown>): Promise<boolean> => {
  const pending = new Promise((resolve) => setImmediate(resolve, "pending"));
  return (await Promise.race([run.catch(() => undefined), pending])) !== "pending";
};

const OTHER = `${ORG}/2222222222222222`;

describe("the methods of a kind", () => {
  it("wait for the configuration, which may arrive after the first calls", async () => {
    const { methods, requests } = setUp();
    const { group } = methods;
    const runs = [
      group.check({}, { ...keyOf("eng"), parent: ORG, name: "eng" }),
      group.diff(OTHER, { name: "eng" }, { ...keyOf("other"), parent: ORG, name: "eng" }),
      group.create({ ...keyOf("eng"), parent: ORG, name: "eng" }),
      group.read(OTHER, {}).catch(() => undefined),
      group.update(OTHER, { name: "old" }, { ...keyOf("other"), parent: ORG, name: "eng" }),
      group.delete(OTHER, {}),
    ];
    expect(await Promise.all(runs.map(isSettled))).toEqual(runs.map(() => false));
    expect(requests).toEqual([]);
    await group.configure(CONFIG);
    await Promise.all(runs);
    // Three more requests read the time, the existing records, and the organization.
    const isAsking = (path: string) =>
      path.startsWith("/ping/") || path.endsWith("/groups") || path.endsWith(`/groups/${ORG}`);
    const others = requests.filter(({ method, url }) => method !== "GET" || !isAsking(url.pathname));
    expect(others).toHaveLength(4);
  });

  it("of all kinds share one configuration", async () => {
    const { methods } = setUp();
    const run = methods.roleBinding.delete(GROUP, {});
    await methods.identity.configure(CONFIG);
    await run;
  });

  it("warn of the patterns of an identity that irm check refuses in a policy, and of no others", async () => {
    const { methods, messages } = await configured();
    const issuer = "https://token.actions.githubusercontent.com";
    const check = (name: string, relationship: object) =>
      methods.identity.check({}, { ...keyOf(name), parent: ORG, name, ...relationship }, () => false);
    await check("open", { claimMatch: { issuer, subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" } });
    await check("closed", { claimMatch: { issuer, subjectPattern: "repo:acme/.*" } });
    await check("unknown", { claimMatch: UNKNOWN });
    await check("aws", { awsIdentity: { awsAccount: "123456789012", arnPattern: ".*", userIdPattern: "A.*" } });
    await check("wrong", { claimMatch: { issuer, subjectPattern: ".*(" } });
    const secret = {
      ...keyOf("secret"),
      parent: ORG,
      name: "secret",
      claimMatch: { issuer, subjectPattern: "repo:.*" },
    };
    await methods.identity.check({}, secret, (names) => names.includes("claimMatch"));
    expect(messages.filter((text) => text.startsWith("warning"))).toEqual([
      `warning: Identity open: claimMatch.subjectPattern matches the workloads of every customer of ${issuer}; name the organization`,
      "warning: Identity aws: awsIdentity.arnPattern matches everything; name the role or user, as the preset aws does",
      "warning: Identity secret: claimMatch, which is secret, lets in everyone",
    ]);
  });

  it("refuse claims that match no token, unless the identity exists with them", async () => {
    const { methods, messages } = await configured();
    const claimMatch = {
      issuer: "https://token.actions.githubusercontent.com/",
      subject: "repo:acme/*:ref:refs/heads/main",
    };
    const news = { ...keyOf("ci"), parent: ORG, name: "ci", claimMatch };
    const check = async (olds: Json, more: Json = {}, isSecret?: boolean) =>
      (await methods.identity.check(olds, { ...news, ...more }, isSecret === undefined ? undefined : () => isSecret))
        .failures;
    expect(await check({}, {}, false)).toEqual([
      {
        property: "claimMatch.issuer",
        reason:
          "ends with a slash, which this issuer does not have, so it matches no token; write https://token.actions.githubusercontent.com",
      },
      {
        property: "claimMatch.subject",
        reason:
          'is compared byte for byte, so * stands for itself and it matches no token; write subjectPattern: "repo:acme/[^/:]*:ref:refs/heads/main"',
      },
    ]);
    for (const isSecret of [true, undefined])
      expect((await check({}, {}, isSecret)).map(({ reason }) => reason)).toEqual([
        "ends with a slash, which this issuer does not have, so it matches no token; leave it out",
        "is compared byte for byte, so * stands for itself and it matches no token; use subjectPattern instead",
      ]);
    expect(messages.filter((text) => text.startsWith("warning"))).toEqual([]);
    expect([await check(news, { description: "x" }, false), await check({}, { adopt: GROUP }, false)]).toEqual([
      [],
      [],
    ]);
    expect(messages.filter((text) => text.startsWith("warning: Identity ci: claimMatch."))).toHaveLength(4);
  });

  it("warn of a GitHub subject without ids beside one of the same owner that has them, once", async () => {
    const { methods, messages } = await configured();
    const issuer = "https://token.actions.githubusercontent.com";
    const check = (name: string, subject: string) =>
      methods.identity.check({}, { ...keyOf(name), parent: ORG, name, claimMatch: { issuer, subject } }, () => false);
    await check("old", "repo:acme/images:pull_request");
    await check("elsewhere", "repo:umbrella/images:pull_request");
    await check("new", "repo:acme@1/images@2:pull_request");
    await check("newer", "repo:acme@1/charts@3:pull_request");
    await check("old", "repo:acme/images:pull_request");
    expect(messages.filter((text) => text.startsWith("warning"))).toEqual([
      expect.stringMatching(
        /^warning: Identity old has a GitHub subject without numeric ids, and Identity new, of the same owner, has one with them: /,
      ),
    ]);
  });

  it.each([
    ["a changed resource", "old"],
    ["a resource as it is, which the user asks to replace, so that the engine compares nothing", "eng"],
  ])("do not report the record of %s as a duplicate of its own replacement", async (_, before) => {
    const listed = { uid: GROUP, name: "eng", createTime: new Date(START_MS).toISOString() };
    const { methods, messages } = await configured((request) =>
      request.url.pathname.endsWith("/groups") ? json({ groups: [listed], totalCount: 1 }) : groupAsked(request),
    );
    const news = { ...keyOf("eng"), parent: ORG, name: "eng", [PREVIEW]: true };
    // The engine checks a replacement again, without the inputs of the resource that it replaces.
    const { inputs } = await methods.group.check({ ...keyOf("eng"), parent: ORG, name: before }, news);
    if (before !== "eng") await methods.group.diff(GROUP, { name: before }, inputs);
    await methods.group.check({}, news);
    expect(messages).toEqual([]);
    // Another resource that is new and alike is reported.
    await methods.group.check({}, { ...news, ...keyOf("other") });
    expect(messages).toEqual([expect.stringMatching(/^warning: Group other is new, and a group .* already exists:/)]);
  });

  it("adopt the match of a component only for a resource that is new to the stack", async () => {
    const { methods, messages } = await configured();
    const news = { ...keyOf("eng"), parent: ORG, name: "eng", [MATCH]: GROUP };
    expect(await methods.group.check({}, news)).toMatchObject({ inputs: { adopt: GROUP }, failures: [] });
    expect(messages).toEqual([`Group eng takes over group ${GROUP} "eng"`]);
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

  it("need no credentials and no network for a preview", async () => {
    const { methods, requests } = setUp({});
    await methods.group.configure(CONFIG);
    await methods.group.check({}, { parent: UNKNOWN, name: "eng" });
    await methods.group.diff(GROUP, { name: "eng" }, { parent: ORG, name: "new" });
    expect(requests).toEqual([]);
    await expect(methods.group.create({ ...keyOf("eng"), parent: ORG, name: "eng" })).rejects.toThrow(
      "no credentials in the environment",
    );
  });

  it("report a wrong configuration in the preview; configure itself never fails", async () => {
    const { methods } = setUp({});
    await methods.group.configure({ config: { get: getter({ "irm:baseUrl": "http://example.com" }) } });
    await expect(methods.group.check({}, {})).rejects.toThrow("stack configuration irm:baseUrl: must be an https URL");
  });

  it("refuse another address of the configuration in the preview, and still read and delete at the environment's", async () => {
    const { methods, requests } = setUp();
    const stack = { "irm:baseUrl": "https://evil.example", "irm:authUrl": "https://evil.example" };
    await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
    const refused = await methods.group.check({}, { ...keyOf("eng"), parent: ORG, name: "eng" }).catch(String);
    expect(refused).toContain(
      "stack configuration irm:baseUrl: https://evil.example differs from https://api.example.com (environment IRM_BASE_URL)",
    );
    expect(refused).toContain(
      "stack configuration irm:authUrl: https://evil.example differs from https://api.example.com",
    );
    expect(requests).toEqual([]);
    expect(await methods.group.read(GROUP, {})).toMatchObject({ props: { name: "eng" } });
    await methods.group.delete(OTHER, {});
    expect(new Set(requests.map(({ url }) => url.host))).toEqual(new Set(["api.example.com"]));
  });

  it("report a misspelt key in the preview, but still read and delete records of the state", async () => {
    const { methods } = setUp();
    const stack = { "irm:baseUrl": "https://api.example.com", "irm:authURL": "https://auth.example.com" };
    await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
    const inputs = { ...keyOf("eng"), parent: ORG, name: "eng" };
    await expect(methods.group.check({}, inputs)).rejects.toThrow(
      "  - stack configuration irm:authURL: there is no such setting; did you mean irm:authUrl?",
    );
    expect(await methods.group.read(GROUP, {})).toMatchObject({ props: { name: "eng" } });
    await methods.group.delete(OTHER, {});
  });

  it("report an ignored key once", async () => {
    const { methods, messages } = setUp();
    const stack = { "irm:baseUrl": "https://api.example.com", "irm:colour": "blue" };
    await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
    for (const kind of [methods.group, methods.role]) await kind.check({}, { parent: ORG, name: "eng" });
    expect(messages).toEqual([expect.stringMatching(/^stack configuration irm:colour is ignored: /)]);
  });

  it("warn of problems that a preview cannot refuse yet", async () => {
    const { methods, messages } = await configured();
    await methods.group.diff(GROUP, { name: "eng" }, { parent: UNKNOWN, name: "eng" });
    expect(messages).toEqual([expect.stringContaining(`group ${GROUP}: parent is not known yet`)]);
  });

  it("throw messages for people, without a stack", async () => {
    const { methods } = setUp({ IRM_TOKEN: "token" }, refusal("PERMISSION_DENIED", "no"));
    await methods.group.configure(CONFIG);
    const error = await methods.group.read(GROUP, {}).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ stack: "" });
    expect((error as Error).message).toContain(`GetGroup group ${GROUP}: PERMISSION_DENIED: Permission denied: no\n`);
  });

  it("throw a shared error once, and then name the resource that has the message", async () => {
    const { methods } = setUp({});
    await methods.group.configure(CONFIG);
    const inputs = { parent: ORG, name: "eng" };
    const create = (name: string) => methods.group.create({ ...inputs, ...keyOf(name) });
    await expect(create("first")).rejects.toThrow("no credentials in the environment: set IRM_TOKEN");
    const rest = [create("second"), methods.group.read(GROUP, keyOf("third"))];
    for (const run of rest) await expect(run).rejects.toThrow(/^failed for the same reason as Test::first$/);
  });

  it("report a change of outputs that another version wrote, and the update sends nothing", async () => {
    const { methods, requests } = await configured();
    const { group } = methods;
    const inputs = { ...keyOf("eng"), parent: ORG, name: "eng", __provider: "text" };
    const outputs = { uid: GROUP, name: "eng", description: "d", updateTime: "2026-01-28T12:00:00Z" };
    const news = { ...inputs, description: "d" };
    expect(await group.diff(GROUP, { ...outputs, __provider: "text" }, news)).toEqual({ changes: false, replaces: [] });
    expect(await group.diff(GROUP, outputs, news)).toEqual({ changes: true, replaces: [] });
    const { outs } = await group.update(GROUP, outputs, news);
    expect(outs).toMatchObject(outputs);
    // The organization is read once, and nothing is sent.
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  });
});
