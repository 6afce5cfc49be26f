// The built-in roles that the user of a server gives.
import { describe, expect, test } from "vitest";
import { capabilityName } from "../../../schema/index.ts";
import { createServer, parseRoles, parseSeed } from "../../../server/index.ts";
import { IAM, serve, sharedKeys } from "../../harness/api-server.ts";
import { temporaryFolder } from "../../support/command.ts";
import type { Body } from "../../support/http.ts";

const ROLES = {
  owner: ["groups.list", "role_bindings.create", "role_bindings.list"],
  viewer: ["groups.list"],
  ops: ["repo.list"],
};

const problemsOf = (text: string): string => {
  try {
    parseRoles(text, "roles.yaml");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("the built-in roles of a server", () => {
  test("are those of the option and no others, and a seed may grant them", async () => {
    const seed = parseSeed(
      "{ organization: { name: acme }, identities: [{ name: ci, claimMatch: { issuer: 'https://a.example.com', subject: s } }], bindings: [{ identity: ci, role: ops }] }",
      "seed.yaml",
      ROLES,
    );
    const api = await serve({ roles: ROLES, seed });
    const { roles } = await api.ok("GET", `${IAM}/roles`);
    const found = roles.map(({ name, capabilities }: Body) => [name, capabilities.map(capabilityName)]);
    expect(Object.fromEntries(found)).toEqual(ROLES);
    const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`);
    expect(roleBindings.map(({ role }: Body) => role.name)).toContain("ops");
  });

  test("a role that goes is deleted, unless something grants it: then the server does not start", async () => {
    const folder = temporaryFolder();
    const options = { store: folder.path("roles.db"), keys: sharedKeys(), dev: true };
    const first = await createServer({ ...options, roles: ROLES });
    await first.close();
    const second = await createServer({ ...options, roles: { owner: ROLES.owner, viewer: ROLES.viewer } });
    await second.close();
    const organization =
      "{ organization: { name: acme }, identities: [{ name: ci, claimMatch: { issuer: 'https://a.example.com', subject: s } }], bindings: [{ identity: ci, role: ops }] }";
    const third = await createServer({ ...options, roles: ROLES, seed: parseSeed(organization, "s", ROLES) });
    await third.close();
    await expect(createServer(options)).rejects.toThrow(
      "the database grants built-in roles that the server would not have: ops. Start it with --roles FILE, a file that has them",
    );
    folder.remove();
  });

  test("every problem of a file is reported, with its line", () => {
    expect(
      problemsOf("owner: [groups.list]\nA: [x]\nb: []\nc: [groups.lst, repo.list, repo.list]\n").split("\n"),
    ).toEqual([
      expect.stringContaining("has no role viewer, which the server grants by itself: add it"),
      expect.stringContaining("roles.yaml:2"),
      expect.stringContaining("roles.yaml:3"),
      expect.stringContaining("there is no capability groups.lst; did you mean groups.list?"),
      expect.stringContaining("repo.list is here twice"),
    ]);
    expect(problemsOf("[]")).toContain("must be a map such as { viewer: [groups.list, repo.list] }");
  });

  test("an option with mistakes is refused, and a copy has the roles of its service", async () => {
    await expect(createServer({ roles: { owner: ["x"], viewer: ["groups.list"] } })).rejects.toThrow(
      "--roles: owner 0 there is no capability x",
    );
  });
});
