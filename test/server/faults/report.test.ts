// Scripted failures: the file, of which all problems are reported at once, with file, line and column; the report of
// attempts, the page /faults, and random failures.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { createFaultDelays } from "../../../server/faults/delivery.ts";
import {
  type Attempt,
  createServer,
  type FaultScript,
  FaultsError,
  parseFaults,
  ServerOptionsError,
} from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { createRecord, createUid, listAll } from "../../harness/records.ts";
import { expectInvalid, expectNotFound } from "../../support/refusal.ts";
import { errorOf } from "../../support/thrown.ts";

const api = await serve({ faults: {} });
beforeEach(() => api.faults.clear());

const list = (id?: string) => api.call("GET", `${IAM}/groups`, id ? { headers: { "x-request-id": id } } : {});
const SCRIPT: FaultScript = {
  readAfterWriteLag: "3s",
  rules: [{ operation: "ListGroups", steps: [{ status: 503 }, {}, { status: 502, at: "after" }] }],
};

test("the report has each attempt with its operation, wire, time, id, step and whether it was carried out", async () => {
  const startMs = api.clock();
  api.faults.set(SCRIPT);
  await list("first");
  api.clock.advance(1500);
  await api.grpc().call("ListGroups", {}, { token: api.owner.token, metadata: { "x-request-id": "second" } });
  await list("third");
  await list("fourth");
  await api.call("GET", `${IAM}/roles`, { token: null, headers: { "x-request-id": "fifth" } });
  const timeMs = startMs + 1500;
  const listGroups = { operation: "ListGroups" } as const;
  const expected: Attempt[] = [
    { ...listGroups, wire: "rest", timeMs: startMs, requestId: "first", rule: 1, step: 1, carriedOut: false },
    { ...listGroups, wire: "grpc", timeMs, requestId: "second", rule: 1, step: 2, carriedOut: true },
    { ...listGroups, wire: "rest", timeMs, requestId: "third", rule: 1, step: 3, carriedOut: true },
    { ...listGroups, wire: "rest", timeMs, requestId: "fourth", carriedOut: true },
    { operation: "ListRoles", wire: "rest", timeMs, requestId: "fifth", carriedOut: false },
  ];
  expect(startMs).toBeGreaterThanOrEqual(START_MS);
  expect(api.faults.attempts()).toEqual(expected);
  expect((await api.call("GET", "/faults", { token: null })).json).toEqual({ faults: SCRIPT, attempts: expected });
});

test("the report leaves out requests that reached no method: pages and unknown paths", async () => {
  for (const path of ["/healthz", "/metrics", "/faults", "/iam/v2beta1/none"]) await api.call("GET", path);
  expect(api.faults.attempts()).toEqual([]);
});

const put = (body: unknown, options = {}) => api.call("PUT", "/faults", { token: null, body, ...options });

test("PUT /faults takes a new script, in YAML or JSON, from its first step on", async () => {
  await list();
  const yaml = "rules:\n  - operation: ListGroups\n    steps: [{ status: 500 }]\n";
  const { status, json } = await put(yaml);
  const rules = [{ operation: "ListGroups", steps: [{ status: 500 }] }];
  expect({ status, json }).toEqual({ status: 200, json: { faults: { rules }, attempts: [] } });
  expect([(await list()).status, (await list()).status]).toEqual([500, 200]);
  await put({ rules });
  expect([(await list()).status, (await list()).status]).toEqual([500, 200]);
  expect((await put({})).json).toEqual({ faults: {}, attempts: [] });
});

test("PUT /faults refuses an invalid script with every problem, and keeps the current one", async () => {
  await put(SCRIPT);
  expectInvalid(await put("rules:\n  - operation: MakeGroup\n    steps: []\n"), {
    "": [
      'body:2:16: rules.0.operation: must be the name of an operation, such as CreateGroup, or "*"',
      "body:3:12: rules.0.steps: must have a step",
    ],
  });
  expect((await api.call("GET", "/faults")).json.faults).toEqual(SCRIPT);
});

