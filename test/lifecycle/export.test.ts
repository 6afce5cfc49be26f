// An organization that people made by hand, and the program that `irm export` writes for it: the first `up` sends nothing that changes a
// record, the second preview is empty, and on another service the program creates the same.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { type ByHand, createByHand } from "../harness/by-hand.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { createPythonProgram, createYamlProgram, withoutPython } from "../harness/language-program.ts";
import { createManaged } from "../harness/terraform-state.ts";
import { formsOf, onlyInSoak } from "../support/form.ts";
import { runIrm } from "../support/irm.ts";
import { pluginOf } from "./form.ts";

/** The server of a workplace, for helpers that call one in this process. */
const callerOf = (place: Workplace) => {
  const call = async (method: string, target: string, options: { body?: unknown } = {}) => {
    const { status, json } = await place.call(method, target, options.body);
    return { status, json, text: JSON.stringify(json) };
  };
  return { call } as never;
};

describe("irm export", () => {
  let [place, other] = [] as unknown as [Workplace, Workplace];
  let made: ByHand;
  beforeAll(async () => {
    [place, other] = await Promise.all([createWorkplace(), createWorkplace()]);
    made = await createByHand(callerOf(place), place.server.organization);
  });
  afterAll(() => Promise.all([place.close(), other.close()]));

  let folders = 0;
  /** The files that an export writes into a folder. */
  const filesOf = async (from: Workplace, ...flags: string[]): Promise<(name: string) => string> => {
    folders += 1;
    const out = join(from.folder, `exported-${folders}`);
    await exportOf(from, "--out", out, ...flags);
    return (name) => readFileSync(join(out, name), "utf8");
  };
  const exportOf = async (from: Workplace, ...flags: string[]): Promise<string> => {
    vi.stubEnv("IRM_BASE_URL", from.server.baseUrl);
    vi.stubEnv("IRM_TOKEN", from.server.token);
    const { code, stdout, stderr } = await runIrm("export", ...flags);
    vi.unstubAllEnvs();
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const writes = async (of: Workplace) => writesOf(await of.server.takeRequests()).map(({ operation }) => operation);

  it.each(formsOf({ form: "dynamic", flags: [] }, { form: "native", flags: ["--native"] }))(
    "a program with $form resources takes everything over and changes nothing",
    async ({ form, flags }) => {
      const file = await filesOf(place, ...flags);
      expect(file("Pulumi.yaml")).toContain("options:\n  refresh: always\n");
      const program = await place.program(`taken-${form}`, file("index.ts"), {}, pluginOf(form));
      writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
      await place.server.takeRequests();
      const preview = await program.must("preview");
      expect(preview.output).toContain(`Group platform takes over group ${made.platform} "platform"`);
      expect(preview.output).not.toMatch(/ changes on /);
      const up = await program.must("up", "--yes", "--skip-preview");
      expect(await writes(place), up.output).toEqual([]);
      // The state has them by now.
      expect((await program.must("preview", "--expect-no-changes")).output).not.toMatch(/ takes over | changes on /);
      await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(await writes(place)).toEqual([]);
      const count = Object.keys(JSON.parse(file("adopt.json")).resources).length;
      // The identity provider whose secret is not set is not declared.
      const adopted = program.state().resources.filter(({ outputs }) => outputs?.adopted === true);
      expect(adopted).toHaveLength(count - 1);
      if (form === "dynamic") await sendsTheSecret(program);
      // What was exported stays when the stack goes.
      await program.must("destroy", "--yes", "--skip-preview");
      expect(await writes(place)).toEqual([]);
    },
  );

  /** The secret of an identity provider is sent once it is set, and nothing else. */
  const sendsTheSecret = async (program: Program): Promise<void> => {
    program.configure({ "taken-dynamic:ssoWithSecretClientSecret": "a new one" });
    await program.must("up", "--yes", "--skip-preview");
    expect(await writes(place)).toEqual(["UpdateIdentityProvider"]);
    expect(place.rows("identity_providers", "uid = ?", made.withSecret)).toHaveLength(1);
    await program.must("preview", "--expect-no-changes");
  };

  // test/package/export.test.ts runs the other one.
  it.each(formsOf({ form: "dynamic", flags: [] }, { form: "native", flags: ["--native"] }))(
    "a policy with $form resources takes everything over and changes nothing",
    async ({ form, flags }) => {
      const out = join(place.folder, `policy-${form}`);
      await exportOf(place, "--format", "yaml", "--out", out, ...flags);
      const program = await place.program(
        `policy-of-${form}`,
        readFileSync(join(out, "index.ts"), "utf8"),
        {},
        pluginOf(form),
      );
      for (const name of ["access.yaml", "adopt.json"]) copyFileSync(join(out, name), join(program.folder, name));
      await place.server.takeRequests();
      await program.must("up", "--yes", "--skip-preview");
      expect(await writes(place)).toEqual([]);
      await program.must("preview", "--expect-no-changes");
      const ids = program.state().resources.map(({ id }) => id);
      for (const uid of [place.server.organization, made.platform, made.release, made.publisher])
        expect(ids).toContain(uid);

      // What people make later comes into the policy, and the next update takes it over too.
      const claimMatch = { issuer: "https://issuer.example", subject: form };
      const create = async (collection: string, parent: string, body: object) =>
        (await place.call("POST", `/iam/v2beta1/${collection}/${parent}`, body)).json.uid as string;
      const later = await create("identities", made.platform, { name: "later", claimMatch });
      await create("roleBindings", made.platform, { identityUid: later, roleUid: made.publisher });
      await exportOf(place, "--into", join(program.folder, "access.yaml"));
      await place.server.takeRequests();
      await program.must("up", "--yes", "--skip-preview");
      expect(await writes(place)).toEqual([]);
      expect(program.state().resources.map(({ id }) => id)).toContain(later);
      await place.call("DELETE", `/iam/v2beta1/identities/${later}`);
    },
  );

  it("a program for what Terraform manages takes that over, and nothing else", async () => {
    const { json } = await other.call("GET", "/iam/v2beta1/roles?uidp.inRoot=true&name=viewer");
    const [{ uid: viewer }] = json.roles as [{ uid: string }];
    const { organization } = other.server;
    const records = await createManaged(callerOf(other), { organization, viewer, nowMs: Date.now() });
    const state = join(other.folder, "terraform.tfstate");
    writeFileSync(state, records.pulled);
    const file = await filesOf(other, "--from-tfstate", state);
    const program = await other.program("from-terraform", file("index.ts"));
    writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
    await other.server.takeRequests();
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(await writes(other), up.output).toEqual([]);
    await program.must("preview", "--expect-no-changes");
    const adopted = program.state().resources.filter(({ outputs }) => outputs?.adopted === true);
    // The identity provider whose secret is not set is not declared.
    expect(adopted).toHaveLength(records.uids.size - 1);
  });

  it("a program in YAML takes everything over and changes nothing", async () => {
    const file = await filesOf(place, "--format", "pulumi-yaml");
    const source = file("Pulumi.yaml");
    const program = await createYamlProgram(place, "taken-yaml", source.slice(source.indexOf("\nresources:") + 1));
    writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
    await takesOver(program);
  });

  it.skipIf(withoutPython || onlyInSoak)(
    `a program in Python takes everything over and changes nothing${withoutPython || onlyInSoak}`,
    async () => {
      const file = await filesOf(place, "--format", "python");
      const program = await createPythonProgram(place, "taken-python", file("__main__.py"));
      writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
      await takesOver(program);
    },
  );

  const takesOver = async (program: Program): Promise<void> => {
    await place.server.takeRequests();
    await program.must("up", "--yes", "--skip-preview");
    expect(await writes(place)).toEqual([]);
    await program.must("preview", "--expect-no-changes");
    expect(program.state().resources.map(({ id }) => id)).toEqual(
      expect.arrayContaining([made.release, made.publisher]),
    );
    await program.must("destroy", "--yes", "--skip-preview");
    expect(await writes(place)).toEqual([]);
  };

  it("import.json imports every record, and the program then changes nothing", async () => {
    const out = join(place.folder, "exported");
    await exportOf(place, "--native", "--out", out);
    const source = readFileSync(join(out, "index.ts"), "utf8");
    const program = await place.program("imported", source, {}, { ...pluginOf("native"), ownProcess: true });
    for (const name of ["import.json", "adopt.json"]) copyFileSync(join(out, name), join(program.folder, name));
    await place.server.takeRequests();
    await program.must("import", "--file", "import.json", "--yes", "--generate-code=false", "--protect=false");
    await program.must("up", "--yes", "--skip-preview");
    expect(await writes(place)).toEqual([]);
    await program.must("preview", "--expect-no-changes");

    // A refresh knows by adopt.json that this resource had the record.
    const [binding] = place.rows("role_bindings", "identity_uid = ?", made.release);
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${binding?.uid}`);
    await place.server.takeRequests();
    const { output } = await program.must("up", "--refresh", "--yes", "--skip-preview");
    expect(output).toContain(`creates its role binding again: ${binding?.uid}, which it had adopted, was deleted`);
    expect(await writes(place)).toEqual(["CreateRoleBinding"]);
  });

  it("a policy with --no-adopt creates the same on another service", async () => {
    const out = join(place.folder, "policy-copy");
    await exportOf(place, "--format", "yaml", "--no-adopt", "--out", out);
    expect(readdirSync(out)).not.toContain("adopt.json");
    const program = await other.program("policy-copied", readFileSync(join(out, "index.ts"), "utf8"));
    copyFileSync(join(out, "access.yaml"), join(program.folder, "access.yaml"));
    program.configure({ "policy-copied:ssoWithSecretClientSecret": "of the other service" });
    await program.must("up", "--yes", "--skip-preview");
    await program.must("preview", "--expect-no-changes");
    const names = (table: string, at: Workplace) => at.rows(table).map(({ name }) => name);
    for (const table of ["groups", "identities", "identity_providers", "repos", "tags"])
      expect(names(table, other)).toEqual(expect.arrayContaining(names(table, place)));
    await program.must("destroy", "--yes", "--skip-preview");
  });

  it("--no-adopt creates the same on another service", async () => {
    // Without the head, and without the uids that tell records of one name apart.
    const comparable = (source: string): string =>
      source.replace(/^(\/\/.*\n)+/, "").replaceAll(/[0-9a-f]{16}/g, "uid");
    const source = await exportOf(place, "--no-adopt");
    const program = await other.program("copied", source);
    program.configure({ "copied:ssoWithSecretClientSecret": "of the other service" });
    await program.must("up", "--yes", "--skip-preview");
    await program.must("preview", "--expect-no-changes");
    const [, name = ""] = /root: true,\s+name: "([^"]+)"/.exec(source) ?? [];
    const copies = other.rows("groups", "name = ? AND parent IS NULL", name).map(({ uid }) => uid);
    const [copy] = copies.filter((uid) => uid !== other.server.organization);
    const again = await exportOf(other, "--no-adopt", "--group", copy as string);
    expect(comparable(again)).toBe(comparable(source));
  });
});
