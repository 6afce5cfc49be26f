// Check, diff, create, read, update and delete of a resource: from the engine's messages to the methods that both adapters share
// (provider/engine/methods.ts), and back.
import { AT, SERVICE, serviceIn, withService } from "../client/preview-marks.ts";
import type { Methods, Provider } from "../provider/engine/methods.ts";
import { kindRecords, type StateKind } from "../provider/kind/index.ts";
import { isRoleName } from "../provider/kind/names.ts";
import { Incomplete } from "../provider/reconcile/incomplete.ts";
import { placeOfRecord } from "../provider/record/id.ts";
import type { Kind } from "../provider/record/kind.ts";
import { GIVEN, SECRETS, secretPaths, shownOncePaths, withoutPaths } from "../provider/record/normal-form.ts";
import {
  argumentOf,
  derivedOutputs,
  FORMER,
  hasDerivedPlace,
  IMPORTED,
  KEY,
  ORGANIZATION,
  PREVIEW,
  PROVIDER,
  REPLACE_ON,
  ROLE_NAME,
  RUN,
  type RunInput,
  withPlace,
} from "../provider/record/state.ts";
import { keyFrom } from "../pulumi/urn.ts";
import { isUnknown } from "../pulumi/value.ts";
import { type Json, outputsByArgument } from "../schema/index.ts";
import {
  type DetailedDiff,
  detailedDiff,
  detailedSetDiff,
  memberIn,
  plannedCreate,
  plannedSet,
  plannedUpdate,
} from "./detailed-diff.ts";
import { type Names, organizationIn, typeIn } from "./names.ts";
import type { ProgramNotes } from "./program.ts";
import type { Request } from "./request-type.ts";
import { checkResponse, createResponse, diffResponse, EMPTY, readResponse, updateResponse } from "./response.ts";
import { InitFailed, maskSecrets, Refusal } from "./status.ts";
import { structFrom } from "./struct.ts";
import { containsSecret, type Marked, plainFrom, withMarksOf, withSecrets } from "./value.ts";
import type { Fields } from "./wire-format.ts";

interface Operation {
  /** the substitute for the stack's organization if nothing else names it */
  organization: string;
  names: Names;
  /** The engine omits no record of the program. So a record with a secret name is met before the records that refer to it. */
  isWholeProgram: boolean;
  notes: ProgramNotes;
}

