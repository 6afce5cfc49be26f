// Which writes under a seal are under way at the same time.
import { expect, test } from "vitest";
import { createSealTurns } from "../../../provider/run/seal-turns.ts";

test("the update of a role waits for the writes before it, and those after it wait, also when one fails", async () => {
  const turns = createSealTurns();
  const log: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string) => async (): Promise<string> => {
    log.push(`${name} begins`);
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    await gate.promise;
    log.push(`${name} ends`);
    return name;
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
  const first = turns.beside(work("first"));
  const second = turns.beside(work("second"));
  const role = turns.alone(work("role"));
  const third = turns.beside(work("third"));
  const other = turns.alone(work("other role"));
  await settled();
  expect(log.splice(0)).toEqual(["first begins", "second begins"]);
  gates.get("first")?.reject(new Error("refused"));
  await expect(first).rejects.toThrow("refused");
  gates.get("second")?.resolve();
  expect(await second).toBe("second");
  await settled();
  expect(log.splice(0)).toEqual(["second ends", "role begins"]);
  gates.get("role")?.reject(new Error("denied"));
  await expect(role).rejects.toThrow("denied");
  await settled();
  expect(log.splice(0)).toEqual(["third begins"]);
  gates.get("third")?.resolve();
  await third;
  await settled();
  expect(log).toEqual(["third ends", "other role begins"]);
  gates.get("other role")?.resolve();
  expect(await other).toBe("other role");
});
