// Stacks and journals that earlier commits wrote, in both forms: this version reads them, moves them to the other form, changes and
// destroys them. previous/record-commit.ts says how they were recorded, and the program of each what it holds.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { shortType } from "../../provider/record/urn.ts";
import { writesOf } from "../harness/api-process.ts";
import type { StateResource } from "../harness/engine-stack.ts";
import type { Program, Workplace } from "../harness/engine-workplace.ts";
import { runCommand } from "../support/command.ts";
import { formsOf } from "../support/form.ts";
import { COMMITS, PROJECT, readPart } from "./previous/recording.ts";
import { journalsOf, restore } from "./previous/restore.ts";

const [DYNAMIC, NATIVE] = [
  { module: "pulumi-irm", prefix: "pulumi-nodejs:dynamic/irm:" },
  { module: "pulumi-irm/plugin", prefix: "irm:index:" },
];

// One of each form.
const [first = "", second = "", ...others] = COMMITS.toReversed();

describe.each(formsOf([first, second], [first, second, ...others]).at(-1) ?? [])(
  "what commit %s left behind",
  (commit) => {
    const [own, other] = commit.endsWith("-native") ? [NATIVE, DYNAMIC] : [DYNAMIC, NATIVE];
    let place: Workplace;
    let program: Program;
    let recorded: StateResource[];

    beforeAll(async () => {
      ({ place, program, recorded } = await restore(commit, undefined, { plugin: inject("pluginFolder") }));
    });
    afterAll(() => place.close());

    const declare = ({ module }: typeof own, phase: string) => {
      const text = readPart(commit, "program").replace(`from "${own.module}"`, `from "${module}"`);
      program.write(`process.env.PHASE = "${phase}";\n${text}`);
    };
    const writes = async () => writesOf(await place.server.takeRequests());
    const isOurs = ({ id, type }: StateResource) => id !== undefined && !type.startsWith("pulumi:");
    const records = (resources: StateResource[]) =>
      resources
        .filter(isOurs)
        .map(({ id, type }) => `${shortType(type)} ${id}`)
        .sort();
    const ours = () => program.state().resources.filter(isOurs);

    it("is read: no drift, no change, and the create whose outcome is unknown is reported", async () => {
      declare(own, "recorded");
      const { output } = await program.must("preview", "--refresh", "--expect-no-changes");
      expect(output).toContain(place.rows("identities", "name = ?", "unanswered")[0]?.uid);
      expect(output).toContain(`npx pulumi-irm journal clean --key "organization/${PROJECT}/dev/Identity::unanswered"`);
      expect(await writes()).toEqual([]);
    });

    it("moves to the other form: nothing is sent", async () => {
      declare(other, "recorded");
      const { output } = await program.must("up", "--yes", "--skip-preview");
      expect(output).not.toMatch(/^ {4}[+-]|created|deleted|replaced/m);
      expect(await writes()).toEqual([]);
      expect(records(ours())).toEqual(records(recorded));
      expect(ours().every(({ type }) => type.startsWith(other.prefix))).toBe(true);
    });

    it("is changed in the other form: only what was changed is sent, and the record of the killed create is adopted", async () => {
      declare(other, "changed");
      await program.must("up", "--yes", "--skip-preview");
      const sent = (await writes()).map(({ operation, query }) => [operation, query?.updateMask]).sort();
      const set = recorded.some(({ type }) => type.endsWith("RoleBindingSet"));
      expect(sent).toEqual([
        ...(set ? [["CreateRoleBinding", undefined]] : []),
        ["UpdateGroup", "description"],
        ["UpdateRoleBinding", "roleUid"],
      ]);
      const unanswered = place.rows("identities", "name = ?", "unanswered");
      expect(unanswered).toHaveLength(1);
      expect(records(ours())).toEqual(expect.arrayContaining([...records(recorded), `Identity ${unanswered[0]?.uid}`]));
    });

    // The resources stay in the form of the last up.
    it("is refreshed and destroyed after an import of the former form, without an up: only the adopted group is left, and nothing is pending", async () => {
      declare(own, "changed");
      await program.must("refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(await writes()).toEqual([]);
      // 109e969 stored the subject of an identity with its role bindings, in clear text.
      expect(program.state().text).not.toContain("nightingale");
      await program.must("destroy", "--yes", "--skip-preview");
      const { organization, identity } = place.server;
      const legacy = place.rows("groups", "name = ?", "legacy")[0]?.uid;
      expect(place.rows("groups").map(({ uid }) => uid)).toEqual([organization, legacy]);
      expect(place.rows("identities", "parent IS NOT NULL").map(({ uid }) => uid)).toEqual([identity]);
      expect(place.rows("role_bindings").map(({ identity_uid }) => identity_uid)).toEqual([identity]);
      expect(ours()).toEqual([]);
      expect((await runCommand("journal", "list", "--all", "--json", "--folder", journalsOf(place))).stdout).toBe("");
    });
  },
);
