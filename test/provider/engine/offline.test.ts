// A run without the service: what tells a preview from an update, and how long checks wait for it.
import { expect, it } from "vitest";
import { SessionError } from "../../../client/errors.ts";
import { offlineWith } from "../../../provider/engine/service-gate.ts";
import { manualClock } from "../../harness/clock.ts";

const REASON = new SessionError("no connection");
const WARNING = "warning: the service is not asked, and this shows what is known without it: no connection";

const start = () => {
  const clock = manualClock();
  const messages: string[] = [];
  return { clock, messages, offline: offlineWith(clock, (text) => messages.push(text)) };
};

it("a run with the service waits for nothing, and says nothing", async () => {
  const { clock, messages, offline } = start();
  offline.expectStep();
  await offline.hold();
  offline.noteShown();
  offline.carriedOut();
  expect([clock.sleeps, messages, offline.isOn()]).toEqual([[], [], false]);
});

it("a preview warns once, and its checks wait no longer", async () => {
  const { clock, messages, offline } = start();
  offline.begin(REASON);
  offline.expectStep();
  offline.noteShown();
  offline.noteShown();
  await offline.hold();
  offline.expectNone();
  expect([clock.sleeps, messages, offline.isOn()]).toEqual([[], [WARNING], true]);
});

it("an update ends with the reason, and the checks that follow wait until the engine has seen it", async () => {
  const { clock, messages, offline } = start();
  offline.begin(REASON);
  await offline.hold();
  offline.expectStep();
  expect(() => offline.carriedOut()).toThrow(REASON);
  clock.advance(400);
  expect(() => offline.carriedOut()).toThrow(REASON);
  await offline.hold();
  await offline.hold();
  expect([clock.sleeps, messages]).toEqual([[600], []]);
});

it("where no step comes, it counts as a preview", async () => {
  const { clock, messages, offline } = start();
  offline.begin(REASON);
  offline.expectStep();
  await offline.hold();
  await offline.hold();
  expect([clock.sleeps, messages]).toEqual([[2_000], [WARNING]]);
});

it("a preview in which nothing changes warns too", () => {
  const { messages, offline } = start();
  offline.begin(REASON);
  offline.expectNone();
  expect(messages).toEqual([WARNING]);
});
