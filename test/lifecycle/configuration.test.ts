// Keys of the stack's configuration that stop a run, with a real engine. The dynamic provider sees unknown ones through a property of the
// SDK.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { openWorkplace } from "./place.ts";

describe("an unknown key of the stack's configuration", () => {
  const place = openWorkplace();

  const source = `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team" });
const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
new RoleBinding("binding", { parent: team, identity: ci, role: "viewer" });
`;

  it("is reported and ignored, but a misspelt one stops an up, though not a destroy", async () => {
    const program = await place.program("strange", source, { ORG: place.server.organization });
    program.configure({ "irm:colour": "blue" });
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("irm:colour is ignored");
    program.configure({ "irm:colour": "blue", "irm:identiy": place.server.identity });
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain("irm:identiy: there is no such setting; did you mean irm:identity?");
    // The program ended before it declared anything. That removes nothing.
    expect(preview.output).not.toContain("is removed");

    // The address of another author gets nothing.
    let connections = 0;
    const evil = createServer(() => {
      connections += 1;
    }).listen(0, "127.0.0.1");
    await once(evil, "listening");
    const address = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    program.configure({ "irm:baseUrl": address, "irm:authUrl": address });
    const elsewhere = await program.run("up", "--yes", "--skip-preview");
    expect(elsewhere.code).not.toBe(0);
    for (const name of ["baseUrl", "authUrl"]) {
      const text = `irm:${name}: ${address} differs from ${place.server.baseUrl} (environment `;
      expect(elsewhere.output).toContain(text);
    }
    evil.close();
    expect(connections).toBe(0);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });
});
