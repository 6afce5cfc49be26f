// A create whose answer is lost, and what an earlier run left: against the reference server, with the fault put between the
// loop and the wire. Sessions stand for processes; they share the journal's folder as two runs on a machine do.
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Incomplete } from "../../provider/failure.ts";
import { group } from "../../provider/kind/group.ts";
import { roleBinding } from "../../provider/kind/role-binding.ts";
import * as reconcile from "../../provider/reconcile.ts";
import { AttemptError } from "../../provider/retry.ts";
import { checkedConfig, type Session, sessionWith } from "../../provider/session.ts";
import { type HttpRequest, systemTransport, type Transport } from "../../provider/transport.ts";
import { ApiError, type Json } from "../../schema/index.ts";
import {
  getter,
  journalFolder,
  keyOf,
  page,
  type Service,
  startService,
  type VirtualClock,
  virtualClock,
} from "./double.ts";

let service: Service;
let org: string;
beforeAll(async () => {
  service = await startService();
  org = service.organization as string;
});
afterAll(() => service.close());

let journal: string;
let said: string[];
let posts: number;
beforeEach(() => {
  journal = mkdtempSync(join(journalFolder, "create-"));
  said = [];
  posts = 0;
});

type Fault =
  | "503 in 30 s"
  | "refused"
  | "reset"
  | "reset after"
  | "timeout"
  | "timeout after"
  | "502 after"
  | "503"
  | "truncated";

const gone = (sent: boolean, timedOut = false) =>
  new AttemptError({ sent, ...(timedOut && { timedOut }) }, new ApiError("UNAVAILABLE", "no answer"));

/** A process: its POSTs meet the faults, one each, then nothing. */
const run = (...faults: Fault[]): { session: Session; clock: VirtualClock } => runAt(0, ...faults);

/** ... in which the service says that it is `aheadMs` later. */
const runAt = (aheadMs: number, ...faults: Fault[]): { session: Session; clock: VirtualClock } => {
  const direct = systemTransport();
  const send: Transport = async (request) => {
    const answer = await direct(request);
    if (slow.pathname !== undefined && request.url.pathname.endsWith(slow.pathname) && request.method === "GET") {
      clock.advance(slow.ms);
      slow.pathname = undefined;
      return { ...answer, body: "{}" };
    }
    const date = new Date(Date.parse(String(answer.headers.date)) + aheadMs).toUTCString();
    return { ...answer, headers: { ...answer.headers, date } };
  };
  const transport: Transport = async (request: HttpRequest) => {
    if (request.method !== "POST") return send(request);
    posts += 1;
    const fault = faults.shift();
    switch (fault) {
      case "refused":
        throw gone(false);
      case "reset":
        throw gone(true);
      case "timeout":
        throw gone(true, true);
      case "503":
        return page(503);
      case "503 in 30 s":
        return { ...page(503), headers: { "retry-after": "30" } };
    }
    const answer = await send(request);
    switch (fault) {
      case "reset after":
        throw gone(true);
      case "timeout after":
        throw gone(true, true);
      case "502 after":
        return page(502);
      case "truncated":
        return { ...answer, body: answer.body.slice(0, 10) };
      default:
        return answer;
    }
  };
  const clock = virtualClock();
  const env = { ...service.env, IRM_JOURNAL: journal };
  const outside = { env, clock, transport, say: (text: string) => void said.push(text) };
  return { session: sessionWith(checkedConfig(getter(), env), outside), clock };
};

/** A process on another machine. */
const otherRun = (): Session => {
  const own = journal;
  journal = mkdtempSync(join(journalFolder, "other-"));
  const { session } = run();
  journal = own;
  return session;
};

/** The next read of this path takes so long and shows nothing yet. */
const slow: { pathname?: string | undefined; ms: number } = { ms: 0 };

let count = 0;
const inputs = (): Json => {
  count += 1;
  return { ...keyOf(`g${count}`), parent: org, name: `g${count}`, description: "d" };
};

const named = async (name: unknown): Promise<Json[]> => {
  const answer = await service.session.call("ListGroups", { uidp: { childrenOf: org }, name: name as string });
  return answer.groups as unknown as Json[];
};

/** Calls whose lists of this operation are empty. */
const hiding =
  (session: Session, operation: string): Session["call"] =>
  async (name, request, options) =>
    name === operation ? ({} as never) : session.call(name, request, options);

