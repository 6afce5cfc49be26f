// The steps of a kind whose resources are records of the API.

import type { PlannedAdoption } from "../../client/preview-marks.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { isAlike, noteRefreshed, observeRecord } from "../attribution/observe.ts";
import { kindRecords } from "../kind/index.ts";
import * as reconcile from "../reconcile/index.ts";
import { knownUid, recordId } from "../record/id.ts";
import { type Kind, title } from "../record/kind.ts";
import { secretPaths } from "../record/normal-form.ts";
import { hiddenMembers, isEmpty, KEY, MATCH, nameInKey } from "../record/state.ts";
import { previewRecovery } from "../recovery/preview.ts";
import { adoptionsWith } from "./adoption.ts";
import { duplicateWarnings } from "./duplicates.ts";
import { kindChecksWith } from "./kind-checks.ts";
import { lookUpRecord, withoutLookUp } from "./look-up.ts";
import type { ShownNames } from "./record-names.ts";
import { recordReviewWith } from "./record-review.ts";
import { bindingReviewWith } from "./review.ts";
import type { IsSecret, StepParts, Steps } from "./steps.ts";

const { roleBinding } = kindRecords;

/** Facts from the check of a resource for the steps that follow it. */
interface Checked {
  isSecret: IsSecret | undefined;
  /** the names that the program passes: the state does not need them, so the engine's inputs omit them */
  names: unknown;
  /** present if it is known which names the program hides */
  shown: ShownNames | undefined;
}

type Shared = ReturnType<typeof sharedWith>;

/** The state that the steps of all kinds share. */
const sharedWith = (parts: StepParts) => ({
  ...parts,
  adoptions: adoptionsWith(parts),
  kindChecks: kindChecksWith(parts),
  recordReview: recordReviewWith(parts.sentence),
  bindingReview: bindingReviewWith(parts),
  warningOfDuplicate: duplicateWarnings(),
  /** by key */
  checked: new Map<unknown, Checked>(),
  /** Keys of the stack's resources whose records the engine has not shown yet by comparing them: for `--replace URN` it never does. */
  notCompared: new Set<unknown>(),
});

export const recordStepsWith = (parts: StepParts): ((kind: Kind) => Steps) => {
  const shared = sharedWith(parts);
  return (kind) => stepsOf(shared, kind);
};

