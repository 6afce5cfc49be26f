// The run of a review: the program's real `pulumi up` against twins of the services, with a copy of the stack, in a temporary place.
import type { Call } from "../../access/change/methods.ts";
import { secretIn } from "../../access/change/text.ts";
import { writesFrom } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import type { Other, RunActor } from "../../access/review/report.ts";
import { unionOf } from "../../access/review/services.ts";
import type { RunRecord } from "../../access/run/record.ts";
import type { Client } from "../../client/client.ts";
import type { RunFile } from "../../client/run-file.ts";
import { EngineError, engineWith, type RunOperation } from "../../pulumi/command.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { stackSetting } from "../../pulumi/project.ts";
import { type Exported, engineStateFrom, exportFrom, type StateResource, secretsIn } from "../../pulumi/state.ts";
import { ourTypeOf, partsOfUrn, stackOfUrn } from "../../pulumi/urn.ts";
import { UserError } from "../../schema/index.ts";
import { missingLines, copyOf as readCopyOf } from "../copy.ts";
import { ENGINE } from "../engine-command.ts";
import { type Sides, sidesOf } from "../twin/sides.ts";
import { readTwin, recordsOf, startTwin, type Twin, type TwinLive } from "../twin/twin.ts";
import { actorsOf, type Rights } from "./actor.ts";
import { type CloudBackend, cloudOf, configOf, fullNameOf, startCloudBackend } from "./cloud.ts";
import { copyJournals, copyReferences, copyStack } from "./copy-stack.ts";
import { judgeFrom } from "./others/judge.ts";
import { type Others, startOthers } from "./others/others.ts";
import { outcomeOf, withDependents } from "./outcome.ts";
import { createPlace, type Place, projectAt } from "./place.ts";
import { runUp } from "./up.ts";
import type { ProgramUser } from "./user.ts";

export interface RunInput {
  /** the engine and its first arguments; default: the one on the PATH */
  command?: readonly [string, ...string[]];
  /** default: `up` */
  operation?: RunOperation | undefined;
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** as the user named it; absent: the selected one */
  stack?: string | undefined;
  /** of the user, for the engine (cli/engine-command.ts) */
  arguments?: readonly string[];
  /** of the same program: the run needs facts of it, but takes no change of access from it */
  preview: Preview;
  /** by address */
  clients: ReadonlyMap<string, Client>;
  /** default: reads one */
  copyOf?(client: Client, address: string): Promise<Copy>;
  /** uid of the identity that will apply the program; absent: the caller's */
  as?: string | undefined;
  /** uids of undeclared records that it may remove; absent: all */
  removes?: string[] | undefined;
  /** on the twins; default: `operator` */
  rights?: Rights | undefined;
  /** of the program; default: that of this process */
  user?: ProgramUser | undefined;
}

/** The result of the run, and its traces at the services. */
export interface UpdateRun extends RunRecord {
  as: RunActor;
  services: readonly Sides[];
  others: readonly Other[];
  isSecret(text: string): boolean;
  notCopied: readonly string[];
}