const lines = (): Json[] =>
  readdirSync(journal)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(journal, name), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as Json);

describe("an answer that is lost", () => {
  it.each<[Fault[], number, string]>([
    [["refused"], 2, "nothing was sent, so it is sent again"],
    [["reset"], 2, "no record is found, so it is sent again"],
    [["503"], 2, "no record is found, so it is sent again"],
    [["reset after"], 1, "the record is found"],
    [["502 after"], 1, "the record is found"],
    [["timeout after"], 1, "the record is found"],
    [["truncated"], 1, "the record is found"],
    [["reset", "reset after"], 2, "the second one's record is found"],
  ])("%s: one record, after %i requests: %s", async (faults, requests) => {
    const args = inputs();
    const { session } = run(...faults);
    const { id, outs } = await reconcile.create(group, session, args);
    expect(posts).toBe(requests);
    expect(await named(args.name)).toMatchObject([{ uid: id }]);
    expect(outs).toMatchObject({ uid: id, name: args.name, description: "d" });
  });

  it("with a wait that the service asks for: sent again once that is over, looking included", async () => {
    const { session, clock } = run("503 in 30 s");
    await reconcile.create(group, session, inputs());
    expect(posts).toBe(2);
    expect(clock.now()).toBe(30_500);
    expect(clock.sleeps.length).toBeGreaterThan(1);
  });

  it("is looked for once more when the first look took longer than the lag", async () => {
    const args = inputs();
    // So that there is a journal, and no list of what is alike.
    await reconcile.create(group, run().session, inputs());
    Object.assign(slow, { pathname: "/groups", ms: 6_000 });
    const { id } = await reconcile.create(group, run("reset after").session, args);
    expect(posts).toBe(2);
    expect(await named(args.name)).toMatchObject([{ uid: id }]);
  });

  it("by a time-out, with no record found: fails, and the next run finds what came late", async () => {
    const args = inputs();
    await expect(reconcile.create(group, run("timeout").session, args)).rejects.toThrow(
      "Whether the group was made is not known. The intent journal keeps that; the next run looks for it before it makes one.",
    );
    expect(await named(args.name)).toEqual([]);
    const late = await service.session.call("CreateGroup", {
      parent: org,
      group: { name: args.name as string, description: "d" },
    } as never);
    const { id } = await reconcile.create(group, run().session, args);
    expect(id).toBe((late as Json).uid);
    expect(posts).toBe(1);
    expect(said).toEqual([expect.stringContaining(`takes group ${id} "${args.name}"`)]);
  });

  it("by a time-out, with no record found by the next run either: it makes one, once the request's time is up", async () => {
    const args = inputs();
    await reconcile.create(group, run("timeout").session, args).catch(() => undefined);
    const { session, clock } = run();
    const { id } = await reconcile.create(group, session, args);
    expect(await named(args.name)).toMatchObject([{ uid: id }]);
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
  });

  it("is settled by the record of that time only: an older one of the same name is not taken", async () => {
    const args = inputs();
    const older = await service.session.call("CreateGroup", {
      parent: org,
      group: { name: args.name as string, description: "d" },
    } as never);
    const { id } = await reconcile.create(group, runAt(10_000, "reset").session, args);
    expect(id).not.toBe((older as Json).uid);
    expect(posts).toBe(2);
  });

  it("is settled by a record with the same inputs only", async () => {
    const args = inputs();
    const { session } = run("reset");
    const other = await service.session.call("CreateGroup", {
      parent: org,
      group: { name: args.name as string, description: "another" },
    } as never);
    const { id } = await reconcile.create(group, session, args);
    expect(id).not.toBe((other as Json).uid);
  });

  it("with two records that may be it: an error that lists them, and nothing is made", async () => {
    const args = inputs();
    const twins: string[] = [];
    for (let i = 0; i < 2; i += 1) {
      const made = await service.session.call("CreateGroup", {
        parent: org,
        group: { name: args.name as string, description: "d" },
      } as never);
      twins.push((made as Json).uid as string);
    }
    const error = (await reconcile.create(group, run("reset").session, args).catch((e: unknown) => e)) as Error;
    for (const uid of twins) expect(error.message).toContain(`group ${uid} "${args.name}", made 2`);
    expect(error.message).toContain('Keep one by adopt: "<uid>" and delete the others.');
    expect(posts).toBe(1);
  });

  it("of two resources that are alike: the next run gives each one of the two records", async () => {
    const args = inputs();
    const other = { ...args, ...keyOf("alike-too") };
    for (const one of [args, other]) {
      // Its record does not show while the run lasts.
      const { session } = run("timeout after");
      const hidden = { ...session, call: hiding(session, "ListGroups") };
      await expect(reconcile.create(group, hidden, one)).rejects.toThrow("Whether the group was made is not known");
    }
    const next = run().session;
    const ids = await Promise.all([args, other].map(async (one) => (await reconcile.create(group, next, one)).id));
    expect(new Set(ids).size).toBe(2);
    expect((await named(args.name)).map(({ uid }) => uid).sort()).toEqual(ids.sort());
    expect(posts).toBe(2);
  });

  it("of one of two resources that are alike: each gets its own record", async () => {
    const args = inputs();
    const { session } = run();
    const first = await reconcile.create(group, session, args);
    const second = await reconcile.create(group, run("reset after").session, { ...args, ...keyOf("alike") });
    expect(second.id).not.toBe(first.id);
    expect(await named(args.name)).toHaveLength(2);
  });
});

