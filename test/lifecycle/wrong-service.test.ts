// A stack whose records are elsewhere, through the engine: a development server that was restarted in memory, and a service
// that has moved with its records.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { RecoverySection } from "../../client/errors.ts";
import { type ServerProcess, startServerProcess, writesOf } from "../harness/api-process.ts";
import type { Program } from "../harness/engine-workplace.ts";
import { countOf, diagnosticsOf } from "../support/diagnostics.ts";
import { openWorkplace } from "./place.ts";

describe("a stack", () => {
  const place = openWorkplace();
  let server: ServerProcess;
  afterAll(() => server.stop());

  const source = `
import { Config } from "@pulumi/pulumi";
import { Group } from "pulumi-irm";
const fresh = new Group("fresh", { parent: new Config().require("org"), name: new Config().require("fresh") });
const team = new Group("team", { parent: new Config().require("org"), name: "team" });
new Group("below", { parent: team, name: "below" });
`;
  const tokenFile = () => join(place.folder, "own-token");

  const start = async (...flags: string[]): Promise<ServerProcess> => {
    server = await startServerProcess(flags);
    // It may go to the address in its audience, so the environment names none.
    writeFileSync(tokenFile(), server.token, { mode: 0o600 });
    return server;
  };

  const configure = (program: Program, own: Record<string, string> = {}): void => {
    const { baseUrl, organization } = server;
    program.configure({ "irm:baseUrl": baseUrl, "moved:org": organization, "moved:fresh": "fresh", ...own });
  };

  const expectRefusal = async (
    program: Program,
    [section, text]: [RecoverySection, string],
    ...args: string[]
  ): Promise<string> => {
    await server.takeRequests();
    const { code, output } = await program.run(...args);
    const shown = diagnosticsOf(output);
    expect(code).not.toBe(0);
    expect(countOf(shown, "wrong service?"), output).toBe(1);
    expect(shown).toContain(text);
    expect(countOf(shown, `See docs/recovery.md#${section}`), output).toBe(1);
    expect(writesOf(await server.takeRequests())).toEqual([]);
    return output;
  };

  it("reports that its service is another one, changes nothing there, and follows once the move is confirmed", async () => {
    const db = join(place.folder, "moving.db");
    const { baseUrl, organization } = await start("--db", db);
    const env = {
      ...{ IRM_BASE_URL: "", IRM_AUTH_URL: "", IRM_IDENTITY: "", IRM_IDENTITY_TOKEN_FILE: "" },
      IRM_TOKEN_FILE: tokenFile(),
    };
    const program = await place.program("moved", source, env);
    configure(program);
    await program.must("up", "--yes", "--skip-preview");
    await server.stop();

    // In memory, at the same address: another organization, with another owner and token.
    await start("--port", new URL(baseUrl).port);
    configure(program);
    const text = `The records of this stack are in the organization ${organization}, and it is not at ${baseUrl}`;
    const preview = await expectRefusal(program, ["wrong-organization", text], "preview");
    expect(preview).toContain("started with --db FILE");
    expect(preview).toContain("pulumi state delete --all");
    await server.stop();

    // The records are back, at another address.
    await start("--db", db);
    const now = server.baseUrl;
    configure(program, { "moved:fresh": "changed" });
    const address = `The records of this stack are at ${baseUrl}, as of its last up, and this run is for ${now}.`;
    const up = await expectRefusal(program, ["wrong-address", address], "up", "--yes", "--skip-preview");
    expect(up).toContain(`pulumi config set irm:movedFrom ${baseUrl}`);

    appendFileSync(join(program.folder, "Pulumi.yaml"), "options:\n  refresh: always\n");
    configure(program, { "irm:movedFrom": baseUrl });
    await server.takeRequests();
    // A refresh has the settings of the last up, and so not this one.
    const refreshed = await expectRefusal(program, ["wrong-address", address], "up", "--yes", "--skip-preview");
    expect(refreshed).toContain("pulumi up --refresh=false");
    const moved = await program.must("up", "--yes", "--skip-preview", "--refresh=false");
    expect(moved.output).toContain("3 updated");
    expect(writesOf(await server.takeRequests())).toEqual([]);
    configure(program);
    const { resources, text: state } = program.state();
    expect(resources.filter(({ outputs }) => outputs?.__service === now)).toHaveLength(3);
    expect(state).not.toContain(`"__service": "${baseUrl}"`);
  });
});
