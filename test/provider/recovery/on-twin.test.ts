// Nothing arrives late at a twin, so a run there does not wait for it: the same three runs against a service and on a twin, by the clock.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import { Killed, startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group, identity } = kindRecords;
const machine = startMachine();

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
    await expect(reconcile.create(group, machine.dying("before").session, args)).rejects.toThrow(Killed);
    const seconds = await secondsOf((session) => reconcile.create(group, session, args), isOnTwin);
    expect(seconds).toBe(isOnTwin ? 0 : 65);
    expect(await machine.named(args.name)).toHaveLength(1);
  });

  it(`what was created a moment ago and is gone ${isOnTwin ? "is gone" : "may be hidden for five seconds"}`, async () => {
    const { id, outs } = await reconcile.create(group, machine.run().session, machine.inputs());
    await machine.service.session.call("DeleteGroup", { uid: id });
    const process = machine.run();
    const since = process.clock.now();
    const serverNow = () => Date.parse(outs.createTime as string) + process.clock.now() - since;
    const read = (session: Session) => reconcile.read(group, { ...session, serverNow }, id, outs);
    const seconds = await secondsOf(read, isOnTwin, process);
    expect(seconds).toBe(isOnTwin ? 0 : 5);
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
