// Groups through a real engine: seconds of each command, bytes of state and requests of a group.
//
//   npm run -s bench:engine -- [GROUPS]
import { statSync } from "node:fs";
import { join } from "node:path";
import { createWorkplace } from "../test/harness/engine-workplace.ts";

const [groups = 500] = process.argv.slice(2).map(Number);

// As a user has it, without what makes the tests fast.
const USUAL = { PULUMI_CONFIG_PASSPHRASE: "not a secret", GOGC: "100", NODE_OPTIONS: "" };

const place = await createWorkplace();
try {
  const source = `
import { Group } from "pulumi-irm";
for (let i = 0; i < ${groups}; i += 1) new Group(\`g\${i}\`, { parent: process.env.ORG!, name: \`g\${i}\` });
`;
  const env = { ORG: place.server.organization, ...USUAL };
  const program = await place.program("bench", source, env, { ownProcess: true });
  const timed = async (...args: string[]): Promise<void> => {
    await place.server.takeRequests();
    const start = performance.now();
    await program.must(...args);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const requests = ((await place.server.takeRequests()).length / groups).toFixed(2);
    console.log(`${args[0]}: ${seconds} s, ${requests} requests a group`);
  };
  // The text that the engine writes at each step.
  const stateBytes = (): number =>
    statSync(join(program.folder, "state", ".pulumi", "stacks", "bench", "dev.json")).size;
  const emptyBytes = stateBytes();
  await timed("up", "--yes", "--skip-preview");
  const { resources } = program.state();
  const provider = String(resources.at(-1)?.inputs?.__provider);
  const bytes = Math.round((stateBytes() - emptyBytes) / groups);
  console.log(`state: ${bytes} bytes a group; its __provider has ${provider.length} characters`);
  await timed("preview", "--expect-no-changes");
  await timed("refresh", "--yes");
  await timed("destroy", "--yes", "--skip-preview");
} finally {
  await place.close();
}
