// Flame graphs of the provider's process and of the plugin's while they create 1,000 resources: two pictures in docs/flame.
//
//   npm run -s bench:flame -- [RESOURCES]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/base/project.mjs";
import { countsFrom } from "./counts.ts";
import { flameGraph, type Profile, sharesOf } from "./engine/flame-graph.ts";
import { type Installation, install } from "./engine/install.ts";
import { sizeOf } from "./engine/size.ts";
import { openStack } from "./engine/stack.ts";

const [resources] = countsFrom("bench:flame -- [RESOURCES]", [1000]);

const SHOWN = {
  dynamic: { name: "provider", title: "The provider's process: dynamic resources" },
  native: { name: "plugin", title: "The plugin's process" },
} as const;

/** The engine ends a provider by SIGINT, at which Node would leave no profile. */
const ENDED = "for(const signal of['SIGINT','SIGTERM'])process.once(signal,()=>process.exit(0));\n";

const profileOf = async (installation: Installation, form: keyof typeof SHOWN): Promise<Profile> => {
  const stack = await openStack(installation, { form, size: sizeOf(resources) });
  try {
    const [folder, preload] = [join(stack.folder, "profiles"), join(stack.folder, "ended.cjs")];
    writeFileSync(preload, ENDED);
    // Without checkpoints: the profile is of our process, and the engine is over sooner.
    await stack.measure(["up", "--yes", "--skip-preview"], {
      PULUMI_SKIP_CHECKPOINTS: "true",
      NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder} --require ${preload}`,
    });
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    const profile = texts.find((text) =>
      text.includes(form === "native" ? "/plugin/main.mjs" : "cmd/dynamic-provider/"),
    );
    if (profile === undefined) throw new Error(`the process of the ${form} provider left no profile`);
    return JSON.parse(profile);
  } finally {
    await stack.close();
  }
};

const installations = await install();
try {
  const folder = join(root, "docs", "flame");
  mkdirSync(folder, { recursive: true });
  for (const form of ["dynamic", "native"] as const) {
    const { name, title } = SHOWN[form];
    const file = join(folder, `${name}.svg`);
    const profile = await profileOf(installations.ours, form);
    writeFileSync(file, flameGraph(profile, `${title}, ${resources} creates`));
    const shares = sharesOf(profile).slice(0, 12);
    console.log(`${name}: ${shares.map(([home, share]) => `${home} ${(share * 100).toFixed(0)} %`).join(", ")}`);
  }
} finally {
  installations.remove();
}
