import { describe, expect, it } from "vitest";
import { MATCH, PREVIEW } from "../../../provider/record/state.ts";

import { START_MS } from "../../harness/clock.ts";
import {
  BASE_URL,
  configuredMethods,
  GROUP,
  getter,
  groupAsked,
  json,
  keyOf,
  ORG,
  refusal,
  SCRIPTED_CONFIG,
  scriptedMethods,
  UNKNOWN,
} from "../../support/scripted.ts";

const TOKEN = { IRM_TOKEN: "token" };
/** arguments of a new group */
const ENG = { ...keyOf("eng"), parent: ORG, name: "eng" };

const isSettled = async (run: Promise<unknown>): Promise<boolean> => {
  const pending = new Promise((resolve) => setImmediate(resolve, "pending"));
  return (await Promise.race([run.catch(() => undefined), pending])) !== "pending";
};

const OTHER = `${ORG}/2222222222222222`;

describe("the methods of a kind", () => {
  it("wait for the configuration, which may arrive after the first calls", async () => {
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
    const others = requests.filter(({ method, url }) => method !== "GET" || !isAsking(url.pathname));
    expect(others).toHaveLength(4);
  });

  it.each([
    ["a changed resource", "old"],
    ["a resource as it is, which the user asks to replace, so that the engine compares nothing", "eng"],
  ])("do not report the record of %s as a duplicate of its own replacement", async (_, before) => {
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

  it("adopt the match of a component only for a resource that is new to the stack", async () => {
    const { methods, messages } = await configuredMethods();
    const news = { ...ENG, [MATCH]: GROUP };
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
    const { methods, requests } = scriptedMethods({}, groupAsked);
    await methods.group.configure(SCRIPTED_CONFIG);
    await methods.group.check({}, { parent: UNKNOWN, name: "eng" });
    await methods.group.diff(GROUP, { name: "eng" }, { parent: ORG, name: "new" });
    expect(requests).toEqual([]);
    await expect(methods.group.create(ENG)).rejects.toThrow("no credentials in the environment");
  });

  it("report a wrong configuration in the preview; configure itself never fails", async () => {
    const { methods } = scriptedMethods({}, groupAsked);
    await methods.group.configure({ config: { get: getter({ "irm:baseUrl": "http://example.com" }) } });
    await expect(methods.group.check({}, {})).rejects.toThrow("stack configuration irm:baseUrl: must be an https URL");
  });

  it("refuse another address of the configuration, or a misspelt key, in the preview, and still read and delete", async () => {
    const { methods, requests } = scriptedMethods(TOKEN, groupAsked);
    const stack = { "irm:baseUrl": "https://evil.example", "irm:authURL": "https://auth.example.com" };
    await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
    const refused = await methods.group.check({}, ENG).catch(String);
    expect(refused).toContain(
      `stack configuration irm:baseUrl: https://evil.example differs from ${BASE_URL} (environment IRM_BASE_URL)`,
    );
    expect(refused).toContain(
      "  - stack configuration irm:authURL: there is no such setting; did you mean irm:authUrl?",
    );
    expect(requests).toEqual([]);
    expect(await methods.group.read(GROUP, {})).toMatchObject({ props: { name: "eng" } });
    await methods.group.delete(OTHER, {});
    expect(new Set(requests.map(({ url }) => url.host))).toEqual(new Set([new URL(BASE_URL).host]));
  });

  it("report an ignored key once", async () => {
    const { methods, messages } = scriptedMethods(TOKEN, groupAsked);
    const stack = { "irm:baseUrl": BASE_URL, "irm:colour": "blue" };
    await methods.group.configure({ config: { get: getter(stack), rawConfig: stack, projectName: "access" } });
    for (const kind of [methods.group, methods.role]) await kind.check({}, { parent: ORG, name: "eng" });
    expect(messages).toEqual([expect.stringMatching(/^stack configuration irm:colour is ignored: /)]);
  });

  it("throw messages for people, without a stack", async () => {
    const { methods } = scriptedMethods(TOKEN, refusal("PERMISSION_DENIED", "no"));
    await methods.group.configure(SCRIPTED_CONFIG);
    const error = await methods.group.read(GROUP, {}).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ stack: "" });
    expect((error as Error).message).toContain(`GetGroup group ${GROUP}: PERMISSION_DENIED: Permission denied: no\n`);
  });

  it("throw a shared error once, and then name the resource that has the message", async () => {
    const { methods } = scriptedMethods({}, groupAsked);
    await methods.group.configure(SCRIPTED_CONFIG);
    const create = (name: string) => methods.group.create({ ...ENG, ...keyOf(name) });
    await expect(create("first")).rejects.toThrow("no credentials in the environment: set IRM_TOKEN");
    const rest = [create("second"), methods.group.read(GROUP, keyOf("third"))];
    for (const run of rest) await expect(run).rejects.toThrow(/^failed for the same reason as Test::first$/);
  });

  it("report a change of outputs that another version wrote, and the update sends nothing", async () => {
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
});