/** The methods of one configured provider. */
export const resourceMethods = ({ kinds }: Provider, { organization, names, isWholeProgram, notes }: Operation) => {
  const subjectOf = (urn: string): Subject => {
    const type = typeIn(urn);
    const name = `${type.charAt(0).toLowerCase()}${type.slice(1)}` as StateKind;
    if (!Object.hasOwn(kinds, name)) throw new Refusal(`there is no resource type ${type}`);
    return { type, kind: name === "roleBindingSet" ? undefined : kindRecords[name], methods: kinds[name] };
  };
  const { organizationInput, withKey } = keysFor(organization);
  /** Outputs in the state, completed with members that only the inputs contain. A state of the dynamic form contains them in both. */
  const storedFrom = (urn: string, id: string, outs: Json, inputs: Json): Json => ({
    ...withService(inputs),
    ...(inputs[FORMER] !== undefined && { [FORMER]: inputs[FORMER] }),
    ...(subjectOf(urn).kind === kindRecords.roleBinding && isRoleName(inputs.role) && { [ROLE_NAME]: inputs.role }),
    ...withKey(urn, withPlace(subjectOf(urn).kind, id, outs), inputs),
    ...(outs[KEY] !== undefined && { [KEY]: outs[KEY] }),
  });
  const oldOutputs = ({ urn, id, olds, oldInputs }: Compared) =>
    storedFrom(urn, id, plainFrom(olds), plainFrom(oldInputs));

  const noteName = (kind: Kind | undefined, uid: unknown, name: unknown, isSecret: boolean): void => {
    // The uid is its group's, which has another name.
    if (kind?.list.sharesUid !== true && !isUnknown(uid)) names.note(uid, name, isSecret);
  };

  /** By URN, from the check. */
  const programs = new Map<string, Program>();
  /** The outputs of a create or an update for the state: the class derives the place, and the inputs contain the name of the role. */
  const storedOutputs = (urn: string, id: string, outs: Json, asked: Marked): Fields => {
    const { kind } = subjectOf(urn);
    noteName(kind, id, outs.name, containsSecret(asked.name));
    const isDerived = kind !== undefined && programs.get(urn)?.derivesParent === true;
    const stored = withoutPaths(withoutRoleName(outs, plainFrom(asked)), isDerived ? derivedOutputs(kind) : []);
    return outputs(kind, stored, asked);
  };
  /** The names of a role binding, as this process knows them. The check has already given the methods the names that the program passes. */
  const storedNames = (urn: string, ...[type, inputs, olds]: Parameters<Names["stored"]>) =>
    programs.get(urn)?.passesNames ? undefined : names.stored(type, inputs, olds);

  return {
    check: async ({ urn, olds, news: given }: Request<"check">) => {
      const { type, kind, methods } = subjectOf(urn);
      const asked = withRun(given);
      const [news, before] = [plainFrom(asked), plainFrom(olds)];
      const bag = withKey(urn, withNames(news, names.shown(type, news)), before);
      const isSecret = (members: readonly string[]) => members.some((name) => containsSecret(asked[name]));
      const showsNames = isWholeProgram || news.names !== undefined;
      const isOfClass = given[RUN] !== undefined;
      programs.set(urn, { derivesParent: isOfClass, passesNames: news.names !== undefined });
      const { inputs, failures } = await methods.check(before, bag, isSecret, showsNames);
      const isNew = Object.keys(before).length === 0;
      notes.noteCheck({ urn, type, kind, isNew, asked, inputs, isRefused: failures.length > 0, isOfClass });
      const { [KEY]: _key, ...shown } = news.names === undefined ? withoutNames(inputs) : inputs;
      return checkResponse(
        inputsWith(kind, { ...shown, ...organizationInput(news, before) }, asked),
        failures.map(({ property, reason }) => ({ property, reason: maskSecrets(reason) })),
      );
    },

    diff: async (request: Request<"diff">) => {
      const { id, urn, news: asked } = request;
      const subject = subjectOf(urn);
      const { result, detailed } = await compare(subject, request);
      if (result.replaces.length === 0) noteName(subject.kind, id, plainFrom(asked).name, containsSecret(asked.name));
      return diffResponse(result.changes, detailed, {
        replaces: result.replaces,
        deleteBeforeReplace: !result.isGone && !canCoexist(subject.kind, detailed),
      });
    },

    create: async ({ urn, properties: asked, preview }: Request<"create">) => {
      const { type, kind, methods } = subjectOf(urn);
      const inputs = withKey(urn, plainFrom(asked));
      notes.isPreview = preview !== 0;
      if (preview) {
        const taken = await methods.planned(withNames(inputs, names.shown(type, inputs)));
        const planned = kind ? plannedCreate(kind, inputs, taken) : plannedSet({}, inputs);
        noteName(kind, planned.uid, inputs.name, containsSecret(asked.name));
        return createResponse("", outputs(kind, planned, asked));
      }
      refuseUnchecked(type, inputs);
      const { id, outs } = await methods
        .create(withNames(inputs, storedNames(urn, type, inputs)))
        .catch((error) => initFailed(error, kind, asked));
      return createResponse(id, storedOutputs(urn, id, outs, asked));
    },

    read: async ({ id, urn, properties: state, inputs: marks }: Request<"read">) => {
      const { kind, methods } = subjectOf(urn);
      const [outs, inputs] = [plainFrom(state), plainFrom(marks)];
      const result = await methods.read(id, storedFrom(urn, id, { ...storedOr(outs, kind), ...outs }, inputs), inputs);
      if (result.id === "") return readResponse("");
      // The record was not read.
      if (result.inputs === undefined) return readResponse(result.id, structFrom(state), structFrom(marks));
      noteName(kind, result.id, result.props.name, containsSecret(state.name));
      const named = state[ROLE_NAME] === undefined ? withoutRoleName(result.props, inputs) : result.props;
      const props = kind && hasDerivedPlace(kind, outs) ? withoutPaths(named, derivedOutputs(kind)) : named;
      const shown = inputs.names === undefined ? withoutNames(result.inputs) : result.inputs;
      const { [KEY]: _key, [REPLACE_ON]: _replaceOn, ...described } = shown;
      const before = inputs[KEY] === undefined ? organizationInput(outs, inputs) : { [KEY]: inputs[KEY] };
      return readResponse(result.id, outputs(kind, props, state), inputsWith(kind, { ...described, ...before }, marks));
    },

    update: async (request: Request<"update">) => {
      const { id, urn, news: asked, preview } = request;
      const subject = subjectOf(urn);
      const { type, kind, methods } = subject;
      const olds = oldOutputs(request);
      const news = withKey(urn, plainFrom(asked));
      notes.isPreview = preview !== 0;
      if (preview) {
        await methods.plannedUpdate();
        const { detailed, derived, before } = await compare(subject, request);
        const planned = kind
          ? { ...derived, ...plannedUpdate(kind, before, news, detailed) }
          : plannedSet(before, news);
        return updateResponse(outputs(kind, planned, asked));
      }
      refuseUnchecked(type, news);
      const { outs } = await methods
        .update(id, olds, withNames(news, storedNames(urn, type, news, olds)))
        .catch((error) => initFailed(error, kind, asked));
      return updateResponse(storedOutputs(urn, id, outs, asked));
    },

    delete: async ({ id, urn, properties, oldInputs }: Request<"delete">) => {
      notes.isPreview = false;
      await subjectOf(urn).methods.delete(id, storedFrom(urn, id, plainFrom(properties), plainFrom(oldInputs)));
      return EMPTY;
    },
  };

  async function compare({ type, kind, methods }: Subject, request: Compared) {
    const { id, urn } = request;
    const olds = oldOutputs(request);
    const oldInputs = plainFrom(request.oldInputs);
    const inputs = withKey(urn, plainFrom(request.news));
    const news = withNames(inputs, storedNames(urn, type, inputs, olds));
    const found = await methods.diff(id, olds, news);
    // In an open stack the diff compared the current outputs.
    const before = found.observed ?? olds;
    const compared = { id, olds: before, stored: olds, news, oldInputs, result: found };
    const detailed = kind ? detailedDiff(kind, compared) : detailedSetDiff(compared);
    // The program reads an output that the state of its predecessor lacks. This is not reported as a property change: the option
    // replaceOnChanges would apply to it.
    const isLacking = programs.get(urn)?.derivesParent === false && olds.parent === undefined;
    const parent = kind && isLacking ? placeOfRecord(kind, id) : "";
    const derived = parent === "" ? {} : { parent };
    return { result: { ...found, changes: found.changes || parent !== "" }, detailed, derived, before };
  }
};

