// Groups through a real engine, in both forms, alternating: seconds of each command, bytes of state and requests of a group.
//
//   npm run -s bench:engine -- [GROUPS] [ROUNDS]
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePlugin } from "../scripts/dist-plugin.ts";
import { createWorkplace } from "../test/harness/engine-workplace.ts";
import { median } from "./process-cpu.ts";

const [groups = 500, rounds = 1] = process.argv.slice(2).map(Number);

// As a user has it, without what makes the tests fast.
const USUAL = { PULUMI_CONFIG_PASSPHRASE: "not a secret", GOGC: "100", NODE_OPTIONS: "" };

const COMMANDS = ["up", "preview", "refresh", "destroy"] as const;
type Figures = Record<(typeof COMMANDS)[number], { seconds: number; requests: number }> & { bytes: number };

const FORMS = { dynamic: "pulumi-irm", native: "pulumi-irm/plugin" } as const;
type Form = keyof typeof FORMS;

const measure = async (form: Form, plugin: string): Promise<Figures> => {
  const place = await createWorkplace();
  try {
    const source = `
import { Group } from "${FORMS[form]}";
for (let i = 0; i < ${groups}; i += 1) new Group(\`g\${i}\`, { parent: process.env.ORG!, name: \`g\${i}\` });
`;
    const env = { ORG: place.server.organization, ...USUAL };
    const program = await place.program("bench", source, env, { ownProcess: true, plugin });
    const timed = async (...args: string[]) => {
      await place.server.takeRequests();
      const start = performance.now();
      await program.must(...args);
      const seconds = (performance.now() - start) / 1000;
      return { seconds, requests: (await place.server.takeRequests()).length / groups };
    };
    // The text that the engine writes at each step.
    const stateBytes = (): number =>
      statSync(join(program.folder, "state", ".pulumi", "stacks", "bench", "dev.json")).size;
    const emptyBytes = stateBytes();
    const up = await timed("up", "--yes", "--skip-preview");
    const bytes = Math.round((stateBytes() - emptyBytes) / groups);
    const preview = await timed("preview", "--expect-no-changes");
    const refresh = await timed("refresh", "--yes");
    const destroy = await timed("destroy", "--yes", "--skip-preview");
    return { up, preview, refresh, destroy, bytes };
  } finally {
    await place.close();
  }
};

const folder = mkdtempSync(join(tmpdir(), "irm-bench-"));
const runs: Record<Form, Figures[]> = { dynamic: [], native: [] };
try {
  await writePlugin(folder, { version: "0.0.0", range: ">=22.19" });
  for (let round = 0; round < rounds; round += 1)
    for (const form of ["dynamic", "native"] as const) runs[form].push(await measure(form, folder));
} finally {
  rmSync(folder, { recursive: true });
}
for (const form of ["dynamic", "native"] as const) {
  for (const command of COMMANDS) {
    const seconds = median(runs[form].map((one) => one[command].seconds)).toFixed(1);
    const requests = median(runs[form].map((one) => one[command].requests)).toFixed(2);
    console.log(`${form} ${command}: ${seconds} s, ${requests} requests a group`);
  }
  console.log(`${form} state: ${median(runs[form].map(({ bytes }) => bytes))} bytes a group`);
}