describe("the journal", () => {
  it("has the intent before the POST, with no input in it but the parent; nobody else may read it", async () => {
    const args: Json = { ...inputs(), description: "very secret" };
    await reconcile.create(group, run().session, args);
    const [intent, made] = lines();
    expect(intent).toEqual({
      intent: expect.any(String),
      key: args.__key,
      kind: "group",
      parent: org,
      inputs: expect.stringMatching(/^[0-9a-f]{64}$/),
      given: [],
      at: expect.any(Number),
      notBefore: expect.any(Number),
    });
    expect(made).toEqual({ made: intent?.intent, uid: expect.stringContaining(org) });
    const [name] = readdirSync(journal).filter((one) => one.endsWith(".jsonl"));
    expect(statSync(join(journal, name as string)).mode & 0o777).toBe(0o600);
  });

  it("gives a record that the engine never heard of to the resource that it was made for, without a second POST", async () => {
    const args = inputs();
    const killed = await reconcile.create(group, run().session, args);
    const { id } = await reconcile.create(group, run().session, args);
    expect(id).toBe(killed.id);
    expect(posts).toBe(1);
  });

  it("gives it also when the program has changed in between, and makes it what the program says now", async () => {
    const args = inputs();
    await reconcile.create(group, run("timeout after").session, args).catch(() => undefined);
    const killed = await reconcile.create(group, run().session, { ...args, description: "new" });
    expect(await named(args.name)).toMatchObject([{ uid: killed.id, description: "new" }]);
  });

  it("does not give a record that the engine has asked for since", async () => {
    const args = inputs();
    const first = await reconcile.create(group, run().session, args);
    await run().session.journal.known(first.id, args.__key as string);
    const second = await reconcile.create(group, run().session, args);
    expect(second.id).not.toBe(first.id);
  });

  it("forgets a record that is gone", async () => {
    const args = inputs();
    const first = await reconcile.create(group, run().session, args);
    await service.session.call("DeleteGroup", { uid: first.id });
    const second = await reconcile.create(group, run().session, args);
    expect(await named(args.name)).toMatchObject([{ uid: second.id }]);
  });

  it("that cannot be written refuses before the POST", async () => {
    writeFileSync(join(journal, "file"), "");
    journal = join(journal, "file", "below");
    await expect(reconcile.create(group, run().session, inputs())).rejects.toThrow(
      /^the intent journal .* cannot be (read|written) \(ENOTDIR\); make room or choose another folder: irm:journal/,
    );
    expect(posts).toBe(0);
  });
});

describe("a runner without a journal", () => {
  it("names what looks exactly like the record that it makes", async () => {
    const args = inputs();
    const { uid } = (await service.session.call("CreateGroup", {
      parent: org,
      group: { name: args.name as string, description: "d" },
    } as never)) as Json;
    await reconcile.create(group, run().session, args);
    expect(said).toEqual([expect.stringContaining(`- group ${uid} "${args.name}", made `)]);
    expect(await named(args.name)).toHaveLength(2);
  });
});

