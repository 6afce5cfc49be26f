// `irm export` of random organizations. The program takes over every record and writes nothing, it has nothing to do the second time, and
// on a fresh service it creates an organization that is alike.
import type { Export } from "../../access/export/model.ts";
import { type Contents, type ExportKind, KINDS, readContents } from "../../access/export/read.ts";
import { type Json, resources } from "../../schema/index.ts";
import { type ProgramHost, startProgramHost } from "../harness/small-engine/program-host.ts";
import { createRandom, type Random } from "../support/random.ts";
import { differencesOfCopy, exported, type Form, formText, mapRecords, secretsFor } from "./export/exported.ts";
import { differencesBetween } from "./export/likeness.ts";
import { type Deployment, deploy, PROJECT } from "./export/program.ts";
import { type Service, startService } from "./export/service.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { growOrganization } from "./random-organization.ts";

const FORMS: readonly Form[] = [
  { format: "typescript", isNative: false },
  { format: "yaml", isNative: false },
  { format: "typescript", isNative: true },
  { format: "yaml", isNative: true },
];

const FAILURES_MAX = 5;

/** `rounds`: organizations, each in one form. */
export const exports = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const counts: Counts = { organizations: 0, records: 0, kinds: new Map(), adopted: 0, created: 0, leftOut: 0 };
  const failures: string[] = [];
  const host = await startProgramHost();
  const { stackTraceLimit } = Error;
  // The SDK takes the stack of each promise, which is a sixth of the time.
  Error.stackTraceLimit = 1;
  try {
    for (let i = 0; i < rounds && failures.length < FAILURES_MAX; i += 1) {
      const form = FORMS[i % FORMS.length] as Form;
      const problems = await proveOne(host, seed * 10_000 + i, form, counts);
      failures.push(...problems.map((one) => `organization ${i}, ${formText(form)}: ${one}`));
      if ((i + 1) % 25 === 0) log?.(`${i + 1} of ${rounds} organizations, ${counts.records} records`);
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    host.close();
  }
  return {
    figures: {
      organizations: counts.organizations,
      "records of all kinds": counts.records,
      ...Object.fromEntries([...counts.kinds].map(([kind, count]) => [`  ${resources[kind].words}`, count])),
      "records that a resource took over": counts.adopted,
      "records that a program names and leaves out": counts.leftOut,
      "resources created on a fresh service": counts.created,
      divergences: failures.length,
    },
    failures,
  };
};

interface Counts {
  organizations: number;
  records: number;
  /** records of each */
  kinds: Map<ExportKind, number>;
  adopted: number;
  created: number;
  leftOut: number;
}

interface Proof {
  host: ProgramHost;
  source: Service;
  fresh: Service;
  contents: Contents;
  form: Form;
  random: Random;
  counts: Counts;
}

const proveOne = async (host: ProgramHost, seed: number, form: Form, counts: Counts): Promise<string[]> => {
  const [source, fresh] = [await startService(), await startService()];
  try {
    const random = createRandom(seed);
    const outsider = await createOutsider(source);
    await growOrganization(random, source, {
      organization: source.organization,
      others: [outsider],
      nowMs: source.client().clock.today(),
    });
    const contents = await readContents(source.client(), source.organization);
    counts.organizations += 1;
    for (const kind of KINDS) {
      const { length } = contents.records[kind];
      counts.records += length;
      counts.kinds.set(kind, (counts.kinds.get(kind) ?? 0) + length);
    }
    const proof = { host, source, fresh, contents, form, random, counts };
    return [...(await takesOver(proof)), ...(await createsTheSame(proof))];
  } catch (error) {
    return [(error as Error).stack ?? String(error)];
  } finally {
    await Promise.all([source.close(), fresh.close()]);
  }
};

const createOutsider = async ({ call, renewToken }: Service): Promise<string> => {
  const beside = await call("POST", "/iam/v2beta1/groups", { body: { name: "beside" } });
  await renewToken();
  const body = { name: "outsider", claimMatch: { issuer: "https://issuer.example", subject: "outsider" } };
  const { json } = await call("POST", `/iam/v2beta1/identities/${beside.json.uid}`, { body });
  return json.uid as string;
};

const takesOver = async ({ host, source, contents, form, random, counts }: Proof): Promise<string[]> => {
  const nowMs = source.client().clock.today();
  const { all, files, problems } = exported(contents, form, true, nowMs);
  const shuffled = { ...contents, records: mapRecords(contents.records, (_, own) => random.shuffle(own)) };
  const again = exported(shuffled, form, true, nowMs);
  if ([...files].some(([name, text]) => again.files.get(name) !== text))
    problems.push("the program depends on the order in which the API lists records");
  counts.leftOut += all.leftOut.length;
  const stack = deploy(host, source, files, form.isNative);
  try {
    source.takeWrites();
    problems.push(...(await problemsOfRuns("adopting", stack, all, {})));
    problems.push(...source.takeWrites().map((one) => `adopting sent ${one}`));
    const taken = uidsIn(stack);
    counts.adopted += taken.size;
    // Without its secret, an identity provider is named by its uid.
    const missing = all.entries.filter(({ uid, secret }) => secret === undefined && !taken.has(uid));
    problems.push(...missing.map(({ kind, uid }) => `${kind} ${uid} was not taken over`));
    const after = await readContents(source.client(), source.organization);
    problems.push(...differencesBetween(contents.records, after.records));
    return withText(problems, files);
  } finally {
    stack.remove();
  }
};

const createsTheSame = async ({ host, source, fresh, contents, form, counts }: Proof): Promise<string[]> => {
  const { all, files, problems } = exported(contents, form, false, source.client().clock.today());
  const stack = deploy(host, fresh, files, form.isNative);
  try {
    problems.push(...(await problemsOfRuns("creating", stack, all, secretsFor(all, PROJECT))));
    counts.created += stack.state.size;
    problems.push(...(await differencesOfCopy(fresh, contents, all)));
    return withText(problems, files);
  } finally {
    stack.remove();
  }
};

/** Runs it twice: the second time there is nothing to do. */
const problemsOfRuns = async (
  what: string,
  stack: Deployment,
  { entries }: Export,
  config: Readonly<Record<string, string>>,
): Promise<string[]> => {
  const { errors } = await stack.up(config);
  if (errors.length > 0) return errors.map((error) => `${what}: ${error}`);
  const second = await stack.up(config);
  return [
    ...[...second.errors, ...second.steps].map((one) => `${what} again: ${one}`),
    ...(entries.length > 0 && stack.state.size === 0 ? [`${what}: nothing was declared`] : []),
  ];
};

/** Of the records that a stack has, those of its sets of role bindings among them. */
const uidsIn = ({ state }: Deployment): Set<string> =>
  new Set(
    [...state.values()].flatMap(({ outputs }) => [
      outputs.uid as string,
      ...((outputs.bindings ?? []) as Json[]).map(({ uid }) => uid as string),
    ]),
  );

const TEXT_MAX = 10_000;

/** Each problem with the program that has it. */
const withText = (problems: readonly string[], files: ReadonlyMap<string, string>): string[] =>
  problems.map((one) =>
    `${one}\n${[files.get("access.yaml") ?? "", files.get("index.ts")].join("\n")}`.slice(0, TEXT_MAX),
  );
