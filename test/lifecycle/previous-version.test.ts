// A stack, a journal and a database that an earlier version wrote: this version reads, changes and destroys them.
// previous/record.ts says what they hold and how they were recorded.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typeOfToken } from "../../provider/record/kind.ts";
import { isAncestor, resources } from "../../schema/index.ts";
import { type SeenRequest, writesOf } from "../harness/api-process.ts";
import type { StateResource } from "../harness/engine-stack.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { runCommand } from "../support/command.ts";
import { journalName, PASSPHRASE, PROJECT, readPart, restoreRecords, VERSIONS } from "./previous/recording.ts";

/** By a GET of its own, or in a list of those that were read at the same time, or of its organization. */
const isRead = ({ path, operation, query }: SeenRequest, uid: string, type: string): boolean => {
  if (path.endsWith(`/${uid}`)) return true;
  const kind = Object.values(resources).find((one) => one.type === typeOfToken(type));
  if (operation === undefined || operation !== kind?.list.operation) return false;
  const ids = query?.["uidp.ids"]?.split(",") ?? [];
  return ids.includes(uid) || isAncestor(query?.["uidp.descendantsOf"] ?? "none", uid);
};

// Once 0.1.0 is released there is a recording.
it.skipIf(VERSIONS.length > 0)("the first release can be recorded: its program exists", () => {
  expect(readPart("0.1.0", "program")).toContain("process.env");
});

/** To say what the state has of a record to adopt, the engine adds its own provider. */
const idsOf = (all: StateResource[]) =>
  all.filter(({ type }) => type !== "pulumi:providers:pulumi").map(({ id }) => id);

describe.each(VERSIONS)("what version %s left behind", (version) => {
  let place: Workplace;
  let program: Program;
  let recorded: StateResource[];
  const phase = (name: string) => program.write(`process.env.PHASE = "${name}";\n${readPart(version, "program")}`);

  const journals = () => join(place.folder, "journal");

  beforeAll(async () => {
    place = await createWorkplace([], (file) => restoreRecords(version, file));
    const { organization: ORGANIZATION, baseUrl } = place.server;
    const ANSWERED = place.uidOf("groups", "of another");
    const env = { ORGANIZATION, ANSWERED, PULUMI_CONFIG_PASSPHRASE: PASSPHRASE };
    program = await place.program(PROJECT, "", env);
    const [stack, file] = [readPart(version, "stack", baseUrl), join(place.folder, "stack.json")];
    recorded = JSON.parse(stack).deployment.resources;
    writeFileSync(file, stack);
    await program.must("stack", "import", "--file", file);
    mkdirSync(journals());
    const journal = journalName(`file://${join(program.folder, "state")}`, baseUrl);
    writeFileSync(join(journals(), journal), readPart(version, "journal"));
  });
  afterAll(() => place.close());

  it("is read: no drift, no change, and the creates whose outcome is unknown are reported", async () => {
    phase("recorded");
    const { output } = await program.must("preview", "--refresh", "--expect-no-changes");
    const requests = await place.server.takeRequests();
    expect(writesOf(requests)).toEqual([]);
    // By the code to which the state points.
    for (const { id = "", type } of recorded.filter((one) => one.type.includes("dynamic") && one.id))
      expect(
        requests.some((request) => isRead(request, id, type)),
        `${type} ${id}`,
      ).toBe(true);
    expect(output).toContain(place.uidOf("identities", "unanswered"));
    for (const key of ["Identity::unanswered", "Group::mistaken"])
      expect(output).toContain(`npx pulumi-irm recover clean --key "organization/${PROJECT}/dev/${key}"`);
  });

  it("is changed: one PATCH of the changed paths each, and the records of interrupted creates are adopted", async () => {
    const made = [
      place.uidOf("groups", "unreported"),
      place.uidOf("identities", "unanswered"),
      place.uidOf("groups", "of another"),
    ];
    phase("changed");
    await program.must("up", "--yes", "--skip-preview");
    const writes = await place.writes();
    expect(writes.map(({ operation, query, fields }) => [operation, query?.updateMask, fields]).sort()).toEqual([
      // The create that the service refused.
      ["CreateRole", undefined, "name,capabilities"],
      ["UpdateGroup", "description", "description"],
      ["UpdateGroup", "name", "name"],
      ["UpdateGroup", "name", "name"],
      ["UpdateIdentity", "claimMatch.claims", "claimMatch"],
      ["UpdateRoleBinding", "roleUid", "roleUid"],
    ]);
    const names = place.rows("groups").map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["platform team", "mistaken"]));
    const { resources, text } = program.state();
    const [ids, before] = [resources, recorded].map(idsOf) as [string[], string[]];
    expect(ids).toEqual(expect.arrayContaining([...before, ...made]));
    expect(ids).toHaveLength(before.length + made.length + 1);
    expect(text).not.toContain("nightingale");
  });

  it("is destroyed: only adopted records are left, and nothing is pending", async () => {
    const legacy = place.uidOf("groups", "legacy");
    await program.must("destroy", "--yes", "--skip-preview");
    const { organization, identity } = place.server;
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([organization, legacy]);
    expect(place.rows("identities", "parent IS NOT NULL").map(({ uid }) => uid)).toEqual([identity]);
    expect(place.rows("roles", "parent IS NOT NULL")).toEqual([]);
    expect(place.rows("role_bindings").map(({ identity_uid }) => identity_uid)).toEqual([identity]);
    expect((await runCommand("recover", "list", "--all", "--json", "--folder", journals())).stdout).toBe("");
  });
});