const stepsOf = (shared: Shared, kind: Kind): Steps => ({
  derivesParent: true,
  lookUp: async (olds, asked, { looksUp, offline, isSecret = () => true }) => {
    const { isUnseen = false, ...adopted } = await shared.adoptions.adopted(kind, olds, asked);
    if (adopted.missing || !(looksUp || isUnseen)) return { ...adopted, failures: [] };
    const { news } = adopted;
    return offline.reason
      ? withoutLookUp(olds, news)
      : lookUpRecord({ ...shared, again: shared.adoptions.again }, kind, olds, news, isSecret);
  },
  check: async (olds, { [MATCH]: match, ...given }, { isSecret, showsNames, mayReplace }) => {
    const { log, notCompared, ledger, kindChecks, bindingReview, recordReview } = shared;
    const isNew = isEmpty(olds);
    if (!isNew) notCompared.add(given[KEY]);
    // A component has found the record (provider/program/policy-match.ts). For a resource in the state, the match is its own record.
    const isMatched = isUidp(match) && !notCompared.has(given[KEY]);
    if (isMatched) log(`${kind.type} ${nameInKey(given[KEY])} adopts ${kind.word} ${match} ${title(given)}`);
    const news = isMatched ? { ...given, adopt: match } : given;
    const { inputs, failures } = reconcile.check(kind, olds, news, mayReplace);
    if (failures.length > 0) return { inputs, failures };
    const { names, ...kept } = inputs;
    const shown = showsNames ? { own: names, isOpen: (argument: string) => !isSecret?.([argument]) } : undefined;
    shared.checked.set(inputs[KEY], { isSecret, names, shown });
    const asked = { olds, inputs, isSecret };
    const own = kindChecks[kind.field];
    const { adopt, [KEY]: key } = inputs;
    const problems: reconcile.CheckFailure[] = [];
    if (isUidp(adopt) && typeof key === "string") {
      // With this, the preview already refuses a record that two resources adopt, or that another resource manages.
      const reason = (await ledger()).ownership.plan(recordId(kind.field, adopt), key);
      if (reason !== undefined) problems.push({ property: "adopt", reason: `${kind.word} ${adopt} ${reason}` });
    }
    problems.push(...((await own?.problems(asked)) ?? []));
    if (isNew && kind === roleBinding) await bindingReview.checked(inputs, shown);
    if (isNew && isSecret) recordReview.noteCheck(kind, inputs, isSecret);
    if (problems.length === 0) await own?.pass(asked);
    return { inputs: kept, failures: problems };
  },
  createsMore: () => false,
  planned: (inputs) => planned(shared, kind, inputs),
  knownUid: async (inputs, taken) => {
    const uid = knownUid(kind, inputs, taken);
    if (uid !== undefined) await noteName(shared, kind, uid, inputs);
    return uid;
  },
  held: (id, outputs, news) => {
    const kept = news && { adopted: outputs.adopted === true };
    return [{ kind, uid: id, owner: news?.[KEY] as string | undefined, kept }];
  },
  diff: async (id, olds, asked) => {
    const { checked, notCompared, log, bindingReview, recordReview } = shared;
    const { isSecret, names, shown } = checked.get(asked[KEY]) ?? {};
    const news: Json = { names, ...asked };
    notCompared.delete(news[KEY]);
    if (isSecret) await noteName(shared, kind, id, news);
    const compared = reconcile.diff(kind, id, olds, news);
    if (compared.warning) log(compared.warning);
    if (kind === roleBinding) await bindingReview.compared(olds, news, shown);
    if (isSecret) recordReview.noteDiff(kind, id, olds, news, compared.replaces.length > 0, isSecret);
    return compared;
  },
  observe: async (session, stack, id, stored) => {
    const outputs = await observeRecord(session, stack, kind, id, stored);
    return (
      outputs && { outputs: { ...hiddenMembers(stored), ...outputs }, differs: !isAlike(kind, id, outputs, stored) }
    );
  },
  noteRead: async (session, stack, id, stored, outputs) => {
    stack.live.skip(kind, id);
    await noteRefreshed(session, stack, kind, id, stored, outputs);
    const isKnown = outputs !== undefined && secretPaths(kind).length === 0;
    return isKnown ? { outputs: { ...hiddenMembers(stored), ...outputs }, differs: false } : undefined;
  },
  create: async (session, inputs) => {
    const { isSecret, names } = shared.checked.get(inputs[KEY]) ?? {};
    const created = await reconcile.create(kind, session, { names, ...inputs });
    if (isSecret) await noteName(shared, kind, created.id, inputs);
    return created;
  },
  read: async (session, id, stored, about) => {
    const result = await reconcile.read(kind, session, id, stored, about);
    if (result.id === "") await shared.adoptions.noteRemoved(kind, session, id, stored, about.inputs ?? {});
    // The state omits the parent, unless the program gets the resource by its uid, or is in another language.
    if (stored.uid === undefined || stored.parent !== undefined) return result;
    const { parent: _parent, ...props } = result.props;
    return { ...result, props };
  },
  update: (session, id, olds, news) =>
    reconcile.update(kind, session, id, olds, { names: shared.checked.get(news[KEY])?.names, ...news }),
  delete: async (session, id, stored) => {
    const isRemoved = await reconcile.remove(kind, session, id, stored);
    if (isRemoved && kind === roleBinding) shared.bindingReview.removed(stored);
  },
});

const planned = async (shared: Shared, kind: Kind, inputs: Json): Promise<PlannedAdoption | undefined> => {
  const { ledger, connect, hasCredentials, log, warningOfDuplicate, notCompared } = shared;
  if (notCompared.has(inputs[KEY])) return undefined;
  const session = (await hasCredentials()) ? await connect() : undefined;
  // This may ask the engine for leftovers of a killed run.
  const warning = session && (await warningOfDuplicate(kind, session, inputs));
  const recovery = await previewRecovery(kind, await ledger(), session, inputs);
  if (recovery) log(recovery.text);
  // If the killed run's record is not there yet, the equal record is a different one.
  if (warning !== undefined && recovery?.taken.uid === undefined) log(warning);
  return recovery?.taken;
};

/** Only if it is known whether the name is secret. */
const noteName = async (
  { checked, names, ledger }: Shared,
  kind: Kind,
  uid: string,
  { name, [KEY]: key }: Json,
): Promise<void> => {
  const isSecret = NAMED.includes(kind) ? checked.get(key)?.isSecret?.(["name"]) : undefined;
  if (isSecret === undefined) return;
  names.note(uid, name, isSecret);
  if (isSecret) (await ledger()).secretNames.add(uid);
};

/** A role binding names these. */
const NAMED: readonly Kind[] = [kindRecords.group, kindRecords.identity, kindRecords.role];
