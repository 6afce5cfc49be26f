// The steps of a kind whose resources are records of the API.

import { mixedIdsFinder, mixedIdsText } from "../../access/workload/github-ids.ts";
import { neverMatchedIn } from "../../access/workload/never-matched.ts";
import { openPatternsIn } from "../../access/workload/open-pattern.ts";
import { isObject, isUidp, type Json } from "../../schema/index.ts";
import { isAlike, noteRefreshed, observeRecord } from "../attribution/observe.ts";
import { kindRecords } from "../kind/index.ts";
import * as reconcile from "../reconcile/index.ts";
import { knownUid, recordId } from "../record/id.ts";
import { type Kind, title } from "../record/kind.ts";
import { containsUnknown, isUnknown, secretPaths } from "../record/normal-form.ts";
import { hiddenMembers, KEY, MATCH, nameInKey } from "../record/state.ts";
import { expectCreate } from "../recovery/batch.ts";
import { previewInterrupted, previewRecovery } from "../recovery/preview.ts";
import { stackOf } from "../run/journal.ts";
import { adoptionsWith } from "./adoption.ts";
import { declaredTwiceWith, duplicateWarnings } from "./duplicates.ts";
import { lookUpRecord } from "./look-up.ts";
import { bindingNames, type IsOpen, shownNames } from "./record-names.ts";
import { recordReviewWith } from "./record-review.ts";
import { reviewWith } from "./review.ts";
import type { IsSecret, StepParts, Steps } from "./steps.ts";

/** A role binding names these. */
const NAMED: readonly Kind[] = [kindRecords.group, kindRecords.identity, kindRecords.role];

/** Whether the state leaves out the parent. It has one if the program gets the resource by its uid, or is in another language. */
const hasNoParent = (stored: Json): boolean => stored.uid !== undefined && stored.parent === undefined;

const withoutParent = ({ parent: _parent, ...outs }: Json): Json => outs;

