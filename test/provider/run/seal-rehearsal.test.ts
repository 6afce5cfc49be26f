// A rehearsal under the seal of its review: what a refusal says there (docs/sealing.md).
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REHEARSAL_FILE } from "../../../client/rehearsal.ts";
import { workloadToken } from "../../harness/provider.ts";
import type { Program } from "../../harness/small-engine/program.ts";
import { STACK } from "../../harness/small-engine/sealed.ts";
import { sealedPlace } from "../../harness/small-engine/sealed-place.ts";

const { at, make, makeRole, bind, resource, apply, seal, up } = sealedPlace();

const HEAD = "the seal of this review does not contain this, and nothing is sent:";

/** The server is its own twin. */
const rehearse = async (token: string, program: Program): Promise<string[]> => {
  const { server, engine, ...testbed } = at.stack.testbed;
  // A process reads the file of a rehearsal once.
  const folder = mkdtempSync(join(testbed.folder, "rehearsal-"));
  const services = [{ address: server.baseUrl, url: server.baseUrl, token }];
  const content = { pid: process.pid, journal: join(folder, "journal"), seal: at.stack.file, services };
  const file = join(folder, REHEARSAL_FILE);
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  const { errors, writes } = await up(program, engine(STACK, { env: { IRM_REHEARSAL: file } }));
  expect(writes).toEqual([]);
  return errors;
};

test("it names the seal of the review, and says that a new review would not help", async () => {
  await seal([resource("group", "team", { name: "team" })]);
  const errors = await rehearse(at.stack.testbed.token(), [resource("group", "other", { name: "other" })]);
  const problem = "Group other is no resource that the review shows";
  const advice =
    "The program does in its update what its preview does not show. A new review would not help.\nSee docs";
  expect(errors).toEqual([expect.stringContaining(`${HEAD}\n  - ${problem}\n${advice}`)]);
});

test("it does not blame the program where the identity may not read what the seal rests on", async () => {
  const { server } = at.stack.testbed;
  const claimMatch = { issuer: server.issuer, subject: "applier" };
  const applier = await make(`identities/${at.home}`, { name: "applier", claimMatch });
  const capabilities = ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLES_LIST", "CAP_REPO_LIST", "CAP_REPO_CREATE"];
  await bind(applier, await makeRole("writer", ...capabilities));
  const reader = resource("role", "reader", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
  await apply([reader]);
  const changed = { ...reader, inputs: { ...reader.inputs, capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST"] } };
  await seal([changed]);
  const query = new URLSearchParams({ aud: server.baseUrl, identity: applier });
  const headers = { authorization: `Bearer ${await workloadToken(server, "applier")}` };
  const answer = await fetch(`${server.authUrl}/sts/exchange?${query}`, { headers });
  const { token } = (await answer.json()) as { token: string };
  const problem = `the role bindings of group ${at.home} cannot be listed`;
  expect(await rehearse(token, [changed])).toEqual([expect.stringContaining(`${HEAD}\n  - ${problem}\nSee docs`)]);
});