/** Removes its traces at the end, also after an abort. Errors: UserErrors, and those of the clients. */
export const runOnTwins = async (input: RunInput, signal: AbortSignal): Promise<UpdateRun> => {
  const { cwd, env, preview, user, rights = "operator", command = ENGINE, copyOf = readCopyOf } = input;
  const project = projectAt(cwd);
  const name = stackOf(input);
  const engine = engineWith(command, { signal, user });
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
      originals.push({ address, client, copy: await copyOf(client, address) });
    }
    const actors = await actorsOf(originals, { as: input.as, rights });
    const [first] = actors;
    const services: RunFile["services"] = [];
    for (const { address, copy, actor } of actors) {
      const service = twins.length === 0 ? {} : { service: address };
      const onWrite = (call: Call) => void calls.push({ ...call, ...service });
      const twin = await startTwin(copy, address, { onWrite });
      twins.push(twin);
      const uid = actor.uid ?? undefined;
      const token = await (rights === "own" ? twin.tokenOf(uid as string) : twin.operatorToken(uid));
      services.push({ address, url: twin.url, token });
    }
    const before = await Promise.all(twins.map(readTwin));
    place = createPlace(env, credentialsIn(preview), user);
    place.writeTwins({ services, removes: input.removes });
    const original = { name: input.stack, cwd, env };
    const own = { project: project.name, stack: name };
    const fullName = cloud ? await fullNameOf(engine, original) : `organization/${project.name}/${name}`;
    let copied: Exported | undefined;
    if (cloud) backend = await startCloudBackend(cloud, fullName);
    else {
      copied = await copyStack(engine, place, original, own);
      await copyReferences(engine, place, preview, { cwd, env, ...own });
    }
    const quiet = { ...place.env, ...backend?.env };
    const settings = project.settingsOf(name);
    // Pulumi Cloud keeps configuration too, in environments and beside the stack.
    const config = cloud
      ? await configOf(engine, original)
      : Object.fromEntries(["irm:journal", "irm:baseUrl"].map((key) => [key, stackSetting(cwd, name, key)]));
    const addresses = [...input.clients.keys()];
    copyJournals(place, { cwd, env, config, name: fullName, preview, addresses, user }, quiet);
    const judge = judgeFrom(preview, input.arguments);
    others = await startOthers({ place, cwd, env, run: quiet, project, engine: command, judge, user });
    const run = { cwd, env: { ...quiet, ...others.env } };
    const { operation = "up" } = input;
    const chosen = { operation, arguments: input.arguments ?? [], exclude: withDependents(preview, judge.leftOut) };
    const stack = { stack: fullName, settings: place.copySettings(settings), ...chosen };
    const quietly = { ...run, cwd: place.projectOf(project.name) };
    const exportState = async () =>
      exportFrom(await engine.must(["stack", "export", "--stack", fullName, "--show-secrets"], quietly));
    place.give();
    const { resources: stored, begun } = stateIn(copied ?? (await exportState()));
    const { problems } = others;
    const up = await runUp(engine, { ...stack, events: place.events }, run).catch((error) => {
      // A provider without an answer may keep the run from its beginning.
      throw problems().length > 0 ? new EngineError(problems().join("\n")) : error;
    });
    const { resources: left } = stateIn(await exportState());
    const after = await Promise.all(twins.map((twin, i) => sidesOf(twin, before[i] as TwinLive)));
    const secrets = [stored, left].flatMap(secretsIn);
    const byAddress = new Map(twins.map((twin) => [twin.original, twin]));
    const elsewhere = place.elsewhere().map((one) => `a request was for ${one}, which has no twin: it was not sent`);
    const told = problems();
    // The engine quotes a problem in errors of its own.
    const errors = up.errors.filter((one) => !told.some((problem) => one.includes(problem)));
    const outcome = outcomeOf({
      ...up,
      ...{ preview, twins, leftOut: judge.leftOut, before: unionOf(before.map(({ graph }) => graph)) },
      errors: [...errors, ...told, ...elsewhere],
    });
    return {
      as: { uid: null, name: null, ...first?.actor, rights },
      services: after,
      ...{ stored, left, begun, ...outcome },
      normal: writesFrom(calls, { secrets, recordOf: recordsOf(byAddress, twins[0]?.original as string) }),
      isSecret: secretIn(secrets),
      notCopied: [...new Set(twins.flatMap(({ copy }) => missingLines(copy)))],
    };
  } finally {
    await others?.close();
    backend?.close();
    place?.remove();
    await Promise.all(twins.map((twin) => twin.close()));
  }
};

/** The stack's own name. */
const stackOf = ({ stack, preview }: RunInput) => {
  const found = (stackOfUrn(preview.steps[0]?.urn) ?? stack)?.split("/").at(-1);
  if (found === undefined) throw new UserError("the preview does not show the name of the stack: give --stack");
  return found;
};

/** The resources of this package and its providers in the engine's state. */
const stateIn = (exported: Exported) => {
  const { resources: all, pending } = engineStateFrom(exported);
  const resources = all.filter(isOurs);
  const made = new Set(resources.flatMap(({ urn, id }) => (id ? [urn] : [])));
  const begun = pending.flatMap(({ type, resource }) => (type === "creating" ? [resource] : []));
  return { resources, begun: begun.filter((one) => isOurs(one) && !made.has(one.urn)) };
};

const isOurs = ({ urn }: StateResource) =>
  ourTypeOf(urn) !== undefined || partsOfUrn(urn).type === "pulumi:providers:irm";

/** Variables that the program's providers name. Their credentials must stay away from the run. */
const credentialsIn = ({ steps }: Preview) =>
  steps.flatMap(({ newState, oldState }) => {
    const inputs = newState?.inputs ?? oldState?.inputs ?? {};
    return [inputs.tokenEnv, inputs.identityTokenEnv].filter((one) => typeof one === "string");
  });
