// Entries of organizations that the service does not have any more: of a development server that was restarted without a database, which
// answers like a service that denies access.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { configureGroup, startMachine } from "../../harness/provider.ts";
import { page } from "../../support/scripted.ts";

const { group } = kindRecords;

const machine = startMachine();

const GONE = "0123456789abcdef0123456789abcdef01234567";

const { file } = machine;

/** An entry that an earlier run left for the resource. */
const leave = ({ __key: key }: Json, parent: string, uid: string): void => {
  const at = Date.now() - 600_000;
  machine.leave({ key, parent, at, notBefore: at }, uid);
};

const quarantined = (): string => (existsSync(`${file()}.invalid`) ? readFileSync(`${file()}.invalid`, "utf8") : "");

const evidence = () =>
  `the organization ${GONE} is not at ${machine.service.baseUrl}: these credentials see nothing of it, but ${machine.org}`;

describe("an entry of an organization that the service does not have", () => {
  it("is dropped by a run for another organization: said once, kept in a file of its own", async () => {
    const all = [machine.inputs(), machine.inputs()] as const;
    leave(all[0], GONE, `${GONE}/0123456789abcdef`);
    leave(all[1], `${GONE}/0123456789abcdef`, `${GONE}/0123456789abcdef/0123456789abcdef`);
    const { session } = machine.run();
    for (const args of all) expect((await reconcile.create(group, session, args)).id).toContain(machine.org);
    expect(machine.messages).toEqual([
      `the intent journal ${file()}: ${evidence()}. Its entries are dropped where they are in the way, and kept in ${file()}.invalid`,
    ]);
    expect(quarantined().trim().split("\n")).toHaveLength(2);
    const again = machine.run().session;
    for (const { __key } of all)
      expect(await again.journal.findUnsettled(__key as string)).toMatchObject([{ parent: machine.org }]);
  });

  it("is dropped where the resource is an organization, at a server of the caller's own machine", async () => {
    const { parent: _parent, ...args } = machine.inputs();
    leave(args, "", GONE);
    const { id } = await machine.create({ ...args, root: true });
    expect(id).toMatch(/^[0-9a-f]{40}$/);
    expect(quarantined()).toContain(GONE);
  });

  it("is not shown in a preview, which drops nothing", async () => {
    const args = machine.inputs();
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    const parent = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    for (const own of [args, { ...args, parent }]) {
      const methods = await configureGroup(machine.run());
      await methods.check({}, { ...own, __preview: true });
    }
    expect(machine.messages).toEqual([]);
    expect(quarantined()).toBe("");
  });

  it("is settled where the program adopts a record for its resource", async () => {
    const args = machine.inputs();
    const { uid } = await machine.createByOther(args);
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    await machine.create({ ...args, adopt: uid });
    expect(quarantined()).toContain("cannot be read");
  });
});

describe("an entry whose record may exist", () => {
  it("is kept where its resource is still in that organization: the error names the journal, and what to do", async () => {
    const args: Json = { ...machine.inputs(), parent: GONE };
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    await expect(machine.create(args)).rejects.toThrow(
      new RegExp(
        `^${args.__key}: the intent journal ${file()} names ${GONE}/0123456789abcdef for it, and the record cannot be read: GetGroup .*` +
          'PERMISSION_DENIED: .*\\nUse credentials that may read it\\. If it is gone, or belongs to somebody else: npx pulumi-irm recover clean --key "' +
          `${args.__key}"\\. Until then nothing is created\\.\\nSee docs/recovery\\.md#unreadable-entry$`,
        "s",
      ),
    );
    expect(quarantined()).toBe("");
    expect(machine.posts).toBe(0);
  });

  it.each<[string, (path: string, json: Json) => Json | undefined]>([
    ["still shows a group of it", (path, json) => (/groups/.test(path) ? listed(json) : undefined)],
    ["shows no other organization either", (path) => (/groups/.test(path) ? { groups: [] } : undefined)],
  ])("is kept where the service denies the record and %s", async (_what, answer) => {
    const args = machine.inputs();
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    const lying = machine.runOver(async (request, send) => {
      const own = await send();
      if (request.method !== "GET" || own.status !== 200) return own;
      const body = answer(request.url.pathname, JSON.parse(own.body) as Json);
      return body === undefined ? own : { ...own, body: JSON.stringify(body) };
    });
    await expect(reconcile.create(group, lying.session, args)).rejects.toThrow(`the intent journal ${file()} names`);
    expect(quarantined()).toBe("");
    expect(machine.posts).toBe(0);
  });

  it("is kept in an outage: the error is that of the connection", async () => {
    const args = machine.inputs();
    leave(args, GONE, `${GONE}/0123456789abcdef`);
    const away = machine.runOver(async () => page(503));
    await expect(reconcile.create(group, away.session, args)).rejects.toThrow("UNAVAILABLE");
    expect(quarantined()).toBe("");
    expect(readdirSync(machine.journal).map((name) => join(machine.journal, name))).toContain(file());
  });
});

const listed = (json: Json): Json => ({ ...json, groups: [{ uid: `${GONE}/0123456789abcdef`, name: "theirs" }] });
