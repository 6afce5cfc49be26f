import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { deletesOf, noteDeleted } from "../../../provider/reconcile/delete.ts";
import { remove } from "../../../provider/reconcile/index.ts";
import { GROUP, IDENTITY, json, ORG, ROLE, refusal, scriptedSession } from "../../support/scripted.ts";

const { group, role } = kindRecords;

const notEmpty = json(
  {
    code: 9,
    message: "Precondition failed: cannot delete group with child groups",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
        violations: [{ type: "RESOURCE_NOT_EMPTY", description: "cannot delete group with child groups" }],
      },
    ],
  },
  400,
);

const envelope = (plural: string, items: object[], totalCount = items.length) =>
  json({ [plural]: items, totalCount: String(totalCount), skipped: 0 });

/** A service in which `left()` groups are below the one that is deleted. It is deleted when none are left. */
const shrinking = (left: () => number) => (request: HttpRequest) => {
  if (request.method === "DELETE") return left() > 0 ? notEmpty : json({});
  const plural = request.url.pathname.split("/").at(-1) as string;
  if (plural !== "groups") return envelope(plural, []);
  const shown = Array.from({ length: Math.min(20, left()) }, (_, i) => ({
    uid: `${GROUP}/${"0".repeat(14)}${10 + i}`,
    name: `g${i}`,
  }));
  return envelope("groups", shown, left());
};

describe("a group that is not empty", () => {
  it("is deleted once its children are, as long as they become fewer", async () => {
    let left = 12;
    const { session, clock } = scriptedSession(shrinking(() => left));
    const sleep = clock.sleep;
    clock.sleep = (ms) => {
      // One of them is deleted every nine seconds.
      if (clock.now() >= (13 - left) * 9_000) left--;
      return sleep(ms);
    };
    await remove(group, session, GROUP, {});
    expect(clock.now()).toBeGreaterThan(90_000);
  });

  it("fails after ten seconds of growing waits without progress, lists what is left, and says what to do", async () => {
    const { session, clock } = scriptedSession(shrinking(() => 23));
    const error = await remove(group, session, GROUP, {}).catch((thrown: Error) => thrown);
    const lines = (error as Error).message.split("\n");
    expect(lines[0]).toBe(
      `DeleteGroup group ${GROUP}: FAILED_PRECONDITION: Precondition failed: cannot delete group with child groups`,
    );
    expect(lines[1]).toBe("  - RESOURCE_NOT_EMPTY: cannot delete group with child groups");
    expect(lines[2]).toBe("No progress for 10 s; 23 records block the deletion:");
    expect(lines[3]).toBe(`  - group ${GROUP}/0000000000000010 "g0"`);
    expect(lines).toHaveLength(3 + 20 + 3);
    expect(lines.at(-1)).toBe("See docs/troubleshooting.md#blocked");
    expect(lines.at(-3)).toBe("  - and 3 more");
    expect(lines.at(-2)).toBe(
      "Delete what is listed, or declare it in this program, and run again. forceDestroy: true, once pulumi up has stored it, deletes it too.",
    );
    expect(clock.now()).toBe(10_000);
    expect(clock.sleeps.slice(0, 7)).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
  });

  /** A service that shows nothing below the group, and answers its deletes so. */
  const answering = (remove: () => ReturnType<typeof json>) => (request: HttpRequest) =>
    request.method === "DELETE" ? remove() : envelope(request.url.pathname.split("/").at(-1) as string, []);

  it("waits while deletes below it finish in this process, whatever the lists say", async () => {
    let attempts = 0;
    const { session, clock } = scriptedSession(
      answering(() => {
        attempts++;
        clock.advance(6_000);
        noteDeleted(session, `${GROUP}/00000000000000${10 + attempts}`);
        return attempts < 20 ? notEmpty : json({});
      }),
    );
    await remove(group, session, GROUP, {});
    expect(attempts).toBe(20);
  });

  it("does not count deletes elsewhere as progress", async () => {
    const { session, clock } = scriptedSession(
      answering(() => {
        clock.advance(6_000);
        noteDeleted(session, `${ORG}/ffffffffffffffff`);
        return notEmpty;
      }),
    );
    await expect(remove(group, session, GROUP, {})).rejects.toThrow(
      "No progress for 10 s, and the caller sees no record that blocks the deletion",
    );
  });

  it("is retried at once after a delete below it", async () => {
    let attempts = 0;
    const { session, clock } = scriptedSession(answering(() => (++attempts === 1 ? notEmpty : json({}))));
    clock.sleep = () => new Promise(() => undefined);
    setImmediate(() => noteDeleted(session, `${GROUP}/0000000000000001`));
    await remove(group, session, GROUP, {});
    expect(attempts).toBe(2);
  });

  it("fails for its own reason when the remaining records cannot be listed", async () => {
    const { session } = scriptedSession((request) =>
      request.method === "DELETE" ? notEmpty : refusal("PERMISSION_DENIED", "no"),
    );
    const error = await remove(group, session, GROUP, {}).catch((thrown: Error) => thrown);
    expect(String(error)).toContain("cannot delete group with child groups");
    expect(String(error)).toContain("No progress for 10 s, and what blocks the deletion could not be listed:\n");
    expect(String(error)).toContain("- groups: could not be listed: PERMISSION_DENIED: Permission denied: no");
  });
});

const BINDING = `${GROUP}/3333333333333333`;
const isBound = refusal("FAILED_PRECONDITION", "cannot delete role that is bound");

it("a role that is bound waits for the role bindings that name it", async () => {
  const { session, requests } = scriptedSession((request) => {
    if (request.method === "GET") return envelope("roleBindings", [{ uid: BINDING }]);
    if (request.url.pathname.includes("roleBindings")) return json({});
    return deletesOf(session).counts.has(ROLE) ? json({}) : isBound;
  });
  const binding = { uid: BINDING, role: { uid: ROLE } };
  const { roleBinding } = kindRecords;
  await Promise.all([remove(role, session, ROLE, {}), remove(roleBinding, session, binding.uid, binding)]);
  expect(requests.at(-1)?.url.pathname).toBe(`/iam/v2beta1/roles/${ROLE}`);
});

it("a role that is bound names the role bindings that block it; a role has no forceDestroy", async () => {
  const binding = { uid: BINDING, identity: { uid: IDENTITY, name: "ci" }, role: { uid: ROLE, name: "r" } };
  const { session } = scriptedSession((request) =>
    request.method === "GET" ? envelope("roleBindings", [binding]) : isBound,
  );
  await expect(remove(role, session, ROLE, {})).rejects.toThrow(
    `No progress for 10 s; 1 record blocks the deletion:\n  - role binding ${binding.uid} (ci as r)\n` +
      "Delete what is listed, or declare it in this program, and run again.",
  );
});
