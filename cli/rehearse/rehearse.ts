// A rehearsal: the program's real `pulumi up` against twins of the services, with a copy of the stack, in a place that goes with it.
import type { ChangeContent } from "../../access/change/change.ts";
import type { Call } from "../../access/change/methods.ts";
import { changeRows } from "../../access/change/rows.ts";
import { writesFrom } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import { type Preview, PreviewError } from "../../access/preview/shape.ts";
import { ourTypeOf, partsOfUrn } from "../../access/preview/urn.ts";
import type { Rehearsal } from "../../access/rehearsal/report.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import type { Client } from "../../client/client.ts";
import type { Rehearsal as Twins } from "../../client/rehearsal.ts";
import { stackSetting } from "../../provider/run/project-file.ts";
import { isObject, isUidp, type Json } from "../../schema/index.ts";
import { notCopiedLines } from "../copy.ts";
import { accessInAll, rowsBetween, type TwinAccess } from "../twin/access.ts";
import { recordsIn, recordsOf, startTwin, type Twin } from "../twin/twin.ts";
import { actorsOf, type Rights } from "./actor.ts";
import { carriedOut } from "./carried.ts";
import { type CloudBackend, cloudOf, configOf, fullNameOf, startCloudBackend } from "./cloud.ts";
import { compareAccess } from "./compare.ts";
import { EngineError, rehearsalEngine } from "./engine.ts";
import { RehearsalError } from "./error.ts";
import { copyJournals } from "./journal.ts";
import { judgeFrom } from "./others/judge.ts";
import { type Others, startOthers } from "./others/others.ts";
import { outcomeOf } from "./outcome.ts";
import { createPlace, type Place, projectAt } from "./place.ts";
import { copyReferences } from "./references.ts";
import { runSecondPreview, runUp, UNCHANGED } from "./run.ts";
import { secretsIn } from "./secrets.ts";
import { copyStack } from "./stack.ts";

export interface RehearsalInput {
  /** the engine and its first arguments */
  command: readonly [string, ...string[]];
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** as the user named it; absent: the selected one */
  stack?: string | undefined;
  /** of the user, for the engine (cli/engine-arguments.ts) */
  arguments?: readonly string[];
  /** what was reviewed */
  preview: Preview;
  proposal: Proposal;
  /** what another preview of the program proposes */
  proposalOf(preview: Preview): Promise<Proposal>;
  /** by address */
  clients: ReadonlyMap<string, Client>;
  copyOf(client: Client, address: string): Promise<Copy>;
  /** uid of the identity that will apply the program; absent: the caller's */
  as?: string | undefined;
  /** what it may do on the twins; default: `operator` */
  rights?: Rights | undefined;
  /** text of the seal that binds the run; absent: none does */
  seal?: string;
  /** requests a second that the API allows */
  rateLimit?: number | undefined;
  /** Gets the change that the run has made, whole or not. */
  onChange?: (change: RunChange) => void;
}

/** What the run has sent, and the access that it gave. */
export type RunChange = Pick<ChangeContent, "services" | "as" | "writes" | "rows">;

