// Delays of scripted failures, for a timeout with late success (docs/internals/faults.md#f4). Each request waits alone. A client that
// goes away does not end its request, and the end of the server ends every delay.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Json } from "../../../schema/index.ts";
import type { FaultScript } from "../../../server/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore, type Store } from "../../../server/store/store.ts";
import { IAM, openGrpc, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import type { GrpcClient } from "../../support/grpc.ts";
import { openConnection, postHead } from "../../support/socket.ts";

type Step = NonNullable<FaultScript["rules"]>[number]["steps"][number];

let store: Store;
let api: TestServer;
let grpc: GrpcClient;
/** until then no API token is signed */
let signed: Promise<void>;
beforeEach(async () => {
  store = createStore(openDatabase(":memory:"));
  signed = Promise.resolve();
  const keys = sharedKeys();
  const sign = (claims: Json) => signed.then(() => keys.signer.sign(claims));
  api = await serve({ faults: {}, store, keys: { ...keys, signer: { ...keys.signer, sign } } });
  grpc = openGrpc(api.baseUrl);
  // The connection exists before the timers are faked.
  await grpc.call("Ping", {});
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  grpc.close();
});

const meets = (step: Step) => api.faults.set({ rules: [{ operation: "CreateGroup", steps: [step] }] });
const REST = () => api.call("POST", `${IAM}/groups/${api.organization}`, { body: { name: "late" } });
const GRPC = () =>
  grpc.call("CreateGroup", { parent: api.organization, group: { name: "late" } }, { token: api.owner.token });
const report = () => api.faults.attempts().length;
const outcome = { REST: async () => (await REST()).status, gRPC: async () => (await GRPC()).code } as const;
const good = { REST: 200, gRPC: 0 } as const;
const unavailable = { REST: 504, gRPC: 4 } as const;

/** Runs the event loop until the condition holds, with fake timers. */
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};
const rounds = async () => {
  for (let i = 0; i < 20; i += 1) await new Promise(setImmediate);
};
const waiting = () => until(() => vi.getTimerCount() > 0);
const countCreated = () => store.statement("SELECT 1 FROM groups WHERE name = 'late'").all().length;
const carriedOut = () => api.faults.attempts().map((attempt) => attempt.carriedOut);

describe.each(["REST", "gRPC"] as const)("over %s", (wire) => {
  test("a delay before the request creates nothing until then, and other requests do not wait", async () => {
    meets({ delay: "2s" });
    const settled = vi.fn();
    const answer = outcome[wire]().finally(settled);
    await waiting();
    vi.advanceTimersByTime(1999);
    expect((await api.call("GET", `${IAM}/groups`)).status).toBe(200);
    expect(await outcome[wire]()).toBe(good[wire]);
    expect({ made: countCreated(), carriedOut: carriedOut() }).toEqual({ made: 1, carriedOut: [false, true, true] });
    expect(settled).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(await answer).toBe(good[wire]);
    expect({ made: countCreated(), carriedOut: carriedOut() }).toEqual({ made: 2, carriedOut: [true, true, true] });
  });

  test("a delay after the request creates the record at once and answers later", async () => {
    meets({ delay: "250ms", at: "after" });
    const settled = vi.fn();
    const answer = outcome[wire]().finally(settled);
    await waiting();
    expect({ made: countCreated(), carriedOut: carriedOut() }).toEqual({ made: 1, carriedOut: [true] });
    vi.advanceTimersByTime(249);
    await rounds();
    expect(settled).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(await answer).toBe(good[wire]);
  });

  test("a held request waits until its release, whatever the time and the script", async () => {
    meets({ hold: true });
    const settled = vi.fn();
    const answer = outcome[wire]().finally(settled);
    await until(() => report() === 1);
    vi.advanceTimersByTime(86_400_000);
    api.faults.clear();
    await rounds();
    expect({ timers: vi.getTimerCount(), made: countCreated() }).toEqual({ timers: 0, made: 0 });
    expect(settled).not.toHaveBeenCalled();
    api.faults.release();
    expect(await answer).toBe(good[wire]);
    expect(countCreated()).toBe(1);
    // A release applies to earlier requests only.
    meets({ at: "after", hold: true, status: 504 });
    const next = outcome[wire]().finally(settled);
    await until(() => carriedOut()[0] === true);
    await rounds();
    expect(settled).toHaveBeenCalledTimes(1);
    api.faults.release();
    expect(await next).toBe(unavailable[wire]);
    expect(countCreated()).toBe(2);
  });
});

