// A server with identities that have three role bindings each, and `irm revoke` in an empty folder, for its tests.
import { beforeEach, vi } from "vitest";
import { IAM, serve } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { signIn } from "../harness/signed-in.ts";
import { runIrm } from "../support/irm.ts";
import { useOwnFolder } from "../support/test-folder.ts";

/** In a folder of its own for each test, with the credentials of an owner in the environment. */
export const startRevocations = async () => {
  const api = await serve({ faults: {} });
  const platform = await createUid(api, "groups", api.organization, { name: "platform" });
  const registry = await createUid(api, "groups", platform, { name: "registry" });
  const helper = await api.actor("helper", { role: "owner" });

  useOwnFolder();
  beforeEach(() => {
    signIn(api, helper.token);
    return () => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
      api.faults.set({});
    };
  });

  const bind = async (identity: string, at: string, role: string) =>
    createUid(api, "roleBindings", at, { identityUid: identity, roleUid: await api.role(role) });

  let count = 0;
  const target = async () => {
    count += 1;
    const name = `release-${count}`;
    const { uid, token } = await api.actor(name, { role: "viewer", in: platform });
    await bind(uid, platform, "editor");
    await bind(uid, registry, "registry.push");
    return { name, uid, token };
  };

  const heldBy = async (identity: string): Promise<string[]> => {
    const { roleBindings = [] } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity } });
    return (roleBindings as { group: { name: string }; role: { name: string } }[])
      .map(({ group, role }) => `${group.name} ${role.name}`)
      .sort();
  };
  const { name: acme } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
  const everything = [`${acme} viewer`, "platform editor", "registry registry.push"].sort();

  const revoke = (...flags: string[]) => runIrm("revoke", ...flags);
  const revokeAsJson = async (...flags: string[]) => {
    const { code, stdout, stderr } = await revoke(...flags, "--format", "json");
    return { code, stderr, ...JSON.parse(stdout) };
  };

  return {
    ...{ api, platform, registry, helper, acme: acme as string, everything },
    ...{ bind, target, heldBy, revoke, revokeAsJson },
  };
};