/** Keys of the journal, in the organization of the stack or in the one that the state names. */
const keysFor = (organization: string) => {
  const organizationOf = (...said: Json[]): string => {
    const texts = said.flatMap((one) => [one[ORGANIZATION], organizationIn(one[KEY])]);
    return texts.find((text): text is string => typeof text === "string" && text !== "") ?? organization;
  };
  /** The input by which the key of a resource is found again: none if the URN and the backend give the whole key. */
  const organizationInput = (...said: Json[]): Json => {
    const own = organizationOf(...said);
    return own === organization ? {} : { [ORGANIZATION]: own };
  };
  const withKey = (urn: string, bag: Json, before: Json = {}): Json => {
    const { [ORGANIZATION]: _organization, ...own } = bag;
    return { ...own, [KEY]: keyFrom(urn, organizationOf(bag, before)) };
  };
  return { organizationInput, withKey };
};

const refuseUnchecked = (type: string, inputs: Json): void => {
  if (serviceIn(inputs) === undefined) throw new Refusal(`these inputs of a ${type} have not been checked`);
};

/** The requests that compare: a diff, and a preview of an update. */
type Compared = Request<"diff"> | Request<"update">;

/** Facts that a check gives about the program that declares a resource. */
interface Program {
  /** Its class derives the output `parent`: it is a TypeScript class of this package. */
  derivesParent: boolean;
  passesNames: boolean;
}

