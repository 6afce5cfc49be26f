// A caller that may create role bindings and not list them: the API's list is short, and does not say so.
import { beforeAll, describe, expect, it } from "vitest";
import { workloadToken } from "../../harness/provider.ts";
import { countOf, type EngineRun, startSets } from "../../harness/role-binding-set.ts";

const sets = startSets();
const { machine, identities } = sets;

describe("a set of a caller without role_bindings.list", () => {
  let blind: string;
  let custom: string;

  beforeAll(async () => {
    const { call, issuer } = machine.service;
    const parent = machine.org;
    const role = async (name: string, capabilities: string[]) =>
      (await call("CreateRole", { parent, role: { name, capabilities } })).uid;
    custom = await role("lists groups", ["CAP_IAM_GROUPS_LIST"]);
    const binder = await role("binds", ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"]);
    const claimMatch = { issuer, subject: "blind" };
    blind = (await call("CreateIdentity", { parent, identity: { name: "blind", claimMatch } })).uid;
    await sets.bind(parent, blind, binder);
  });

  const run = async (): Promise<EngineRun> => {
    const process = machine.run();
    const token = await workloadToken(machine.service, "blind");
    const env = { ...process.environment.env, IRM_IDENTITY: blind, IRM_IDENTITY_TOKEN: token };
    return sets.run({ ...process, environment: { ...process.environment, env } });
  };

  it("is refused before anything changes: its pairs may exist already", async () => {
    const group = await sets.group();
    await sets.bind(group, "one", custom);
    const own = await run();
    await expect(own.up(sets.inputs(group, [[identities[0] as string, custom]]))).rejects.toThrow(
      `RoleBindingSet set-${group}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist ` +
        "would be created a second time; grant the identity of this run role_bindings.list there",
    );
    expect(countOf(own, "CreateRoleBinding") + countOf(own, "BatchCreateRoleBindings")).toBe(0);
    expect(await sets.pairs(group)).toEqual(["one lists groups"]);
  });

  it("is not taken for empty by a refresh or a deletion", async () => {
    const group = await sets.group();
    const state = await sets.up(sets.inputs(group, [[identities[0] as string, custom]]));
    await expect((await run()).refresh(state)).rejects.toThrow("Permission denied is not treated as deletion");
    await expect((await run()).delete(state)).rejects.toThrow("PERMISSION_DENIED");
    const wanted = sets.inputs(group, [[identities[1] as string, custom]]);
    await expect((await run()).up(wanted, state)).rejects.toThrow("Permission denied is not treated as deletion");
    expect(await sets.pairs(group)).toEqual(["one lists groups"]);
  });
});