test("POST /faults/release releases held requests, and returns the script and the report", async () => {
  const script = { rules: [{ operation: "ListGroups" as const, steps: [{ hold: true as const, status: 504 }] }] };
  api.faults.set(script);
  const held = list();
  await expect.poll(() => api.faults.attempts()).toHaveLength(1);
  const { status, json } = await api.call("POST", "/faults/release", { token: null });
  expect({ status, json }).toEqual({ status: 200, json: { faults: script, attempts: api.faults.attempts() } });
  expect((await held).status).toBe(504);
});

test("a host that is not loopback is refused with the option", async () => {
  const started = createServer({ host: "0.0.0.0", faults: {} });
  await expect(started).rejects.toThrow(ServerOptionsError);
  await expect(started).rejects.toThrow(
    "the scripted failures are changed by anyone who reaches the server, so --faults is refused on 0.0.0.0; leave out --host",
  );
});

test("an invalid script starts no server", async () => {
  const started = createServer({ faults: { rules: [{ operation: "*", steps: [{ delay: "soon" }] }] } });
  await expect(started).rejects.toThrow(FaultsError);
  await expect(started).rejects.toThrow("rules.0.steps.0.delay: must be a duration such as 2s or 250ms");
});

test("the API's port has /faults, and failures apply to both ports", async () => {
  const two = await serve({ faults: {}, authPort: 0 });
  two.faults.set({ rules: [{ operation: "*", steps: [{ status: 503 }], repeat: true }] });
  const bearer = await two.identityToken("owner");
  expect((await two.exchange(bearer, { identity: two.identity })).status).toBe(503);
  expect((await two.call("GET", `${IAM}/groups`)).status).toBe(503);
  expect((await two.call("GET", "/faults")).json.attempts).toMatchObject([
    { operation: "ExchangeGet", carriedOut: false },
    { operation: "ListGroups", carriedOut: false },
  ]);
});

const SEEDED: FaultScript = { random: { rate: 0.5, seed: 7, steps: [{ status: 503 }, { status: 500 }] } };
const run = async (script: FaultScript, count: number) => {
  api.faults.set(script);
  const statuses: number[] = [];
  for (let i = 0; i < count; i += 1) statuses.push((await list()).status);
  return statuses;
};

test("random failures are the same for the same seed, and others for another", async () => {
  const once = await run(SEEDED, 40);
  expect(new Set(once)).toEqual(new Set([200, 500, 503]));
  expect(await run(SEEDED, 40)).toEqual(once);
  expect(await run({ random: { ...SEEDED.random, seed: 8 } as never }, 40)).not.toEqual(once);
});

test("random failures are in the report, and occur at the given rate", async () => {
  const random = { rate: 0.2, seed: 1, steps: [{ status: 503 }] };
  const failed = (await run({ random }, 500)).filter((status) => status === 503).length;
  // The seed decides: 100 are expected, and 27 more or fewer are three times the deviation.
  expect(Math.abs(failed - 100)).toBeLessThan(27);
  const met = api.faults.attempts().filter(({ rule }) => rule === "random");
  expect(met).toHaveLength(failed);
  expect(new Set(met.map(({ step }) => step))).toEqual(new Set([1]));
});

test("random failures occur never at rate 0, always at rate 1, and after the rules", async () => {
  const steps = [{ status: 503 }];
  expect(await run({ random: { rate: 0, seed: 7, steps } }, 20)).toEqual(Array(20).fill(200));
  const rules = [{ operation: "ListGroups" as const, steps: [{}, { status: 500 }] }];
  expect(await run({ rules, random: { rate: 1, seed: 7, steps } }, 4)).toEqual([200, 500, 503, 503]);
});