/** The steps of all kinds of records, which share what a preview shows. */
export const recordStepsWith = (parts: StepParts): ((kind: Kind) => Steps) => {
  const { ledger, connect, hasCredentials, log, sentence, names } = parts;
  const duplicates = duplicateWarnings();
  const warnOfDeclaredTwice = declaredTwiceWith(log);
  const findMixedIds = mixedIdsFinder<unknown>();
  const review = reviewWith(sentence, log);
  const recordReview = recordReviewWith(sentence);
  const adoptions = adoptionsWith(parts);
  // By key, from the check: what the program marks as secret, where that is known.
  const secrets = new Map<unknown, IsSecret>();
  // Role bindings of which the names that the program hides are known, with those that it shows.
  const named = new Map<unknown, { own: Json | undefined; isOpen: IsOpen }>();
  const withNames = async (olds: Json, news: Json): Promise<Json> => {
    const shown = named.get(news[KEY]);
    if (shown === undefined || !review.isNew(olds, news)) return news;
    const given = shownNames(shown.own, news.names as Json | undefined);
    return { ...news, names: await bindingNames(names, shown.isOpen, { ...news, names: given }) };
  };
  // By key, from the check: the names that a program passes are of no use to the state, so the inputs that the engine gets have none.
  const passed = new Map<unknown, unknown>();
  // Where it is known whether the name is secret.
  const noteName = async (kind: Kind, uid: string | undefined, { name, [KEY]: key }: Json): Promise<void> => {
    const isSecret = NAMED.includes(kind) ? secrets.get(key)?.(["name"]) : undefined;
    if (uid === undefined || isSecret === undefined) return;
    names.note(uid, name, isSecret);
    if (isSecret) (await ledger()).secretNames.add(uid);
  };

  // Resources of the stack whose records the engine has not shown yet by comparing them: for `--replace URN` it never does.
  const notCompared = new Set<unknown>();

  // So the preview already refuses a record that two resources adopt, or that another resource manages.
  const adoptionProblems = async (kind: Kind, { adopt, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (!isUidp(adopt) || containsUnknown(adopt) || typeof key !== "string") return [];
    const reason = (await ledger()).ownership.plan(recordId(kind.field, adopt), key);
    return reason === undefined ? [] : [{ property: "adopt", reason: `${kind.word} ${adopt} ${reason}` }];
  };
  // What a component found (provider/program/policy-match.ts). Of a resource in the state it is the own record.
  const adoptMatch = (kind: Kind, olds: Json, { [MATCH]: match, ...news }: Json): Json => {
    if (!isUidp(match) || Object.keys(olds).length > 0 || notCompared.has(news[KEY])) return news;
    log(`${kind.type} ${nameInKey(news[KEY])} takes over ${kind.word} ${match} ${title(news)}`);
    return { ...news, adopt: match };
  };
  // What `irm check` refuses in a policy. A program may mean it: the API accepts it.
  const warnOfOpenPatterns = (kind: Kind, inputs: Json, isSecret: IsSecret | undefined): void => {
    // Only a preview knows what is secret.
    if (kind !== kindRecords.identity || isSecret === undefined) return;
    for (const [word, value] of Object.entries(inputs)) {
      if (word !== "claimMatch" && word !== "awsIdentity") continue;
      const texts = openPatternsIn(value as Json).map(({ path, text }) => `${[word, ...path].join(".")} ${text}`);
      const shown = isSecret([word]) && texts.length > 0 ? [`${word}, which is secret, lets in everyone`] : texts;
      for (const text of shown) log(`warning: Identity ${nameInKey(inputs[KEY])}: ${text}`);
    }
  };
  // An identity that exists may have it, and does not stop the update of others.
  const neverMatchedProblems = (kind: Kind, olds: Json, inputs: Json, isSecret: IsSecret | undefined) => {
    const { claimMatch, adopt, [KEY]: key } = inputs;
    if (kind !== kindRecords.identity || !isObject(claimMatch)) return [];
    const before = isObject(olds.claimMatch) ? olds.claimMatch : {};
    return neverMatchedIn(claimMatch, isSecret?.(["claimMatch"]) !== false).flatMap(
      ({ path: [field = ""], text, isCertain }) => {
        const property = `claimMatch.${field}`;
        if (isCertain && adopt === undefined && before[field] !== claimMatch[field])
          return [{ property, reason: text }];
        log(`warning: Identity ${nameInKey(key)}: ${property} ${text}`);
        return [];
      },
    );
  };
  // Nothing of what is compared is shown, since a part of it may be secret.
  const warnOfMixedIds = (kind: Kind, { claimMatch, [KEY]: key }: Json): void => {
    if (kind !== kindRecords.identity || !isObject(claimMatch) || containsUnknown(claimMatch)) return;
    for (const { plain, beside } of findMixedIds(key, claimMatch))
      log(`warning: Identity ${nameInKey(plain)} ${mixedIdsText(`Identity ${nameInKey(beside)}`)}`);
  };
  const placeProblems = async (kind: Kind, { parent, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (kind !== kindRecords.roleBinding || isUnknown(parent)) return [];
    const { places } = await ledger();
    return places.claim(parent, key, { type: "RoleBinding", name: nameInKey(key), exclusive: false }) ?? [];
  };
  const expectBatch = async (kind: Kind, { parent, adopt, [KEY]: key }: Json): Promise<void> => {
    if (!kind.batchCreate || adopt !== undefined || typeof key !== "string" || !isUidp(parent)) return;
    expectCreate(await ledger(), { kind, parent, key });
  };

  return (kind) => ({
    derivesParent: true,
    adopted: (olds, asked) => adoptions.adopted(kind, olds, asked),
    lookUp: (olds, news, isSecret) => lookUpRecord({ ...parts, again: adoptions.again }, kind, olds, news, isSecret),
    check: async (olds, news, { isSecret, showsNames, mayReplace }) => {
      if (Object.keys(olds).length > 0) notCompared.add(news[KEY]);
      const { inputs, failures } = reconcile.check(kind, olds, adoptMatch(kind, olds, news), mayReplace);
      if (failures.length > 0) return { inputs, failures };
      const problems = [
        ...(await adoptionProblems(kind, inputs)),
        ...(await placeProblems(kind, inputs)),
        ...neverMatchedProblems(kind, olds, inputs, isSecret),
      ];
      if (isSecret) secrets.set(inputs[KEY], isSecret);
      if (showsNames) {
        const isOpen = (argument: string) => !isSecret?.([argument]);
        named.set(inputs[KEY], { own: inputs.names as Json | undefined, isOpen });
      }
      const isNew = Object.keys(olds).length === 0;
      if (kind === kindRecords.roleBinding) review.checked(olds, isNew ? await withNames(olds, inputs) : inputs);
      recordReview.noteCheck(kind, olds, inputs, isSecret);
      if (problems.length === 0) {
        warnOfOpenPatterns(kind, inputs, isSecret);
        warnOfDeclaredTwice(kind, inputs);
        warnOfMixedIds(kind, inputs);
        if (isNew) await expectBatch(kind, inputs);
      }
      const { names: own, ...kept } = inputs;
      if (own !== undefined) passed.set(inputs[KEY], own);
      return { inputs: kept, failures: problems };
    },
    createsMore: () => false,
    planned: async (inputs) => {
      if (notCompared.has(inputs[KEY])) return undefined;
      const session = (await hasCredentials()) ? await connect() : undefined;
      const recovery = await previewRecovery(kind, await ledger(), session, inputs);
      if (recovery) log(recovery.text);
      if (recovery || !session) return recovery?.taken;
      const warning = await duplicates.warningOf(kind, session, inputs);
      const isOpen = session.interrupted.get(stackOf(String(inputs[KEY]))) === true;
      const interrupted = isOpen ? await previewInterrupted(kind, session, inputs) : undefined;
      if (interrupted) log(interrupted.text);
      // An equal record is another one where that of the killed run is not there yet.
      if (warning !== undefined && interrupted?.taken.uid === undefined) log(warning);
      return interrupted?.taken;
    },
    knownUid: async (inputs, taken) => {
      const uid = knownUid(kind, inputs, taken);
      await noteName(kind, uid, inputs);
      return uid;
    },
    held: (id, outputs, news) => {
      const kept = news && { adopted: outputs.adopted === true };
      return [{ kind, uid: id, owner: news?.[KEY] as string | undefined, kept }];
    },
    diff: async (id, olds, asked) => {
      const news: Json = { names: passed.get(asked[KEY]), ...asked };
      notCompared.delete(news[KEY]);
      await noteName(kind, id, news);
      const compared = reconcile.diff(kind, id, olds, news);
      if (compared.warning) log(compared.warning);
      if (kind === kindRecords.roleBinding) review.compared(olds, await withNames(olds, news));
      recordReview.noteDiff(kind, id, olds, news, compared.replaces.length > 0);
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
      const asked: Json = { names: passed.get(inputs[KEY]), ...inputs };
      const created = await reconcile.create(kind, session, asked);
      await noteName(kind, created.id, asked);
      return created;
    },
    read: async (session, id, stored, about) => {
      const result = await reconcile.read(kind, session, id, stored, about);
      if (result.id === "") await adoptions.noteRemoved(kind, session, id, stored, about.inputs ?? {});
      return hasNoParent(stored) ? { ...result, props: withoutParent(result.props) } : result;
    },
    update: (session, id, olds, news) =>
      reconcile.update(kind, session, id, olds, { names: passed.get(news[KEY]), ...news }),
    delete: async (session, id, stored) => {
      const isRemoved = await reconcile.remove(kind, session, id, stored);
      if (isRemoved && kind === kindRecords.roleBinding) review.removed(stored);
    },
  });
};
