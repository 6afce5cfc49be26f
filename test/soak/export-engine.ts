// The same with a real engine and server processes, in every format that `irm export` writes.
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { readContents } from "../../access/export/read.ts";
import { systemClock } from "../../client/clock.ts";
import { ensureEngine } from "../../scripts/engine/engine.mjs";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { type LanguageHosts, useLanguageHosts } from "../harness/language-hosts.ts";
import compilePlugin from "../support/compile-plugin.ts";
import installLanguages from "../support/install-languages.ts";
import { createRandom } from "../support/random.ts";
import { countOf, differencesOfCopy, exported, type Form, formText, secretsFor } from "./export/exported.ts";
import { type Access, accessTo } from "./export/service.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { growOrganization } from "./random-organization.ts";

const FORMS: readonly Form[] = [
  { format: "typescript", isNative: false },
  { format: "typescript", isNative: true },
  { format: "yaml", isNative: false },
  { format: "yaml", isNative: true },
  { format: "python", isNative: true },
  { format: "pulumi-yaml", isNative: true },
];

/** `rounds`: organizations, each in one form. */
export const exportsByEngine = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const hosts = await installHosts();
  const counts: Counts = { records: 0, commands: 0 };
  const failures: string[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const form = FORMS[i % FORMS.length] as Form;
    const problems = await proveOne(seed * 10_000 + i, form, hosts, counts);
    failures.push(...problems.map((one) => `organization ${i}, ${formText(form)}: ${one}`));
    log?.(`${i + 1} of ${rounds} organizations, ${formText(form)}`);
  }
  return {
    figures: {
      organizations: rounds,
      "records of all kinds": counts.records,
      "commands of the engine": counts.commands,
      divergences: failures.length,
    },
    failures,
  };
};

type Counts = Record<"records" | "commands", number>;

/** As before the tests that need them. */
const installHosts = async (): Promise<LanguageHosts> => {
  const given: Record<string, unknown> = {};
  const provide = (name: string, value: unknown): void => {
    given[name] = value;
  };
  await compilePlugin({ provide } as never);
  await installLanguages({ provide } as never);
  const hosts = given as unknown as LanguageHosts;
  useLanguageHosts(hosts);
  const engine = await ensureEngine();
  if (engine !== undefined) process.env.PATH = [engine, process.env.PATH].join(delimiter);
  return hosts;
};

const proveOne = async (seed: number, form: Form, hosts: LanguageHosts, counts: Counts): Promise<string[]> => {
  const [place, other] = await Promise.all([createWorkplace(), createWorkplace()]);
  const [source, fresh] = await Promise.all([accessTo(place.server, systemClock), accessTo(other.server, systemClock)]);
  try {
    await growOrganization(createRandom(seed), source, { organization: source.organization, nowMs: Date.now() });
    return [
      ...(await takesOver(place, source, form, hosts, counts)),
      ...(await createsTheSame({ source, other, fresh }, form, hosts, counts)),
    ];
  } catch (error) {
    return [(error as Error).stack ?? String(error)];
  } finally {
    source.close();
    fresh.close();
    await Promise.all([place.close(), other.close()]);
  }
};

const takesOver = async (
  place: Workplace,
  source: Access,
  form: Form,
  hosts: LanguageHosts,
  counts: Counts,
): Promise<string[]> => {
  const contents = await readContents(source.client(), source.organization);
  counts.records += countOf(contents);
  const { files, problems } = exported(contents, form, true, Date.now());
  const program = await createProgram(place, "taken", form, files, hosts);
  await place.server.takeRequests();
  problems.push(...(await problemsOfRuns("adopting", program, counts)));
  const writes = writesOf(await place.server.takeRequests());
  return [...problems, ...writes.map(({ operation }) => `adopting sent ${operation}`)];
};

interface Copy {
  source: Access;
  other: Workplace;
  fresh: Access;
}

const createsTheSame = async (
  { source, other, fresh }: Copy,
  form: Form,
  hosts: LanguageHosts,
  counts: Counts,
): Promise<string[]> => {
  const contents = await readContents(source.client(), source.organization);
  const { all, files, problems } = exported(contents, form, false, Date.now());
  const program = await createProgram(other, "copied", form, files, hosts);
  program.configure(secretsFor(all, "copied"));
  problems.push(...(await problemsOfRuns("creating", program, counts)));
  return [...problems, ...(await differencesOfCopy(fresh, contents, all))];
};

const problemsOfRuns = async (what: string, program: Program, counts: Counts): Promise<string[]> => {
  for (const args of [
    ["up", "--yes", "--skip-preview"],
    ["preview", "--expect-no-changes"],
  ]) {
    counts.commands += 1;
    const { code, output } = await program.run(...args);
    if (code !== 0) return [`${what}, ${args[0]}: ${output}`];
  }
  return [];
};

const createProgram = async (
  place: Workplace,
  name: string,
  { format, isNative }: Form,
  files: ReadonlyMap<string, string>,
  { pluginFolder }: LanguageHosts,
): Promise<Program> => {
  // Loaded once the hosts are known.
  const { createPythonProgram, createYamlProgram } = await import("../harness/language-program.ts");
  const textOf = (file: string): string => files.get(file) as string;
  const create = async (): Promise<Program> => {
    if (format === "python") return await createPythonProgram(place, name, textOf("__main__.py"));
    if (format !== "pulumi-yaml")
      return await place.program(name, textOf("index.ts"), {}, isNative ? { plugin: pluginFolder } : {});
    const project = textOf("Pulumi.yaml");
    return await createYamlProgram(place, name, project.slice(project.indexOf("\nresources:") + 1));
  };
  const program = await create();
  for (const file of ["access.yaml", "adopt.json"])
    if (files.has(file)) writeFileSync(join(program.folder, file), textOf(file));
  return program;
};