/** Over REST, by hand: the client can go away, or stay when the others are closed. */
const writeRest = async () => {
  const connection = await openConnection(api.baseUrl);
  const body = JSON.stringify({ name: "late" });
  connection.write(postHead(`${IAM}/groups/${api.organization}`, api.owner.token, body.length) + body);
  return connection;
};

describe("the end of the server ends a delay: the request is carried out and answered", () => {
  test.each<[string, Step, () => Promise<void>]>([
    ["a delay", { delay: "30s" }, waiting],
    ["a hold", { hold: true }, () => until(() => report() === 1)],
  ])("over REST, of %s", async (_, step, isHeld) => {
    meets(step);
    const connection = await writeRest();
    await isHeld();
    expect(countCreated()).toBe(0);
    const closed = api.close();
    expect(await connection.ended).toMatch(/^HTTP\/1\.1 200 OK\r\n.*"name":"late"/s);
    await closed;
  });

  test("over gRPC", async () => {
    meets({ delay: "30s" });
    const answer = GRPC();
    await waiting();
    expect(countCreated()).toBe(0);
    const closed = api.close();
    expect(await answer).toMatchObject({ code: 0, json: { name: "late" } });
    await closed;
  });
});

describe("a request whose client has gone away", () => {
  const goes = {
    REST: async () => {
      const connection = await writeRest();
      await waiting();
      connection.reset();
      await connection.ended;
    },
    gRPC: async () => {
      const cancelled = Promise.withResolvers<void>();
      const request = { parent: api.organization, group: { name: "late" } };
      const answer = grpc.call("CreateGroup", request, { token: api.owner.token, cancelled: cancelled.promise });
      await waiting();
      cancelled.resolve();
      expect((await answer).code).toBe(1);
      // The server has noticed: the log has its line.
      await until(() => api.log.some((line) => line.includes('"code":"CANCELLED"')));
    },
  } as const;

  test.each(["REST", "gRPC"] as const)("over %s is still carried out", async (wire) => {
    meets({ delay: "2s" });
    await goes[wire]();
    await rounds();
    expect(countCreated()).toBe(0);
    vi.advanceTimersByTime(2000);
    await until(() => carriedOut()[0] === true);
    expect(countCreated()).toBe(1);
    expect(api.log.filter((line) => line.includes("internal error"))).toEqual([]);
  });

  test.each(["REST", "gRPC"] as const)("over %s is carried out even when the server ends first", async (wire) => {
    meets({ delay: "2s" });
    await goes[wire]();
    const seen = vi.fn();
    // The store is closed last, so it is read before that.
    const closeStore = store.close;
    store.close = () => {
      seen(countCreated());
      closeStore();
    };
    grpc.close();
    await api.close();
    expect(seen.mock.calls).toEqual([[1]]);
    expect(carriedOut()).toEqual([true]);
    expect(api.log.filter((line) => line.includes("internal error"))).toEqual([]);
  });

  test("keeps the store open until it is carried out", async () => {
    api.faults.set({ rules: [{ operation: "ExchangeGet", steps: [{ delay: "2s" }] }] });
    const token = await api.identityToken("owner");
    const connection = await openConnection(api.authUrl);
    connection.write(
      `GET /sts/exchange?aud=${api.baseUrl}&identity=${api.identity} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    await waiting();
    connection.reset();
    await connection.ended;
    const signing = Promise.withResolvers<void>();
    signed = signing.promise;
    const ended = vi.fn();
    grpc.close();
    const closed = api.close().then(ended);
    // So long that a server without a request under way has ended.
    for (let i = 0; i < 50; i += 1) await rounds();
    expect(ended).not.toHaveBeenCalled();
    expect(carriedOut()).toEqual([false]);
    signing.resolve();
    await closed;
    expect(carriedOut()).toEqual([true]);
    expect(api.log.filter((line) => line.includes("internal error"))).toEqual([]);
  });
});
