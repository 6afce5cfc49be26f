// `irm export` of random organizations. The program adopts every record and writes nothing, it has nothing to do the second time, and
// on a fresh service it creates an organization that is alike.
import { createHash } from "node:crypto";
import { equalityKey } from "../../access/canonical.ts";
import { leftOutText } from "../../access/export/literal.ts";
import { type Export, exportOf } from "../../access/export/model.ts";
import { type Files, optionsOf, projectOf } from "../../access/export/project.ts";
import { type Contents, KINDS, readContents } from "../../access/export/read.ts";
import { isObject, type Json, parentOf } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import { IAM, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { requestsOf } from "../harness/signed-in.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type Deployment, deploy, PROJECT, startPacedServer } from "./export/program.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";
import { growOrganization } from "./random-organization.ts";

const FORMS = [false, true].flatMap((isNative) => [
  { format: "typescript" as const, isNative },
  { format: "yaml" as const, isNative },
]);

type Form = (typeof FORMS)[number];

const newFigures = () => ({
  "records of all kinds": 0,
  "records that a resource adopted": 0,
  "records that a program names and leaves out": 0,
  "resources created on a fresh service": 0,
});

/** `rounds`: organizations, each in one form. */
export const exports = async (options: PartOptions): Promise<PartResult> => {
  const figures = newFigures();
  const { stackTraceLimit } = Error;
  // The SDK takes the stack of each promise, which is a sixth of the time.
  Error.stackTraceLimit = 1;
  const failures = await proveEach(options, async (own, fail) => {
    const form = FORMS[own % FORMS.length] as Form;
    for (const text of await proveOne(own, form, figures)) fail(`${JSON.stringify(form)}: ${text}`);
  });
  Error.stackTraceLimit = stackTraceLimit;
  return { figures: { organizations: options.rounds, ...figures }, failures };
};

interface Proof {
  source: TestServer;
  fresh: TestServer;
  contents: Contents;
  form: Form;
  nowMs: number;
  random: Random;
  figures: ReturnType<typeof newFigures>;
}

const proveOne = async (seed: number, form: Form, figures: Proof["figures"]): Promise<string[]> => {
  const [source, fresh] = [await startPacedServer(), await startPacedServer()];
  try {
    const random = createRandom(seed);
    const { organization } = source;
    const nowMs = source.clock.today();
    await growOrganization(random, source, { organization, others: [await createOutsider(source)], nowMs });
    const contents = await readContents(clientOf(source), organization);
    figures["records of all kinds"] += KINDS.reduce((sum, kind) => sum + contents.records[kind].length, 0);
    const proof = { source, fresh, contents, form, nowMs, random, figures };
    return [...(await takesOver(proof)), ...(await createsTheSame(proof))];
  } finally {
    await Promise.all([source.close(), fresh.close()]);
  }
};

/** Takes a token that knows the organizations that were made since. */
const renewToken = async (api: TestServer): Promise<void> => {
  api.owner.token = await api.token(api.identity, { subject: "owner" });
};

/** An identity of another organization. */
const createOutsider = async (api: TestServer): Promise<string> => {
  const beside = await createUid(api, "groups", "", { name: "beside" });
  await renewToken(api);
  return createUid(api, "identities", beside, { name: "outsider" });
};

const takesOver = async ({ source, contents, form, nowMs, random, figures }: Proof): Promise<string[]> => {
  const { all, files, problems } = exported(contents, form, true, nowMs);
  const shuffled = { ...contents, records: mapRecords(contents.records, (_, own) => random.shuffle(own)) };
  const again = exported(shuffled, form, true, nowMs);
  if ([...files].some(([name, text]) => again.files.get(name) !== text))
    problems.push("the program depends on the order in which the API lists records");
  figures["records that a program names and leaves out"] += all.leftOut.length;
  const stack = deploy(source, files, form.isNative);
  try {
    source.log.length = 0;
    problems.push(...(await problemsOfRuns("adopting", stack, all)));
    for (const { method, path } of requestsOf(source))
      if (method !== "GET" && !path.startsWith("/dev-issuer/")) problems.push(`adopting sent ${method} ${path}`);
    const taken = uidsIn(stack);
    figures["records that a resource adopted"] += taken.size;
    // Without its secret, an identity provider is named by its uid.
    const missing = all.entries.filter(({ uid, secret }) => secret === undefined && !taken.has(uid));
    problems.push(...missing.map(({ kind, uid }) => `${kind} ${uid} was not adopted`));
    const after = await readContents(clientOf(source), source.organization);
    problems.push(...differencesBetween(contents.records, after.records));
    return withText(problems, files);
  } finally {
    stack.remove();
  }
};

const createsTheSame = async ({ fresh, contents, form, nowMs, figures }: Proof): Promise<string[]> => {
  const { all, files, problems } = exported(contents, form, false, nowMs);
  const stack = deploy(fresh, files, form.isNative);
  const settings = all.entries.flatMap(({ secret }) => secret?.setting ?? []);
  const secrets = settings.map((one) => [`${PROJECT}:${one}`, "of the other service"]);
  try {
    problems.push(...(await problemsOfRuns("creating", stack, all, Object.fromEntries(secrets))));
    figures["resources created on a fresh service"] += stack.state.size;
    problems.push(...(await differencesOfCopy(fresh, contents, all)));
    return withText(problems, files);
  } finally {
    stack.remove();
  }
};

/** The reasons for which a program may leave out a record of a random organization. */
const KEPT = [
  "grants the same as another role binding of its group",
  "has a key __proto__, which a program would leave out without a word",
];
const NOT_COPIED = [
  "a policy cannot say its kind, ",
  "has ended, and a copy would be good again",
  "refers to what this program does not create: ",
];

/** `problems`: records that are left out for no good reason. */
const exported = (contents: Contents, { format, isNative }: Form, isAdopted: boolean, nowMs: number) => {
  const all = exportOf(contents, { ...optionsOf(format, isNative, isAdopted), nowMs });
  const reasons = [...KEPT, ...(isAdopted ? [] : NOT_COPIED)];
  const unexplained = all.leftOut.filter(({ why }) => !reasons.some((reason) => why.startsWith(reason)));
  const problems = [
    ...unexplained.map(leftOutText),
    ...all.notListed.map((one) => `${one} is in no list`),
    ...all.notVisible.map(({ message }) => message),
  ];
  return { all, files: projectOf(all, format, { isNative }), problems };
};

/** How the organization that a program has created differs from what it declares. */
const differencesOfCopy = async (api: TestServer, { records }: Contents, { entries }: Export): Promise<string[]> => {
  await renewToken(api);
  const { groups } = await api.ok("GET", `${IAM}/groups?uidp.inRoot=true&pageSize=200`);
  const roots = (groups as { uid: string }[]).map(({ uid }) => uid).filter((uid) => uid !== api.organization);
  const [root] = roots;
  if (root === undefined || roots.length > 1) return [`${roots.length} organizations were created`];
  const declared = new Set(entries.map(({ kind, uid }) => `${kind} ${uid}`));
  const made = (await readContents(clientOf(api), root)).records;
  // Who creates an organization owns it.
  const roleBinding = made.roleBinding.filter(({ identity }) => String((identity as Json).uid).startsWith(`${root}/`));
  const expected = mapRecords(records, (kind, own) => own.filter(({ uid }) => declared.has(`${kind} ${uid}`)));
  return differencesBetween(expected, { ...made, roleBinding });
};

type Records = Contents["records"];

type Own = Records[keyof Records];

const mapRecords = (records: Records, change: (kind: keyof Records, own: Own) => Own): Records =>
  Object.fromEntries(KINDS.map((kind) => [kind, change(kind, records[kind])])) as unknown as Records;

/** Runs it twice: the second time there is nothing to do. */
const problemsOfRuns = async (what: string, stack: Deployment, { entries }: Export, config = {}): Promise<string[]> => {
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
    [...state.values()].flatMap(({ outputs: { uid, bindings = [] } }) => [
      uid as string,
      ...(bindings as { uid: string }[]).map((one) => one.uid),
    ]),
  );

const TEXT_MAX = 10_000;

/** Each problem with the program that has it. */
const withText = (problems: readonly string[], files: Files): string[] =>
  problems.map((one) => [one, files.get("access.yaml") ?? "", files.get("index.ts")].join("\n").slice(0, TEXT_MAX));

/** What a service sets by itself, and what no program says. */
const LEFT_OUT = ["createTime", "updateTime", "lastSeenTime", "expirationTime", "keyId", "kind", "status"];

/** Colours of all records, and what a reader is shown of them. */
const coloursOf = (records: Records): Map<string, string[]> => {
  const nodes = KINDS.flatMap((kind) =>
    records[kind].map((record) => ({ kind, record, key: `${kind} ${record.uid}` })),
  );
  const byUid = Map.groupBy(nodes, ({ record }) => record.uid);
  const edges: Record<"at" | "other" | "how", string>[] = [];
  const connect = (from: string, uid: string, how: string): void => {
    for (const { key } of byUid.get(uid) ?? [])
      if (key !== from)
        edges.push({ at: from, other: key, how: `> ${how}` }, { at: key, other: from, how: `< ${how}` });
  };
  const labels = new Map(
    nodes.map(({ kind, record, key }) => {
      /** Of what is outside, such as a built-in role, the uid counts. */
      const ownOf = (value: unknown, how: string): unknown => {
        if (Array.isArray(value)) return value.map((one) => ownOf(one, how));
        if (isObject(value)) {
          const said = Object.entries(value).filter(([name]) => !LEFT_OUT.includes(name));
          return Object.fromEntries(said.map(([name, one]) => [name, ownOf(one, `${how}.${name}`)]));
        }
        if (typeof value !== "string" || !byUid.has(value)) return value;
        connect(key, value, how);
        return "of a record";
      };
      const { uid, createTime, expirationTime, ...fields } = record as Json & { uid: string };
      const lastsMs = Date.parse(String(expirationTime)) - Date.parse(String(createTime));
      for (const place of [uid, parentOf(uid)]) connect(key, place, "in");
      return [key, `${kind} ${equalityKey({ ...(ownOf(fields, "") as Json), lastsMs: String(lastsMs) })}`];
    }),
  );
  const around = Map.groupBy(edges, ({ at }) => at);
  let colours = labels;
  for (let distinct = 0, before = -1; distinct !== before; ) {
    const next = new Map(
      nodes.map(({ key }) => {
        const near = (around.get(key) ?? []).map(({ other, how }) => `${how} ${colours.get(other)}`).sort();
        const text = JSON.stringify([colours.get(key), near]);
        return [key, createHash("sha1").update(text).digest("hex")];
      }),
    );
    [before, distinct] = [distinct, new Set(next.values()).size];
    colours = next;
  }
  const shown = Map.groupBy(nodes, ({ key }) => `${colours.get(key)}`);
  return new Map([...shown].map(([colour, all]) => [colour, all.map(({ key }) => labels.get(key) as string)]));
};

/** What differs; empty where they are alike. */
const differencesBetween = (one: Records, other: Records): string[] => {
  const [a, b] = [coloursOf(one), coloursOf(other)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((colour) => {
    const [here, there] = [a.get(colour) ?? [], b.get(colour) ?? []];
    if (here.length === there.length) return [];
    return [`${here.length} and ${there.length} of ${here[0] ?? there[0]}`];
  });
};