test("metrics and the log have the code and the step of a failure, and CANCELLED for a cut connection", async () => {
  const own = await serve({ faults: {} });
  const steps = [{ status: 502 }, { reset: true as const }, {}];
  own.faults.set({ rules: [{ operation: "ListGroups", steps, repeat: true }] });
  own.log.length = 0;
  const grpc = own.grpc();
  await own.call("GET", `${IAM}/groups`);
  await expect(own.call("GET", `${IAM}/groups`)).rejects.toMatchObject({ code: "ECONNRESET" });
  await own.call("GET", `${IAM}/groups`);
  for (let i = 0; i < 3; i += 1) await grpc.call("ListGroups", {}, { token: own.owner.token });
  const { text } = await own.call("GET", "/metrics");
  const counted = text.split("\n").filter((line) => line.startsWith('irm_requests_total{operation="ListGroups"'));
  const line = (wire: string, code: string) =>
    `irm_requests_total{operation="ListGroups",wire="${wire}",code="${code}"} 1`;
  expect(counted.toSorted()).toEqual(
    ["rest", "grpc"].flatMap((wire) => ["CANCELLED", "OK", "UNAVAILABLE"].map((code) => line(wire, code))).toSorted(),
  );
  expect(text).toContain('irm_requests_in_flight{wire="grpc"} 0');
  const events = own.log.map((written) => JSON.parse(written));
  const faults = events.filter(({ event }) => event === "fault");
  expect(faults.map(({ wire, operation, rule, step }) => ({ wire, operation, rule, step }))).toEqual(
    ["rest", "grpc"].flatMap((wire) => [1, 2, 3].map((step) => ({ wire, operation: "ListGroups", rule: 1, step }))),
  );
  const reset = events.find(({ event, status }) => event === "request" && status === 499);
  expect(reset).toMatchObject({ requestId: faults[1].requestId, operation: "ListGroups" });
  expect(reset.message).toBe("Cancelled: a scripted reset of the connection");
});

test("the end of the server waits for delayed requests until the cut", async () => {
  for (const before of [true, false]) {
    const delays = createFaultDelays();
    void delays.track(new Promise(() => {}));
    const cut = new AbortController();
    if (before) cut.abort();
    const drained = delays.drain(cut.signal);
    cut.abort();
    expect(await drained).toBeUndefined();
  }
});

test("the end of the server starts no further delay", async () => {
  const delays = createFaultDelays();
  await delays.drain();
  expect(await delays.wait(999_999_000)).toBeUndefined();
});

// A scripted read-after-create delay (docs/internals/faults.md#f18): Get and List hide a new record for this time, and no other method
// does.

const LAG_MS = 3000;
const create = (name: string): Promise<string> => createUid(api, "groups", api.organization, { name });

describe("a new record that is hidden for a while", () => {
  beforeEach(() => api.faults.set({ readAfterWriteLag: "3s" }));

  test("Get says NOT_FOUND, and List has neither the record nor counts it, until the time has passed", async () => {
    const uid = await create("hidden");
    const get = () => api.call("GET", `${IAM}/groups/${uid}`);
    const listed = async () => {
      const { groups, totalCount } = await api.ok("GET", `${IAM}/groups`, { query: { name: "hidden" } });
      return [groups.map((group: Json) => group.uid), totalCount];
    };
    api.clock.advance(LAG_MS - 1);
    expectNotFound(await get(), "Group", uid);
    expect(await listed()).toEqual([[], "0"]);
    api.clock.advance(1);
    expect((await get()).json).toMatchObject({ uid, name: "hidden" });
    expect(await listed()).toEqual([[uid], "1"]);
  });

  test("a list continues over pages while records become visible", async () => {
    const parent = await create("walked");
    const child = (name: string) => createUid(api, "groups", parent, { name });
    const query = { "uidp.childrenOf": parent, page_size: 1 };
    const first = [await child("a"), await child("b")];
    api.clock.advance(LAG_MS);
    const later = await child("c");
    const page = await api.ok("GET", `${IAM}/groups`, { query });
    expect(page.totalCount).toBe("2");
    api.clock.advance(LAG_MS);
    const rest = await listAll(api, `${IAM}/groups`, { query: { ...query, page_token: page.nextPageToken } });
    expect([page.groups[0], ...rest].map(({ uid }) => uid)).toEqual([...first, later]);
  });

  test("writes see the record at once: it can get a child, be changed and be deleted", async () => {
    const uid = await create("parent");
    const child = await createRecord(api, "groups", uid, { name: "child" });
    const changed = await api.ok("PATCH", `${IAM}/groups/${uid}`, { body: { description: "changed" } });
    expect(changed).toMatchObject({ uid, description: "changed" });
    expectNotFound(await api.call("GET", `${IAM}/groups/${uid}`), "Group", uid);
    await api.ok("DELETE", `${IAM}/groups/${child.uid}`);
    await api.ok("DELETE", `${IAM}/groups/${uid}`);
  });

  test("records of the start are not hidden", async () => {
    const recent = await serve({ faults: { readAfterWriteLag: "3s" } });
    expect((await recent.ok("GET", `${IAM}/groups`)).totalCount).toBe("1");
    expect(await recent.role("viewer")).toMatch(/^[0-9a-f]{40}$/);
  });
});