describe("adoption", () => {
  it("takes the record, changes what differs, and remembers that it was there before", async () => {
    const args = inputs();
    const there = (await service.session.call("CreateGroup", {
      parent: org,
      group: { name: args.name as string, description: "old" },
    } as never)) as Json;
    const { id, outs } = await reconcile.create(group, run().session, { ...args, adopt: there.uid });
    expect(id).toBe(there.uid);
    expect(outs).toMatchObject({ description: "d", adopted: true });
    expect(posts).toBe(0);
    await reconcile.remove(group, run().session, id, outs);
    expect(await named(args.name)).toMatchObject([{ uid: id }]);
    await reconcile.remove(group, run().session, id, { ...outs, deleteAdopted: true });
    expect(await named(args.name)).toEqual([]);
  });

  it("settles what an earlier run left open: with two that may be it, a person says which", async () => {
    const args = inputs();
    const twins = await Promise.all([
      reconcile.create(group, otherRun(), args),
      reconcile.create(group, otherRun(), args),
    ]);
    await reconcile.create(group, run("reset").session, args).catch(() => undefined);
    const [kept] = twins;
    const { id } = await reconcile.create(group, run().session, { ...args, adopt: kept.id });
    expect(id).toBe(kept.id);
    expect(await run().session.journal.left(args.__key as string)).toEqual([]);
  });

  it("of a record that is elsewhere, or not there, changes nothing", async () => {
    const args = inputs();
    const below = `${org}/00000000000000aa`;
    await expect(
      reconcile.create(group, run().session, { ...args, adopt: `${below}/00000000000000ab` }),
    ).rejects.toThrow(`${args.__key}: adopt: group ${below}/00000000000000ab is in ${below}, not in ${org}`);
    await expect(reconcile.create(group, run().session, { ...args, adopt: below })).rejects.toThrow(
      `${args.__key}: adopt: group ${below} does not exist; leave adopt out to make a new one`,
    );
    expect(posts).toBe(0);
  });

  it("of a record that another resource of the run has taken, or that the run deletes, is refused", async () => {
    const args = inputs();
    const { session } = run();
    const { id } = await reconcile.create(group, session, args);
    await expect(reconcile.create(group, session, { ...args, ...keyOf("second"), adopt: id })).rejects.toThrow(
      `adopt: group ${id} belongs to ${args.__key}`,
    );
    const next = run().session;
    next.claims.release(id);
    await expect(reconcile.create(group, next, { ...args, ...keyOf("third"), adopt: id })).rejects.toThrow(
      `adopt: group ${id} is being deleted by this run`,
    );
  });

  it("whose change fails is recorded with its uid, and the next run goes on", async () => {
    const { session } = run();
    const there = await reconcile.create(group, session, inputs());
    const args = { ...keyOf("fails"), parent: org, name: "x".repeat(300), adopt: there.id, __provider: "text" };
    const error = (await reconcile.create(group, run().session, args).catch((e: unknown) => e)) as Incomplete;
    expect(error.id).toBe(there.id);
    expect(error.properties).toMatchObject({ uid: there.id, adopted: true, __provider: "text" });
    expect(error.reasons[0]).toContain(`UpdateGroup group ${there.id}`);
  });

  it("keeps a record that this run has taken from being deleted under its old name", async () => {
    const first = await reconcile.create(group, run().session, inputs());
    const { session } = run();
    await reconcile.create(group, session, { ...inputs(), adopt: first.id });
    await reconcile.remove(group, session, first.id, first.outs);
    expect(said.at(-1)).toContain(`${first.id}`);
    expect(said.at(-1)).toContain("stays: another resource of this stack has taken it");
    expect(await service.session.call("GetGroup", { uid: first.id })).toMatchObject({ uid: first.id });
  });
});

describe("a role binding whose answer is lost", () => {
  it("is found by its identity and role", async () => {
    const { roles } = await service.session.call("ListRoles", { uidp: { inRoot: true }, name: "viewer" });
    const roleUid = (roles as unknown as Json[])[0]?.uid;
    const args = { ...keyOf("rb"), parent: org, identityUid: service.identity, roleUid };
    const { id } = await reconcile.create(roleBinding, run("reset after").session, args);
    expect(posts).toBe(1);
    expect(id.startsWith(`${org}/`)).toBe(true);
  });
});