interface Subject {
  /** `RoleBinding` */
  type: string;
  /** undefined for a set of role bindings, which is not a record of the API */
  kind: Kind | undefined;
  methods: Methods;
}

/** The stored outputs. An imported resource has none, and the values that the service shows once do not count as lost. */
const storedOr = (stored: Json, kind: Kind | undefined) =>
  Object.keys(stored).length === 0 && kind && shownOncePaths(kind).length > 0 ? { [IMPORTED]: true } : stored;

/**
 * Whether a replacement may exist beside its record: its place or a unique field differs. The engine may replace a resource that this diff
 * would only update: for replaceOnChanges, or `--replace`.
 */
const canCoexist = (kind: Kind | undefined, detailed: DetailedDiff) =>
  !kind?.unique ||
  ["parent", ...kind.unique.map((field) => argumentOf(kind, field))].some((name) => detailed.has(name));

/** The inputs for the methods, with the names that the program does not pass. */
const withNames = (inputs: Json, names: Json | undefined) => (names === undefined ? inputs : { ...inputs, names });

/** The inputs that the check reads, unpacked from the one input that the class passes. */
const withRun = ({ [RUN]: run, ...asked }: Marked): Marked => {
  const { organization, isPreview, names } = (run ?? {}) as RunInput;
  return {
    ...asked,
    ...(organization !== undefined && { [ORGANIZATION]: organization }),
    ...(isPreview !== undefined && { [PREVIEW]: isPreview }),
    ...(names !== undefined && { names }),
  };
};

const withoutNames = ({ names: _names, ...inputs }: Json) => inputs;

const withoutRoleName = (outs: Json, { role }: Json) =>
  outs[ROLE_NAME] === role ? withoutPaths(outs, [ROLE_NAME]) : outs;

/** Without members that the inputs contain, that the URN gives, or that only a dynamic resource needs. */
const withoutInputs = ({
  [KEY]: _key,
  [SERVICE]: _service,
  [PROVIDER]: _provider,
  [REPLACE_ON]: _replaceOn,
  [AT]: _at,
  [FORMER]: _former,
  ...outs
}: Json) => outs;

/** Inputs are secret if the program marks them, or if the service never returns them. */
const inputsWith = (kind: Kind | undefined, inputs: Json, marks: Marked) =>
  structFrom(withSecrets(withMarksOf(inputs, marks), kind ? secretPaths(kind) : []));

/** Outputs are secret if their inputs are, or if the service shows them once or never. */
const outputs = (kind: Kind | undefined, outs: Json, marks: Marked) => {
  const given = kind ? Object.keys(outs[GIVEN] ?? {}).map((path) => memberIn(argumentOf(kind, path))) : [];
  const isTextSecret = given.some((name) => containsSecret(marks[name]));
  const own: Marked = { ...marks, [ROLE_NAME]: marks.role };
  for (const { output, argument } of kind ? outputsByArgument(kind.schema) : []) own[output] ??= marks[argument];
  const always = [SECRETS, ...(isTextSecret ? [GIVEN] : []), ...(kind ? shownOncePaths(kind) : [])];
  return structFrom(withSecrets(withMarksOf(withoutInputs(outs), own), always));
};

/** The record exists but differs from the request: the engine keeps it, with the reason. */
const initFailed = (error: unknown, kind: Kind | undefined, asked: Marked): never => {
  if (!(error instanceof Incomplete)) throw error;
  const { id, properties, reasons } = error;
  const failed = { id, properties: outputs(kind, properties as Json, asked), inputs: structFrom(asked), reasons };
  throw new InitFailed(failed);
};
