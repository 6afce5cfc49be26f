// Faults of docs/faults.md that meet more than one response: F1, F6 on reads, F8 by the clock, F9, F12, F15 to F17, F21, F23,
// F25.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { judge, judgeDestroyed, KINDS } from "./judge.ts";
import { IAM } from "./owner.ts";
import { type Declared, type Program, ref } from "./program.ts";
import { killedAt, STACK, type Stage, scenario } from "./scenario.ts";
import { type Action, subjectOf } from "./subject.ts";
import { startWorld } from "./world.ts";

const MINUTE_MS = 60_000;
const CHANGES: Action[] = ["update", "delete"];
const ALL: Action[] = ["create", ...CHANGES];

const each = <T extends object>(rows: readonly T[]) => rows.flatMap((row) => KINDS.map((kind) => ({ kind, ...row })));
const acting = (actions: readonly Action[]) => each(actions.map((action) => ({ action })));

// Another address than that of the last run: the move is confirmed there, and the way back.
const SILENT = "http://127.0.0.1:9";

describe.concurrent("F1: nobody listens", () => {
  test.each(acting(ALL))(
    "$action of a $kind: an error, nothing is done, and the next run does it",
    ({ kind, action }) =>
      scenario({
        kind,
        action,
        child: { env: { IRM_MOVED_FROM: SILENT } },
        act: async ({ world, subject }) => {
          const elsewhere = world.engine(STACK, {
            env: {
              IRM_BASE_URL: SILENT,
              IRM_MOVED_FROM: world.server.baseUrl,
              IRM_TOKEN: "for-nobody",
              IRM_JOURNAL: join(world.folder, `${STACK}.journal`),
            },
          });
          return elsewhere.run("up", subject.after);
        },
        fails: "connect ECONNREFUSED",
        attempts: 0,
      }),
  );
});

// A label of 64 characters: no name server needs to be asked to know that it is none.
const NOWHERE = `https://${"n".repeat(64)}.invalid`;

describe.concurrent("F1: a name that does not resolve", () => {
  test.each(acting(ALL))(
    "$action of a $kind: an error without the token, nothing is done, and the next run does it",
    ({ kind, action }) =>
      scenario({
        kind,
        action,
        child: { env: { IRM_MOVED_FROM: NOWHERE } },
        act: async ({ world, subject }) => {
          const token = "the-token-of-nobody";
          world.tokens.push(token);
          // In a process: this one may have a proxy, which would look the name up elsewhere.
          const elsewhere = world.engine(STACK, {
            env: {
              IRM_BASE_URL: NOWHERE,
              IRM_AUTH_URL: NOWHERE,
              IRM_MOVED_FROM: world.server.baseUrl,
              IRM_TOKEN: token,
            },
          });
          const outcome = await elsewhere.start("up", subject.after).outcome;
          await elsewhere.end();
          expect([...outcome.errors, elsewhere.text()].join("\n")).not.toContain(token);
          return outcome;
        },
        fails: `no answer from ${NOWHERE}: getaddrinfo ENOTFOUND`,
        attempts: 0,
      }),
  );
});

describe.concurrent("F6: a read that a proxy answers", () => {
  test.each(each([{ status: 500 }, { status: 502 }, { status: 504 }]))("$status for a $kind is asked again", (row) =>
    scenario({
      kind: row.kind,
      action: "update",
      script: ({ kind }) => ({
        rules: [{ operation: kindRecords[kind].operations.get, steps: [{ status: row.status, body: "html" }] }],
      }),
      act: ({ engine }) => engine.run("refresh"),
      // Each of the kind is read once, and one of them once more.
      seen: ({ world, subject }) =>
        void expect(world.attempts(kindRecords[row.kind].operations.get)).toHaveLength(
          subject.before.filter(({ kind }) => kind === row.kind).length + 1,
        ),
      afterwards: ["up"],
    }),
  );
});

const HOUR_MS = 60 * MINUTE_MS;

describe.concurrent("F8: a token that expires in mid-run", () => {
  test.each(acting([...ALL, "replace"]))("$action of a $kind: one silent exchange, and the request once more", (row) =>
    scenario({
      ...row,
      act: async ({ world, subject }) => {
        // As of a runner that keeps its own token fresh.
        const file = join(world.folder, "identity-token");
        const refreshed = async () => writeFileSync(file, await world.minted());
        await refreshed();
        const engine = world.engine(STACK, { env: { IRM_IDENTITY_TOKEN: "", IRM_IDENTITY_TOKEN_FILE: file } });
        const run = engine.start("up", subject.after, { point: "before send", of: subject.method });
        await run.paused;
        world.later(HOUR_MS + MINUTE_MS);
        await refreshed();
        run.goOn();
        const outcome = await run.outcome;
        await engine.end();
        // The line for whoever reviews it.
        expect(engine.said.filter((text) => !text.startsWith("RoleBinding subject "))).toEqual([]);
        return outcome;
      },
      attempts: 2,
      seen: ({ world, subject }) => {
        expect(world.attempts(subject.operation).map(({ carriedOut }) => carriedOut)).toEqual([false, true]);
        expect(world.attempts("ExchangeGet")).toHaveLength(2);
      },
    }),
  );
});

