// Bytes of the state for each role binding of a set, by the number of its members: each identity of the group has two roles.
//
//   npm run -s bench:set-state -- [MEMBERS...]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/base/project.mjs";
import { writePlugin } from "../scripts/build/plugin.ts";
import { createWorkplace } from "../test/harness/engine-workplace.ts";
import { MODULES } from "./engine/program.ts";

const members = process.argv.slice(2).map(Number);
const sizes = members.length > 0 ? members : [6, 25, 100];

const source = (module: string): string => `
import { Group, Identity, RoleBindingSet } from "${module}";
const { ORG: parent = "" } = process.env;
for (const members of ${JSON.stringify(sizes)}) {
  const name = \`g\${members}\`;
  const group = new Group(name, { parent, name });
  const identities = Array.from({ length: Math.ceil(members / 2) }, (_, i) => {
    const claimMatch = { issuer: "https://ci.example.com", subject: \`repo:acme/\${name}-i\${i}\` };
    return new Identity(\`\${name}-i\${i}\`, { parent: group, name: \`\${name}-i\${i}\`, claimMatch });
  });
  const bindings = identities.flatMap((identity) => ["viewer", "editor"].map((role) => ({ identity, role })));
  new RoleBindingSet(name, { parent: group, bindings: bindings.slice(0, members) });
}`;

const place = await createWorkplace();
try {
  const plugin = join(place.folder, "plugin");
  const { version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await writePlugin(plugin, { version, range: engines.node });
  for (const [form, module] of Object.entries(MODULES)) {
    const env = { ORG: place.server.organization };
    const program = await place.program(form, source(module), env, { plugin, ownProcess: true });
    await program.must("up", "--yes", "--skip-preview");
    const { resources } = program.state();
    for (const size of sizes) {
      const set = resources.find(({ urn }) => urn.endsWith(`RoleBindingSet::g${size}`));
      const { inputs, outputs, ...engine } = set ?? {};
      const bytes = (value: unknown) => Math.round(JSON.stringify(value).length / size);
      console.log(`${form}, ${size} members: ${bytes(set)} B a binding, ${bytes(engine)} of them the engine's`);
      console.log(`  inputs ${bytes(inputs)}, outputs ${bytes(outputs)}`);
    }
    await program.must("destroy", "--yes", "--skip-preview");
  }
} finally {
  await place.close();
}
