// A recovery that waits says so after 2 s and then every 10 s, once for all resources, and ^C ends it.
import { describe, expect, it } from "vitest";
import { methodsWith } from "../../../provider/engine/methods.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { KEY } from "../../../provider/record/state.ts";
import type { Session } from "../../../provider/run/session.ts";
import { applySet } from "../../../provider/set/apply.ts";
import type { Json } from "../../../schema/index.ts";
import { startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group, identity } = kindRecords;

const machine = startMachine();

/** A run that dies with its request under way: it may still arrive. */
const killed = async (args: Json): Promise<void> => {
  await machine.killed(args);
};

const line = (seconds: number, names: string): string =>
  `waiting for what an earlier request may still create, ${seconds} s so far: ${names}. The wait ends once no such request can arrive ` +
  "(irm:requestTimeout). ^C ends it too, and the next update continues.";

const nameOf = ({ [KEY]: key }: Json): string => (key as string).split("/").slice(3).join("/");

it("a recovery that waits says so after 2 s and every 10 s, and creates when nothing can appear", async () => {
  const args = machine.inputs();
  await killed(args);
  const { session } = machine.run();
  await reconcile.create(group, session, args);
  const seconds = machine.messages.map((text) => Number(/, (\d+) s so far/.exec(text)?.[1]));
  expect(seconds).toEqual([2, 12, 22, 32, 42, 52, 62]);
  expect(machine.messages[0]).toBe(line(2, nameOf(args)));
  expect(await machine.named(args.name)).toHaveLength(1);
});

it("a recovery that waits is one line for all resources that wait at the same time", async () => {
  const all = [machine.inputs(), machine.inputs(), machine.inputs(), machine.inputs(), machine.inputs()];
  for (const args of all) await killed(args);
  const { session, clock } = machine.run();
  // Time passes when all of them wait.
  const waiting = Promise.withResolvers<void>();
  const { sleep } = clock;
  let count = 0;
  clock.sleep = async (ms) => {
    count += 1;
    if (count === all.length) waiting.resolve();
    await waiting.promise;
    await sleep(ms);
  };
  await Promise.all(all.map((args) => reconcile.create(group, session, args)));
  const waits = machine.messages.filter((text) => text.startsWith("waiting"));
  expect(waits.filter((text) => text.includes(" 2 s so far"))).toEqual([
    line(2, `${all.slice(0, 3).map(nameOf).join(", ")} and 2 more`),
  ]);
});

it("a recovery that waits names only what waits now", async () => {
  const [first, second] = [machine.inputs(), machine.inputs()];
  for (const args of [first, second]) await killed(args);
  const { session } = machine.run();
  await reconcile.create(group, session, first);
  await killed(second);
  machine.messages.length = 0;
  await reconcile.create(group, session, second);
  expect(machine.messages[0]).toBe(line(2, nameOf(second)));
});

it("a recovery that waits says so for a set of role bindings too", async () => {
  const { uid } = await machine.createByOther(machine.inputs());
  const bindings = [{ identity: machine.service.identity, role: "viewer" }];
  const args = { ...machine.inputs(), parent: uid, bindings } as Json;
  await expect(applySet(machine.dying("before").session, "set", {}, args)).rejects.toThrow();
  await applySet(machine.run().session, "set", {}, args);
  expect(machine.messages[0]).toContain("waiting for what an earlier request may still create, 2 s so far: ");
});

it.each(["during the first look", "during the wait"])("^C %s ends it, and the next run continues", async (when) => {
  const args = machine.inputs();
  await killed(args);
  const stop = new AbortController();
  const { environment, clock } = machine.runOver(async ({ method }, send) => {
    // The list is not answered any more.
    if (when === "during the first look" && method === "GET") {
      stop.abort();
      await new Promise(() => undefined);
    }
    return send();
  });
  const { group: methods } = methodsWith({
    ...environment,
    cancelled: stop.signal,
    log: (text) => {
      machine.messages.push(text);
      if (text.includes(" 12 s so far")) stop.abort();
    },
  });
  await methods.configure({ config: { get: () => undefined } });
  await expect(methods.create(args)).rejects.toThrow(
    `${args[KEY]}: cancelled: the next update continues from the intent journal`,
  );
  if (when === "during the wait") expect(clock.now()).toBeLessThan(23_000);
  expect(machine.lines().filter((one) => "closed" in one)).toEqual([]);
  await machine.create(args);
  expect(await machine.named(args.name)).toHaveLength(1);
});

it("^C ends the attempts to send a create whose response was lost, and its entry stays pending", async () => {
  const args = machine.inputs();
  const stop = new AbortController();
  const { environment } = machine.run("reset", "reset", "reset");
  const { group: methods } = methodsWith({ ...environment, cancelled: stop.signal });
  await methods.configure({ config: { get: () => undefined } });
  stop.abort();
  await expect(methods.create(args)).rejects.toThrow("cancelled");
  expect(machine.posts).toBeLessThanOrEqual(1);
  await machine.create(args);
  expect(await machine.named(args.name)).toHaveLength(1);
});

// Nothing arrives late at a twin: the same three runs against a service and on a twin, by the clock.

/** Seconds that `work` takes by the clock of its process, which only waits advance. */
const secondsOf = async (
  work: (session: Session) => Promise<unknown>,
  isOnTwin: boolean,
  { session, clock } = machine.run(),
) => {
  const began = clock.now();
  await work({ ...session, ...(isOnTwin && { isOnTwin: true }) });
  return Math.round((clock.now() - began) / 1000);
};

describe.each([
  ["against a service", false],
  ["on a twin", true],
])("%s", (_, isOnTwin) => {
  it(`a run after a killed one ${isOnTwin ? "goes on at once" : "waits until its request cannot arrive any more"}`, async () => {
    const args = machine.inputs();
    await machine.killed(args);
    const seconds = await secondsOf((session) => reconcile.create(group, session, args), isOnTwin);
    expect(seconds).toBe(isOnTwin ? 0 : 65);
    expect(await machine.named(args.name)).toHaveLength(1);
  });

  it(`what was created a moment ago and is gone ${isOnTwin ? "is gone" : "may be hidden for five seconds"}`, async () => {
    const { id, outs } = await machine.create(machine.inputs());
    await machine.service.session.call("DeleteGroup", { uid: id });
    const process = machine.run();
    const since = process.clock.now();
    const serverNow = () => Date.parse(outs.createTime as string) + process.clock.now() - since;
    const read = (session: Session) => reconcile.read(group, { ...session, serverNow }, id, outs);
    expect(await secondsOf(read, isOnTwin, process)).toBe(isOnTwin ? 0 : 5);
  });

  it(`a denial in an organization of this run ${isOnTwin ? "stands" : "is asked again with new tokens"}`, async () => {
    const args = { ...keyOf("org"), name: `org-${isOnTwin}`, parent: undefined };
    const process = machine.runOver(async ({ method, url }, send) => {
      if (method !== "POST" || !url.pathname.includes("/identities/")) return send();
      const body = { code: 7, message: "Permission denied: not yet", details: [] };
      return { status: 403, headers: {}, body: JSON.stringify(body) };
    });
    const work = async (session: Session) => {
      const { id } = await reconcile.create(group, session, args);
      const claimMatch = { issuer: "https://issuer.example", subject: "s" };
      const own = { ...keyOf("bot"), name: "bot", parent: id, claimMatch };
      await expect(reconcile.create(identity, session, own)).rejects.toThrow("not yet");
    };
    expect(await secondsOf(work, isOnTwin, process)).toBe(isOnTwin ? 0 : 26);
  });
});