/** Ends with nothing left, also when `signal` aborts. Errors: RehearsalError, EngineError, PreviewError, and the errors of the clients. */
export const rehearse = async (input: RehearsalInput, signal: AbortSignal): Promise<Rehearsal> => {
  const { cwd, env, preview, rights = "operator" } = input;
  const project = projectAt(cwd);
  const name = stackOf(input);
  const engine = rehearsalEngine(input.command, signal);
  const cloud = cloudOf(env, cwd);
  const twins: Twin[] = [];
  const calls: Call[] = [];
  let place: Place | undefined;
  let backend: CloudBackend | undefined;
  let others: Others | undefined;
  try {
    const originals = [];
    for (const [address, client] of input.clients) {
      signal.throwIfAborted();
      originals.push({ address, client, copy: await input.copyOf(client, address) });
    }
    const actors = await actorsOf(originals, { as: input.as, rights, before: input.proposal.before });
    const [first] = actors;
    if (input.onChange && first?.actor.uid === null)
      throw new RehearsalError(
        "the identity that applies the program is not known, and a change has its uid: give --as",
      );
    const services: Twins["services"] = [];
    for (const { address, copy, actor } of actors) {
      const service = twins.length === 0 ? {} : { service: address };
      const onWrite = (call: Call): void => void calls.push({ ...call, ...service });
      const twin = await startTwin(copy, address, { onWrite });
      twins.push(twin);
      const uid = actor.uid ?? undefined;
      const token = await (rights === "own" ? twin.tokenOf(uid as string) : twin.operatorToken(uid));
      services.push({ address, url: twin.url, token });
    }
    const before = await accessInAll(twins, []);
    place = createPlace(env, credentialsIn(preview));
    place.writeTwins(services, input.seal);
    const original = { name: input.stack, cwd, env };
    const own = { project: project.name, stack: name };
    const fullName = cloud ? await fullNameOf(engine, original) : `organization/${project.name}/${name}`;
    if (cloud) backend = await startCloudBackend(cloud, fullName);
    else {
      await copyStack(engine, place, original, own);
      await copyReferences(engine, place, preview, { cwd, env, ...own });
    }
    const quiet = { ...place.env, ...backend?.env };
    const settings = project.settingsOf(name);
    // Pulumi Cloud keeps configuration too, in environments and beside the stack.
    const config = cloud
      ? await configOf(engine, original)
      : Object.fromEntries(["irm:journal", "irm:baseUrl"].map((key) => [key, stackSetting(cwd, name, key)]));
    const addresses = [...input.clients.keys()];
    copyJournals(place, { cwd, env, config, name: fullName, preview, addresses }, quiet);
    const judge = judgeFrom(preview, input.arguments);
    others = await startOthers({ place, cwd, env, run: quiet, project, engine: input.command, judge });
    const run = { cwd, env: { ...quiet, ...others.env } };
    const chosen = { arguments: input.arguments ?? [], exclude: judge.leftOut };
    const stack = { stack: fullName, settings: place.copySettings(settings), ...chosen };
    const counted = countOf(twins);
    const up = await runUp(engine, { ...stack, events: place.events }, run).catch(because(others));
    const requests = countOf(twins) - counted;
    const secrets = input.onChange ? ["--show-secrets"] : [];
    const exported = await engine.must(["stack", "export", "--stack", fullName, ...secrets], {
      ...run,
      cwd: place.projectOf(project.name),
    });
    const resources = resourcesIn(exported);
    const uids = uidsIn(resources);
    // Also of one that no resource of the state has, since its step failed later.
    const created = calls.flatMap(({ method, response }) =>
      method === "CreateIdentity" ? [String(response.uid)] : [],
    );
    const after = await accessInAll(twins, [...uids.keys(), ...created]);
    const as = first?.actor.uid as string;
    input.onChange?.(changeFrom(calls, { twins, as, secrets: secretsIn(resources), before, after }));
    const elsewhere = place.elsewhere().map((one) => `a request was for ${one}, which has no twin: it was not sent`);
    const outcome = outcomeOf({
      ...up,
      ...{ preview, twins, before: input.proposal.before, leftOut: judge.leftOut },
      errors: [...withoutRepeated(up.errors, others.problems()), ...elsewhere],
    });
    const skipped = new Set(outcome.notRehearsed.map(({ urn }) => urn));
    const second = (await secondPreviewOf(() => runSecondPreview(engine, stack, run))).filter(
      ({ urn }) => !skipped.has(urn),
    );
    const undone = [...outcome.steps.filter(({ ok }) => !ok), ...outcome.notRehearsed];
    const part = carriedOut(preview, undone);
    const copiedUids = new Set(twins.flatMap(({ copy }) => recordsIn(copy).map(([, { uid }]) => uid)));
    const urns = new Map([...uids].filter(([uid]) => !copiedUids.has(uid)));
    const compared = compareAccess({
      actors: new Set(actors.map(({ actor }) => actor.uid)),
      ...{ proposal: input.proposal, before, after, urns, unsure: part.unsure },
      carried: undone.length === 0 ? input.proposal : await input.proposalOf(part.preview),
    });
    return {
      as: { uid: null, name: null, ...first?.actor, rights },
      ...outcome,
      ...compared,
      agrees: compared.differences.length === 0,
      secondPreviewEmpty: second.length === 0,
      secondPreview: second,
      requests,
      seconds: input.rateLimit === undefined ? null : Math.ceil(requests / input.rateLimit),
      notCopied: [...new Set(twins.flatMap(({ copy }) => notCopiedLines(copy)))],
    };
  } finally {
    await others?.close();
    backend?.close();
    place?.remove();
    await Promise.all(twins.map((twin) => twin.close()));
  }
};

