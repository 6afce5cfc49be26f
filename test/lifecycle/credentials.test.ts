// What a run without usable credentials says, and that no secret is ever part of it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../support/program.ts";

describe("credentials of a run", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const source = `
import { Group } from "pulumi-irm";
new Group("team", { parent: process.env.ORG!, name: "team" });
`;
  const none = { IRM_BASE_URL: "", IRM_AUTH_URL: "", IRM_IDENTITY: "", IRM_IDENTITY_TOKEN_FILE: "" };

  it("that are missing are told with every place that was looked at", async () => {
    const program = await place.program("none", source, { ...none, ORG: place.server.organization });
    const up = await program.run("up", "--yes", "--skip-preview");
    expect(up.code).not.toBe(0);
    for (const place of [
      "irm:baseUrl",
      "IRM_BASE_URL",
      "IRM_TOKEN",
      "IRM_TOKEN_FILE",
      "IRM_IDENTITY_TOKEN",
      "IRM_IDENTITY_TOKEN_FILE",
      "ACTIONS_ID_TOKEN_REQUEST_URL",
    ])
      expect(up.output).toContain(place);
  });

  it("that the exchange refuses are an error which does not repeat them", async () => {
    const secret = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL3gifQ.c2VjcmV0";
    const file = join(place.folder, "refused-token");
    writeFileSync(file, secret);
    const program = await place.program("refused", source, {
      ORG: place.server.organization,
      IRM_IDENTITY_TOKEN_FILE: file,
    });
    const up = await program.run("up", "--yes", "--skip-preview");
    expect(up.code).not.toBe(0);
    expect(up.output).toContain("PERMISSION_DENIED");
    expect(up.output + (await program.state()).text + place.server.log()).not.toContain(secret);
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });

  it("may be the configuration of the stack, and an API token of the environment", async () => {
    const program = await place.program("token", source, {
      ...none,
      ORG: place.server.organization,
      IRM_TOKEN: place.server.token,
    });
    await program.must("config", "set", "irm:baseUrl", place.server.baseUrl);
    await program.must("up", "--yes", "--skip-preview");
    expect((await program.state()).text).not.toContain(place.server.token);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });
});
