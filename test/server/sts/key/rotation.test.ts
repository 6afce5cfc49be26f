// Rotation of our issuer's signing keys (docs/internals/faults.md#row-35): every live token stays valid, whenever the server is
// called, stopped or killed.
import { createHook } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { createServer } from "../../../../server/index.ts";
import { openDatabase } from "../../../../server/store/database.ts";
import { createStore, type Store } from "../../../../server/store/store.ts";
import { createSigner, generateKey } from "../../../../server/sts/index.ts";
import { isRotationDue, liveKeys, type Signer, type StoredKey, signingKey } from "../../../../server/sts/key/signer.ts";
import { atEnd, IAM, serve, type startServer, type TestServer } from "../../../harness/api-server.ts";
import { DAY_MS, HOUR_MS, manualClock, START_MS } from "../../../harness/clock.ts";
import { headerOf } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { testFolder } from "../../../support/test-folder.ts";

const MINUTE_MS = 60_000;

describe("the keys of a signer, by their creation times", () => {
  const at = (...minutes: number[]) => minutes.map((minute) => ({ minute, createdMs: minute * MINUTE_MS }));
  const named = (keys: { minute: number }[]) => keys.map(({ minute }) => minute);

  it.each<[string, number[], number, number, number[]]>([
    ["the only one signs from the start", [0], 0, 0, [0]],
    ["the only one signs for ever", [0], 1e6, 0, [0]],
    ["it signs before its creation time, by a clock that was set back", [0], -100, 0, [0]],
    ["a new one is served and does not sign yet", [0, 100], 100, 0, [0, 100]],
    ["nor a moment before clients have had ten minutes to fetch it", [0, 100], 109.99, 0, [0, 100]],
    ["then it signs, and the old one is still accepted", [0, 100], 110, 100, [0, 100]],
    ["until the last token of the old one has ended, and ten minutes more", [0, 100], 179.99, 100, [0, 100]],
    ["then it is gone", [0, 100], 180, 100, [100]],
    ["two in a row: the one between signs for a minute", [0, 100, 101], 110, 100, [0, 100, 101]],
    ["two in a row: then the last one", [0, 100, 101], 111, 101, [0, 100, 101]],
    ["two in a row: the first goes first", [0, 100, 101], 180, 101, [100, 101]],
    ["two in a row: the one between a minute later", [0, 100, 101], 181, 101, [101]],
  ])("%s", (_, minutes, now, signing, live) => {
    const keys = at(...minutes);
    expect(signingKey(keys, now * MINUTE_MS).minute).toBe(signing);
    expect(named(liveKeys(keys, now * MINUTE_MS))).toEqual(live);
  });

  it("get a successor after thirty days", () => {
    expect(isRotationDue(at(0), 30 * DAY_MS - 1)).toBe(false);
    expect(isRotationDue(at(0), 30 * DAY_MS)).toBe(true);
    expect(isRotationDue([{ createdMs: 0 }, { createdMs: DAY_MS }], 30 * DAY_MS)).toBe(false);
  });
});

describe("a signer", () => {
  const start = (options: { keys?: StoredKey[]; save?: (keys: readonly StoredKey[]) => void } = {}) => {
    const clock = manualClock();
    const saved: (readonly StoredKey[])[] = [];
    const events: Record<string, unknown>[] = [];
    let nextEvent = Promise.withResolvers<void>();
    const signer = createSigner({
      clock,
      keys: [generateKey(START_MS)],
      save: (keys) => saved.push(keys),
      log: (event) => {
        events.push(event);
        nextEvent.resolve();
      },
      ...options,
    });
    // A rotation has succeeded or failed since the last call.
    const rotate = async () => {
      await nextEvent.promise;
      nextEvent = Promise.withResolvers();
    };
    return { clock, signer, saved, events, rotated: rotate };
  };
  const fail = () => {
    throw new Error("the disk is full");
  };
  const kids = ({ jwks }: Signer) => jwks().keys.map(({ kid }) => kid);

  it("stores the next key before it is published, and logs only its name", async () => {
    let published: unknown[] = [];
    const { signer, events } = start({ save: () => (published = kids(signer)) });
    const [old] = kids(signer);
    await signer.rotate();
    expect(published).toEqual([old]);
    expect(kids(signer)).toEqual([expect.any(String), old]);
    const signsFrom = "2026-01-28T13:04:21.189Z";
    expect(events).toEqual([{ event: "sts.key", outcome: "rotated", kid: kids(signer)[0], signsFrom }]);
  });

  it("stores it together with the live keys, and drops expired ones", async () => {
    const { clock, signer, saved } = start();
    await signer.rotate();
    clock.advance(80 * MINUTE_MS);
    await signer.rotate();
    expect(saved.map((keys) => keys.length)).toEqual([2, 2]);
    expect(saved[1]?.map(({ kid }) => kid).reverse()).toEqual(kids(signer));
  });

  it("continues with the old key when the next one cannot be stored", async () => {
    const { signer, events } = start({ save: fail });
    const [old] = kids(signer);
    await expect(signer.rotate()).rejects.toThrow("the disk is full");
    expect(kids(signer)).toEqual([old]);
    expect(headerOf(await signer.sign({})).kid).toBe(old);
    expect(events).toEqual([{ event: "sts.key", outcome: "failed", detail: "the disk is full" }]);
  });

  it("generates one key for concurrent callers", async () => {
    const { signer } = start();
    await Promise.all([signer.rotate(), signer.rotate(), signer.rotate()]);
    expect(kids(signer)).toHaveLength(2);
  });

  it("rotates by itself when it signs after thirty days, without a wait", async () => {
    const { clock, signer, saved, rotated } = start();
    const [old] = kids(signer);
    clock.advance(30 * DAY_MS - 1);
    await signer.sign({});
    expect(saved).toEqual([]);
    clock.advance(1);
    expect(headerOf(await signer.sign({})).kid).toBe(old);
    await rotated();
    expect(saved).toHaveLength(1);
    clock.advance(10 * MINUTE_MS);
    expect(headerOf(await signer.sign({})).kid).toBe(kids(signer)[0]);
    expect(kids(signer)).toHaveLength(2);
  });

  it("pauses for ten minutes when that fails", async () => {
    const { clock, signer, events, rotated } = start({ save: fail });
    clock.advance(30 * DAY_MS);
    await signer.sign({});
    await rotated();
    const begun = countKeysBegun();
    clock.advance(10 * MINUTE_MS - 1);
    await signer.sign({});
    expect(begun()).toBe(0);
    clock.advance(1);
    await signer.sign({});
    expect(begun()).toBe(1);
    await rotated();
    expect(events).toHaveLength(2);
  });

  it("does so at the start, when its stored key is old", async () => {
    const { signer, rotated } = start({ keys: [generateKey(START_MS - 30 * DAY_MS)] });
    await rotated();
    expect(kids(signer)).toHaveLength(2);
  });
});