const problems = (text: string): string[] => {
  const error = errorOf(() => parseFaults(text, "f.yaml"));
  expect(error).toBeInstanceOf(FaultsError);
  return error.message.split("\n");
};

const ofStep = (step: string) => problems(`rules:\n  - operation: "*"\n    steps:\n      - ${step}\n`);

test("the example of docs/server.md is accepted", () => {
  const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const yaml = /```yaml\n(readAfterWriteLag:.*?)```/s.exec(page)?.[1] as string;
  expect(Object.keys(parseFaults(yaml, "docs/server.md"))).toEqual(["readAfterWriteLag", "rules", "random"]);
});

test("all problems are reported at once, each with its place", () => {
  const text = `readAfterWriteLag: 3
rules:
  - operation: MakeGroup
    steps:
      - { status: 302 }
      - { delay: 2m }
      - { status: 503, reset: true }
  - steps: []
random: { rate: 2, seed: x, steps: [{ at: during }] }
more: 1
`;
  expect(problems(text)).toEqual([
    "f.yaml:1:20: readAfterWriteLag: must be a duration such as 2s or 250ms",
    'f.yaml:3:16: rules.0.operation: must be the name of an operation, such as CreateGroup, or "*"',
    "f.yaml:5:19: rules.0.steps.0.status: must be an HTTP status from 400 to 599, or 200",
    "f.yaml:6:18: rules.0.steps.1.delay: must be a duration such as 2s or 250ms",
    "f.yaml:7:31: rules.0.steps.2.reset: cannot be combined with status",
    'f.yaml:8:5: rules.1.operation: must be the name of an operation, such as CreateGroup, or "*"',
    "f.yaml:8:12: rules.1.steps: must have a step",
    "f.yaml:9:17: random.rate: must be at most 1",
    "f.yaml:9:26: random.seed: must be a number",
    "f.yaml:9:43: random.steps.0.at: must be before or after",
    "f.yaml:10:7: more: there is no such field here",
  ]);
});

test.each([
  ["two ends", "{ truncate: 1, reset: true }", "21: truncate: cannot be combined with reset"],
  ["Retry-After without a status", "{ retryAfter: 1 }", "23: retryAfter: needs a status"],
  ["a page without a status", "{ body: html }", "17: body: needs a status"],
  ["a success", "{ status: 200 }", "19: status: 200 needs body: html; without a failure the step is {}"],
  [
    "a truncated response of nothing",
    "{ truncate: 1, at: before }",
    "28: at: must be after: only the response to a completed request can be truncated",
  ],
  ["a date without a wait", "{ status: 503, httpDate: true }", "34: httpDate: needs retryAfter"],
  ["two waits", "{ delay: 1s, hold: true }", "28: hold: cannot be combined with delay"],
  ["a time without a failure", "{ at: after }", "15: at: needs status, reset, truncate, delay or hold"],
  ["an unknown word", "{ latency: 1s }", "20: latency: there is no such field here"],
])("steps without a meaning: %s", (_, step, expected) => {
  expect(ofStep(step)).toEqual([`f.yaml:4:${expected.replace(": ", ": rules.0.steps.0.")}`]);
});