describe.concurrent("F9: an organisation that was just made", () => {
  test.each(KINDS)("does not know us yet: the denial of a %s in it is waited for", async (kind) => {
    const world = await startWorld();
    try {
      const foreign = await world.records();
      const engine = world.engine(STACK);
      // Below a root of its own, with what it refers to, one group in the other: only the subject is denied.
      const after = subjectOf(kind, "create", world.home).after.filter(({ name }) => name !== "other-team");
      const root: Declared = { name: "root", kind: "group", inputs: { root: true, name: "root" } };
      const program: Program = [root, ...after].map((one) =>
        one.inputs.parent === world.home ? { ...one, inputs: { ...one.inputs, parent: ref("root") } } : one,
      );
      const { operations } = kindRecords[kind];
      const before = program.filter((one) => one.kind === kind && one.name !== "subject").map(() => ({}));
      const denied = [{ status: 403 }, { status: 403 }, { status: 403 }];
      world.server.faults?.set({ rules: [{ operation: operations.create, steps: [...before, ...denied] }] });
      expect(await engine.run("up", program)).toMatchObject({ errors: [] });
      const times = world.attempts(operations.create).map(({ timeMs }) => timeMs);
      expect(times).toHaveLength(before.length + denied.length + 1);
      const [last = 0, third = 0, second = 0] = times.toReversed();
      expect([last - third >= 4_000, third - second >= 2_000]).toEqual([true, true]);
      // A new token for each denial: the new permission is in none that is older.
      expect(world.attempts("ExchangeGet")).toHaveLength(1 + denied.length);
      world.server.faults?.clear();
      expect((await judge(world, STACK, engine, program, foreign)).problems).toEqual([]);
      expect(await engine.run("destroy")).toMatchObject({ errors: [] });
      expect(await judgeDestroyed(world, STACK, foreign)).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe.concurrent("F12: made, and what follows fails", () => {
  test.each(KINDS)("a %s is recorded with its uid and the reason", (kind) =>
    scenario({
      kind,
      action: "create",
      act: async (stage) => {
        // The run before was killed; this one takes its record and wants it otherwise.
        await killedAt("after reply")(stage);
        const { world, engine, subject } = stage;
        const { operations } = kindRecords[kind];
        world.server.faults?.set({
          rules: [{ operation: operations.update as OperationName, steps: [{ status: 500 }] }],
        });
        const { after } = subjectOf(kind, "update", world.home);
        const outcome = await engine.run("up", after);
        expect(outcome.errors).toEqual([expect.stringContaining("500")]);
        expect(stage.uid("subject")).toMatch(/^[0-9a-f]{40}\//);
        expect(await engine.run("preview", after)).toEqual({ steps: ["update subject"], errors: [] });
        expect(world.attempts(subject.operation)).toEqual([]);
        return outcome;
      },
      fails: "500",
    }),
  );
});

describe.concurrent("F15: what is not ours holds it", () => {
  const foreignIn: Record<"group" | "identity" | "role", (stage: Stage) => Promise<[string, Json]>> = {
    group: async ({ uid }) => [`groups/${uid("subject")}`, { name: "not-ours" }],
    identity: async ({ world, uid }) => [
      `roleBindings/${world.home}`,
      { identityUid: uid("subject"), roleUid: world.foreign.role },
    ],
    role: async ({ world, uid }) => [
      `roleBindings/${uid("team")}`,
      { identityUid: world.foreign.identity, roleUid: uid("subject") },
    ],
  };
  test.each(["group", "identity", "role"] as const)("a %s is refused with the violation, and stays", (kind) => {
    let foreign: Json;
    return scenario({
      kind,
      action: "delete",
      act: async (stage) => {
        const { world, engine, subject } = stage;
        const [path, body] = await foreignIn[kind](stage);
        foreign = await world.call("POST", `${IAM}/${path}`, body);
        return engine.run("up", subject.after);
      },
      fails: "FAILED_PRECONDITION",
      seen: async ({ world, uid }, outcome) => {
        expect(outcome?.errors.join()).toContain(foreign.uid as string);
        const live = await world.records();
        expect([...live.keys()]).toEqual(expect.arrayContaining([foreign.uid, uid("subject")]));
        const path = `name` in foreign ? "groups" : "roleBindings";
        await world.call("DELETE", `${IAM}/${path}/${foreign.uid}`);
      },
    });
  });
});

// Nothing is in a role binding and nothing refers to one: none can be held by what is not ours.
describe.concurrent("F15: what is not ours stands beside it", () => {
  test("a roleBinding goes, and the one of somebody else to the same identity and role stays", () =>
    scenario({
      kind: "roleBinding",
      action: "delete",
      act: async ({ world, engine, subject, uid }) => {
        const beside = await world.call("POST", `${IAM}/roleBindings/${uid("team")}`, {
          identityUid: uid("who"),
          roleUid: uid("what"),
        });
        const ours = uid("subject");
        const outcome = await engine.run("up", subject.after);
        expect(world.attempts(subject.operation)).toHaveLength(1);
        const live = await world.records();
        expect([live.has(ours), live.has(beside.uid as string)]).toEqual([false, true]);
        await world.call("DELETE", `${IAM}/roleBindings/${beside.uid}`);
        return outcome;
      },
    }));
});

describe.concurrent("F16: an order of deletes that the engine does not know", () => {
  test.each(KINDS)("a %s that is named by plain uids goes before what it is in and what it names", (kind) =>
    scenario({
      kind,
      action: "create",
      settled: async ({ world, engine, subject, uid }) => {
        const literal = subject.after.map((one) => ({
          ...one,
          inputs: Object.fromEntries(
            Object.entries(one.inputs).map(([name, value]) => {
              const target = (value as { ref?: string } | null)?.ref;
              return [name, target === undefined ? value : uid(target)];
            }),
          ),
        }));
        expect(await engine.run("up", literal)).toEqual({ steps: [], errors: [] });
        world.server.faults?.clear();
        expect(await engine.run("destroy")).toMatchObject({ errors: [] });
        expect(await engine.run("up", subject.after)).toMatchObject({ errors: [] });
      },
    }),
  );
});

describe.concurrent("F17: changed by somebody else", () => {
  test.each(each([{ how: "deleted" }, { how: "changed" }]))(
    "a $kind that was $how is as declared again",
    ({ kind, how }) =>
      scenario({
        kind,
        action: "create",
        afterwards: ["refresh", "up"],
        act: async ({ world, engine, subject, uid }) => {
          const outcome = await engine.run("up", subject.after);
          const path = `${IAM}/${kindRecords[kind].list.plural}/${uid("subject")}`;
          const body =
            kind === "roleBinding" ? { roleUid: uid("what-else") } : { name: "renamed", description: "by hand" };
          if (how === "deleted") await world.call("DELETE", path);
          else await world.call("PATCH", `${path}?updateMask=${Object.keys(body).join(",")}`, body);
          return outcome;
        },
      }),
  );
});

describe.concurrent("F21: ^C while it is made", () => {
  test.each(acting([...ALL, "replace"]))("$action of a $kind ends, and is in the state", ({ kind, action }) =>
    scenario({
      kind,
      action,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async ({ world, engine, subject }) => {
        const { outcome } = engine.start("up", subject.after);
        await world.came(subject.operation);
        engine.interrupt();
        world.server.faults?.release();
        const { errors } = await outcome;
        expect(errors).toEqual([]);
        await engine.end();
        return undefined;
      },
      attempts: 1,
      afterwards: ["up"],
    }),
  );
});

describe.concurrent("F23: a replacement whose one half fails", () => {
  test.each(KINDS)("a %s that cannot be made leaves the old one in place", (kind) =>
    scenario({
      kind,
      action: "replace",
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      seen: async ({ world, uid }) => expect((await world.records()).has(uid("subject"))).toBe(true),
    }),
  );
  test.each(KINDS)("the old %s that cannot be deleted is deleted by the next run", (kind) =>
    scenario({
      kind,
      action: "replace",
      script: () => ({ rules: [{ operation: kindRecords[kind].operations.delete, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      attempts: 1,
    }),
  );
});

describe.concurrent("F25: a service that is newer", () => {
  const newer = { futureField: "new", futureKind: "KIND_FUTURE", kind: "GROUP_KIND_FUTURE" };
  test.each(acting([...ALL, "replace"]))("$action of a $kind with fields that nobody knows", ({ kind, action }) =>
    scenario({
      kind,
      action,
      child: { newer },
      settled: async ({ engine, subject }) => {
        expect(await engine.run("refresh")).toMatchObject({ errors: [] });
        expect(await engine.run("preview", subject.after)).toEqual({ steps: [], errors: [] });
      },
    }),
  );
});
