// `irm revoke` in the folder of a program: no later update grants again what it took away, and it names what would.
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";

const example = (file: string): string => readFileSync(join(root, "examples", "policy", file), "utf8");
const policy = example("access.yaml");

describe("irm revoke", () => {
  let place: Workplace;
  let program: Program;
  beforeAll(async () => {
    place = await createWorkplace();
    program = await place.program("policy", example("index.ts"));
    writeFileSync(join(program.folder, "access.yaml"), policy);
    await program.must("up", "--yes", "--skip-preview");
    await program.must("stack", "select");
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  const identity = (name: string) => place.rows("identities", "name = ?", name)[0]?.uid as string;
  const held = (name: string) => place.rows("role_bindings", "identity_uid = ?", identity(name));
  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation as string);
  const irm = (...args: string[]) => irmIn(program, args, { IRM_IDENTITY: place.env.IRM_IDENTITY as string });
  const revoke = async (name: string) => {
    const { code, stdout, stderr } = await irm("revoke", "--identity", name, "--yes", "--format", "json");
    return { code, stderr, ...JSON.parse(stdout || "{}") };
  };

  it("takes the entry out of the policy, and no update or refresh grants it again", async () => {
    const [viewer] = place.rows("roles", "name = ?", "viewer");
    const [product] = place.rows("groups", "name = ?", "product");
    const body = { identityUid: identity("release"), roleUid: viewer?.uid };
    expect((await place.call("POST", `/iam/v2beta1/roleBindings/${product?.uid}`, body)).status).toBe(200);
    const { code, removed, stderr } = await revoke("release");
    expect({ code, roles: removed.map(({ role }: { role: string }) => role).sort() }).toEqual({
      code: 0,
      roles: ["publisher", "viewer"],
    });
    expect(stderr).toContain("does not declare this role binding; another program may\n");
    expect(readFileSync(join(program.folder, "access.yaml"), "utf8")).toBe(
      policy.replace("  platform/registry: { publisher: [release] }\n", ""),
    );
    await place.server.takeRequests();
    await program.must("up", "--yes", "--skip-preview");
    await program.must("up", "--yes", "--skip-preview", "--refresh");
    expect(held("release")).toEqual([]);
    expect((await writes()).filter((operation) => operation.startsWith("Create"))).toEqual([]);
  });

  it("an undo puts it back in the policy, and no update or refresh removes it, or grants it twice", async () => {
    const undoes = readdirSync(program.folder).filter((name) => name.startsWith("irm-revoke-"));
    const undone = await irm("revoke", "--undo", undoes[0] as string);
    expect({ code: undone.code, stderr: undone.stderr }).toEqual({ code: 0, stderr: "" });
    expect(held("release")).toHaveLength(2);
    // Before an update has run, the state still has the role binding that was removed.
    await revoke("review");
    const again = readdirSync(program.folder).filter(
      (name) => name.startsWith("irm-revoke-") && !undoes.includes(name),
    );
    expect((await irm("revoke", "--undo", again[0] as string)).code).toBe(0);
    const before = [...held("release"), ...held("review")];
    await place.server.takeRequests();
    await program.must("up", "--yes", "--skip-preview");
    await program.must("up", "--yes", "--skip-preview", "--refresh");
    expect(await writes()).toEqual([]);
    expect([...held("release"), ...held("review")]).toEqual(before);
  });

  it("names the resource of the stack where the folder has no access.yaml", async () => {
    renameSync(join(program.folder, "access.yaml"), join(program.folder, "other.yaml"));
    const { code, stderr } = await revoke("deploy");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^an update of stack dev that refreshes grants the access again: take AccessPolicy acme out of /,
      ),
    });
    expect(held("deploy")).toEqual([]);
  });
});