/** The stack's own name. */
const stackOf = ({ stack, preview }: RehearsalInput): string => {
  const [, inUrn] = /^urn:pulumi:(.+?)::/s.exec(preview.steps[0]?.urn ?? "") ?? [];
  const found = inUrn ?? stack?.split("/").at(-1);
  if (found === undefined) throw new RehearsalError("the preview does not show the name of the stack: give --stack");
  return found;
};

/** A provider that gives no answer may keep the run from its beginning. */
const because =
  ({ problems }: Others) =>
  (error: Error): never => {
    throw problems().length > 0 ? new EngineError(problems().join("\n")) : error;
  };

/** The engine quotes the sentence in errors of its own. */
const withoutRepeated = (errors: readonly string[], problems: readonly string[]): string[] => [
  ...errors.filter((one) => !problems.some((problem) => one.includes(problem))),
  ...problems,
];

const countOf = (twins: readonly Twin[]): number => twins.reduce((sum, twin) => sum + twin.requests(), 0);

const HOLDERS: readonly (string | undefined)[] = ["Group", "Identity"];

/** Of this package and its providers, as the engine has stored them. */
const resourcesIn = (exported: string): (Json & { urn: string })[] => {
  const { deployment } = JSON.parse(exported) as { deployment?: { resources?: unknown[] } };
  return (deployment?.resources ?? []).flatMap((one) =>
    isObject(one) && typeof one.urn === "string" && isOurs(one.urn) ? [{ ...one, urn: one.urn }] : [],
  );
};

const isOurs = (urn: string): boolean =>
  ourTypeOf(urn) !== undefined || partsOfUrn(urn).type === "pulumi:providers:irm";

/** URNs of groups and identities by uid. A set of role bindings has the uid of its group. */
const uidsIn = (resources: readonly (Json & { urn: string })[]): Map<string, string> =>
  new Map(
    resources.flatMap(({ urn, id }): [string, string][] =>
      isUidp(id) && HOLDERS.includes(ourTypeOf(urn)) ? [[id, urn]] : [],
    ),
  );

interface RunParts {
  twins: readonly Twin[];
  /** uid of the identity that applies it */
  as: string;
  secrets: readonly string[];
  before: TwinAccess;
  after: TwinAccess;
}

const changeFrom = (calls: readonly Call[], { twins, as, secrets, before, after }: RunParts): RunChange => {
  const [first] = twins as [Twin];
  const byAddress = new Map(twins.map((twin) => [twin.original, twin]));
  const { writes, textOf } = writesFrom(calls, { secrets, recordOf: recordsOf(byAddress, first.original) });
  const between = { gains: rowsBetween(after, before), losses: rowsBetween(before, after) };
  return { services: [...byAddress.keys()], as, writes, rows: changeRows(between, textOf) };
};

/** A preview that fails is not empty. */
const secondPreviewOf = async (preview: () => Promise<Preview>): Promise<Rehearsal["secondPreview"]> => {
  try {
    return (await preview()).steps
      .filter(({ op, urn }) => !UNCHANGED.includes(op) && ourTypeOf(urn) !== undefined)
      .map(({ op, urn }) => ({ urn, op }));
  } catch (error) {
    if (error instanceof PreviewError) return [{ urn: "", op: error.message }];
    throw error;
  }
};

/** Variables that the program's providers name: they hold credentials, which the run must not have. */
const credentialsIn = ({ steps }: Preview): string[] =>
  steps.flatMap(({ newState, oldState }) => {
    const inputs = newState?.inputs ?? oldState?.inputs ?? {};
    return [inputs.tokenEnv, inputs.identityTokenEnv].filter((one) => typeof one === "string");
  });