/** How many keys node was asked to make since. */
const countKeysBegun = (): (() => number) => {
  let begun = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === "KEYPAIRGENREQUEST") begun += 1;
    },
  }).enable();
  atEnd(() => hook.disable());
  return () => begun;
};

const kidsAt = async (issuer: string): Promise<string[]> => {
  const { keys } = (await (await fetch(`${issuer}/.well-known/jwks.json`)).json()) as Body;
  return keys.map(({ kid }: Body) => kid);
};
const servedKids = ({ authUrl }: { authUrl: string }) => kidsAt(authUrl);

type Options = Parameters<typeof startServer>[0];

// Generating keys is slow: each store begins with the same ones.
const KEYS = { signing_keys: generateKey(START_MS), dev_signing_keys: generateKey(START_MS) };

const openStore = (file = ":memory:"): Store => {
  const store = createStore(openDatabase(file));
  for (const [name, key] of Object.entries(KEYS))
    if (store.meta(name) === undefined) store.setMeta(name, JSON.stringify([key]));
  return store;
};

describe("a server", () => {
  const folder = testFolder();
  const start = (options: Options = {}) => serve({ keys: undefined, store: openStore(), ...options });
  const status = async (api: TestServer, token: string) => (await api.call("GET", `${IAM}/groups`, { token })).status;
  const newToken = (api: TestServer) => api.token(api.identity, { subject: "owner" });

  it("accepts the tokens of the old key until they expire, and all of the new one", async () => {
    const api = await start();
    const [old] = await servedKids(api);
    await api.rotateKeys();
    const [next] = await servedKids(api);
    expect(await servedKids(api)).toEqual([next, old]);

    api.clock.advance(10 * MINUTE_MS - 1);
    const last = await newToken(api);
    api.clock.advance(1);
    const first = await newToken(api);
    expect([last, first].map((token) => headerOf(token).kid)).toEqual([old, next]);
    api.clock.advance(HOUR_MS - 1001);
    expect([await status(api, last), await status(api, first)]).toEqual([200, 200]);
    api.clock.advance(1001);
    expect(await status(api, last)).toBe(401);
    api.clock.advance(10 * MINUTE_MS);
    expect(await servedKids(api)).toEqual([next]);
  });

  it.each([
    ["before the new key is stored, it has not rotated", false],
    ["after it is stored and before it is published, it has both", true],
  ])("when it is killed %s", async (_, isStored) => {
    const clock = manualClock();
    const file = folder.path(`killed-${isStored}.db`);
    const store = openStore(file);
    // From the moment of the write on, this process is dead for the store.
    const setMeta: typeof store.setMeta = (key, value) => {
      const isRotation = key === "signing_keys" && JSON.parse(value).length > 1;
      if (!isRotation || isStored) store.setMeta(key, value);
      if (isRotation) throw new Error("killed");
    };
    const dying = await createServer({ dev: true, clock, store: { ...store, setMeta } as Store });
    atEnd(dying.close);
    const [old] = await servedKids(dying);
    await expect(dying.rotateKeys()).rejects.toThrow("killed");
    expect(await servedKids(dying)).toEqual([old]);
    const next = await servedKids(await start({ store: file, clock }));
    expect(next).toEqual(isStored ? [expect.any(String), old] : [old]);
  });

  it("rotates the development issuer's keys too, and accepts its tokens throughout", async () => {
    const api = await start();
    const devKeys = async () => (await kidsAt(api.issuer)).length;
    api.clock.advance(30 * DAY_MS);
    expect(await devKeys()).toBe(1);
    await newToken(api);
    await expect.poll(devKeys).toBe(2);
    api.clock.advance(10 * MINUTE_MS);
    const token = await newToken(api);
    expect(await status(api, token)).toBe(200);
  });
});
