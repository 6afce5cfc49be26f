// F1 to F9, F13 and F14 of docs/faults.md: how a request and its response can fail. The server counts the attempts.
import { describe, expect, test } from "vitest";
import type { FaultScript } from "../../server/faults/script.ts";
import { KINDS } from "./judge.ts";
import type { Watch } from "./run.ts";
import { type Scenario, type Stage, type Step, scenario } from "./scenario.ts";
import type { Action, Subject } from "./subject.ts";

interface Row {
  fault: string;
  what: string;
  why: string;
  actions: Action[];
  steps: Step[];
  row: Omit<Scenario, "kind" | "action">;
}

const CHANGES: Action[] = ["update", "delete"];
const ALL: Action[] = ["create", ...CHANGES];

const steps =
  (own: Step[]) =>
  ({ operation }: Subject): FaultScript => ({ rules: [{ operation, steps: own }] });

/** The gaps between the attempts, by the server's clock. */
const gaps = ({ world, subject }: Stage): number[] => {
  const times = world.attempts(subject.operation).map(({ timeMs }) => timeMs);
  return times.slice(1).map((time, at) => time - (times[at] as number));
};

const waited =
  (least: number): NonNullable<Scenario["seen"]> =>
  (stage) =>
    expect(Math.min(...gaps(stage))).toBeGreaterThanOrEqual(least);

// Real time, in which a request must come to a server on loopback: nothing else depends on it.
const HURRIED_MS = 3_000;

/** Its request has little time, since no answer comes. */
const hurried = ({ engine, subject: { after, method } }: Stage, further: Watch = {}) =>
  engine.run("up", after, { hurry: { ms: HURRIED_MS, method }, ...further });

const UNKNOWN = /Whether the .+ was made is not known\. The intent journal keeps that/;

