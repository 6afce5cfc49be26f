// A write that the server has acknowledged survives `kill -9` (docs/faults.md#f11). The test kills a process while writes
// are under way. Every acknowledged write is there afterwards.
import { describe, expect, test, vi } from "vitest";
import { createServer } from "../../server/index.ts";
import { startCommand } from "../support/command.ts";
import { createHttpClient } from "../support/http.ts";
import { createRandom } from "../support/random.ts";
import { testFolder } from "../support/test-folder.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = testFolder();

const GROUPS = "/iam/v2beta1/groups";
const WRITERS = 4;
const ACKNOWLEDGED = 60;

describe("after SIGKILL", () => {
  test.each([1, 2])("the server has every acknowledged write (seed %i)", async (seed) => {
    const db = folder.path(`killed-${seed}.db`);
    const server = startCommand("serve", "--dev", "--json", "--db", db, "--log-level", "error");
    const { baseUrl, organization, token } = JSON.parse(await server.firstLine);
    const client = createHttpClient(baseUrl);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const send = (method: string, target: string, body?: object) =>
      client.send({ method, target, headers, ...(body && { body: JSON.stringify(body) }) });

    /** what was acknowledged: description by uid, null = deleted */
    const expected = new Map<string, string | null>();
    const uncertain = new Set<string>();
    const random = createRandom(seed);
    let acknowledged = 0;

    const write = async () => {
      const known = [...expected].filter(([uid, state]) => state !== null && !uncertain.has(uid));
      const [uid] = known.length > 3 ? random.pick(known) : [];
      const kind = uid ? random.below(3) : 0;
      const description = `write ${acknowledged} ${random.hex(8)}`;
      // Until it is answered, a change of a record may be there or not.
      if (kind > 0) uncertain.add(uid as string);
      const answer = await [
        () => send("POST", `${GROUPS}/${organization}`, { name: "g", description }),
        () => send("PATCH", `${GROUPS}/${uid}`, { description }),
        () => send("DELETE", `${GROUPS}/${uid}`),
      ][kind]?.();
      expect(answer?.status).toBe(200);
      expected.set(kind === 0 ? answer?.json.uid : (uid as string), kind === 2 ? null : description);
      if (kind > 0) uncertain.delete(uid as string);
      acknowledged += 1;
      if (acknowledged === ACKNOWLEDGED) server.process.kill("SIGKILL");
    };
    // Several at once, each until its connection breaks: some are under way when the process dies.
    const writers = Array.from({ length: WRITERS }, async () => {
      for (;;) {
        try {
          await write();
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === undefined) throw error;
          return;
        }
      }
    });
    await Promise.all(writers);
    client.close();
    expect(await server.finished).toMatchObject({ code: null });
    expect(acknowledged).toBeGreaterThanOrEqual(ACKNOWLEDGED);

    const again = await createServer({ store: db, dev: true, port: Number(new URL(baseUrl).port) });
    const reader = createHttpClient(again.baseUrl);
    for (const [uid, description] of expected) {
      if (uncertain.has(uid)) continue;
      // The token from before the kill, too: its key was on the disk.
      const answer = await reader.send({ method: "GET", target: `${GROUPS}/${uid}`, headers });
      expect([answer.status, answer.json.description]).toEqual(
        description === null ? [404, undefined] : [200, description],
      );
    }
    reader.close();
    await again.close();
  });
});