const ROWS: Row[] = [
  {
    fault: "F2",
    what: "a reset before the request is carried out",
    why: "nothing is found, or it may be repeated: sent again",
    actions: ALL,
    steps: [{ reset: true }],
    row: { attempts: 2 },
  },
  {
    fault: "F2",
    what: "three resets before the request is carried out",
    why: "sent again, five times at most",
    actions: ALL,
    steps: [{ reset: true }, { reset: true }, { reset: true }],
    row: { attempts: 4 },
  },
  {
    fault: "F3",
    what: "a reset after the commit",
    why: "the record is found and taken: one POST",
    actions: ["create", "replace"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 1 },
  },
  {
    fault: "F3",
    what: "a reset before, then one after the commit",
    why: "the record of the second is found",
    actions: ["create"],
    steps: [{ reset: true }, { at: "after", reset: true }],
    row: { attempts: 2 },
  },
  {
    fault: "F4",
    what: "no answer in time, and a commit while the run looks for it",
    why: "found before the run gives up",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => {
        const { world, subject } = stage;
        // The first look has found nothing, and does not know that yet.
        const reached: Watch["reached"] = async (point) => {
          const came = [subject.operation, subject.list].every((operation) => world.attempts(operation).length > 0);
          if (point !== "after reply" || !came) return;
          world.server.faults?.release();
          await world.came(subject.operation, 1, true);
        };
        return hurried(stage, { reached });
      },
    },
  },
  {
    fault: "F4",
    what: "no answer in time, and a commit after the run gave up",
    why: "the run fails with the intent open, the next one takes the record",
    actions: ["create"],
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: (stage) => hurried(stage),
      fails: UNKNOWN,
      seen: ({ world, subject }) => {
        world.server.faults?.release();
        return world.came(subject.operation, 1, true);
      },
    },
  },
  {
    fault: "F4",
    what: "no answer in time, and no commit ever",
    why: "the run fails with the intent open, the next one finds nothing and makes it",
    actions: ["create"],
    steps: [{ hold: true, reset: true }],
    row: { attempts: 1, act: (stage) => hurried(stage), fails: UNKNOWN },
  },
  {
    fault: "F4",
    what: "no answer in time, of what may be repeated",
    why: "sent again",
    actions: CHANGES,
    steps: [{ hold: true }],
    row: { attempts: 2, act: (stage) => hurried(stage), seen: ({ world }) => world.server.faults?.release() },
  },
  {
    fault: "F5",
    what: "429 with Retry-After in seconds",
    why: "nothing was done: sent again, not before",
    actions: ALL,
    steps: [{ status: 429, retryAfter: 3 }],
    row: { attempts: 2, seen: waited(3_000) },
  },
  {
    fault: "F5",
    what: "429 with Retry-After as a date",
    why: "the date is waited for, by the service's clock",
    actions: ALL,
    steps: [{ status: 429, retryAfter: 3, httpDate: true }],
    row: { attempts: 2, seen: waited(2_000) },
  },
  {
    fault: "F5",
    what: "503 with Retry-After",
    why: "may be repeated: sent again, not before",
    actions: CHANGES,
    steps: [{ status: 503, retryAfter: 3 }],
    row: { attempts: 2, seen: waited(3_000) },
  },
  {
    fault: "F5",
    what: "503 with Retry-After, of a create",
    why: "looked for first, then sent again, not before",
    actions: ["create"],
    steps: [{ status: 503, retryAfter: 15 }],
    row: { attempts: 2, seen: waited(15_000) },
  },
  {
    fault: "F5",
    what: "503 without Retry-After",
    why: "looked for, or may be repeated: sent again",
    actions: ALL,
    steps: [{ status: 503 }],
    row: { attempts: 2 },
  },
  {
    fault: "F5",
    what: "503 for ever",
    why: "five attempts, then an error",
    actions: ALL,
    steps: Array.from({ length: 9 }, () => ({ status: 503 })),
    row: { attempts: 5, fails: /a scripted failure with status 503/ },
  },
  ...[500, 502, 504].flatMap((status): Row[] => [
    {
      fault: "F6",
      what: `${status} with a page of a proxy, after the commit`,
      why: "nobody knows: the record is found",
      actions: ["create"],
      steps: [{ at: "after", status, body: "html" }],
      row: { attempts: 1 },
    },
  ]),
  ...[502, 504].flatMap((status): Row[] => [
    {
      fault: "F6",
      what: `${status} with a page of a proxy, after the commit`,
      why: "may be repeated: sent again",
      actions: CHANGES,
      steps: [{ at: "after", status, body: "html" }],
      row: { attempts: 2 },
    },
  ]),
  {
    fault: "F6",
    what: "500 of what may not be read as passing",
    why: "an error; the next run does what is left",
    actions: CHANGES,
    steps: [{ status: 500, body: "html" }],
    row: { attempts: 1, fails: "500" },
  },
  {
    fault: "F6",
    what: "504 before the commit, of a create",
    why: "it may still come, so it is not sent again; the next run finds nothing and makes it",
    actions: ["create"],
    steps: [{ status: 504, body: "html" }],
    row: { attempts: 1, fails: UNKNOWN },
  },
  {
    fault: "F7",
    what: "an answer that is cut off",
    why: "done, and not told: found",
    actions: ["create"],
    steps: [{ truncate: 20 }],
    row: { attempts: 1 },
  },
  {
    fault: "F7",
    what: "200 with a page",
    why: "done, and not told: found",
    actions: ["create"],
    steps: [{ at: "after", status: 200, body: "html" }],
    row: { attempts: 1 },
  },
  {
    fault: "F7",
    what: "an answer that is cut off, of a change",
    why: "sent again, to the same effect",
    actions: ["update"],
    steps: [{ truncate: 20 }],
    row: { attempts: 2 },
  },
  {
    fault: "F8",
    what: "401 in mid-run",
    why: "one exchange, and the request once more",
    actions: ALL,
    steps: [{ status: 401 }],
    row: { attempts: 2, seen: ({ world }) => void expect(world.attempts("ExchangeGet")).toHaveLength(2) },
  },
  {
    fault: "F8",
    what: "401 again with the new token",
    why: "an error after the second attempt",
    actions: ALL,
    steps: [{ status: 401 }, { status: 401 }],
    row: { attempts: 2, fails: "The API token was refused" },
  },
  {
    fault: "F9",
    what: "403 in an organisation that was there before",
    why: "an error at once: only what was just made is waited for",
    actions: ALL,
    steps: [{ status: 403 }],
    row: { attempts: 1, fails: "PERMISSION_DENIED" },
  },
  {
    fault: "F13",
    what: "a reset after the commit of a change",
    why: "a PATCH may be repeated: sent again, to the same effect",
    actions: ["update"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
  {
    fault: "F14",
    what: "a reset after the commit of a delete",
    why: "NOT_FOUND of the second attempt is what was asked for",
    actions: ["delete"],
    steps: [{ at: "after", reset: true }],
    row: { attempts: 2 },
  },
];

const CASES = ROWS.flatMap(({ actions, row, steps: own, ...told }) =>
  actions.flatMap((action) =>
    KINDS.map((kind) => ({ ...told, action, kind, run: { ...row, kind, action, script: steps(own) } })),
  ),
);

describe.concurrent("an answer", () => {
  test.each(CASES)("$fault: $what, $action of a $kind: $why", ({ run }) => scenario(run));
});
