// The steps of a kind whose resources are records of the API.
import { isUidp, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { type Kind, title } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import * as reconcile from "../reconcile/index.ts";
import { previewRecovery } from "../recovery/preview.ts";
import { isUnknown } from "../state/path.ts";
import { KEY, MATCH, nameInKey } from "../state/state.ts";
import { duplicateWarnings } from "./duplicate-warning.ts";
import { lookUpRecord } from "./look-up.ts";
import { type Review, reviewWith } from "./review.ts";
import type { StepParts, Steps } from "./steps.ts";

/** Of all these kinds: they share what a preview shows. */
export const recordStepsWith = (parts: StepParts): ((kind: Kind) => Steps) => {
  const { ledger, connect, hasCredentials, log } = parts;
  const duplicates = duplicateWarnings();
  const review = reviewWith(log);
  const reviewOf = (kind: Kind): Review | undefined => (kind === kindRecords.roleBinding ? review : undefined);

  // Resources of the stack whose records the engine has not shown yet by comparing them: for `--replace URN` it never does.
  const notCompared = new Set<unknown>();

  // So the preview already refuses a record that two resources adopt, or that another resource manages.
  const adoptionProblems = async (kind: Kind, { adopt, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (!isUidp(adopt) || typeof key !== "string") return [];
    const reason = (await ledger()).ownership.plan(recordId(kind.field, adopt), key);
    return reason === undefined ? [] : [{ property: "adopt", reason: `${kind.word} ${adopt} ${reason}` }];
  };
  // What a component found (provider/program/policy-match.ts). Of a resource in the state, and of its replacement, it is the own record.
  const adoptMatch = async (kind: Kind, olds: Json, { [MATCH]: match, ...news }: Json): Promise<Json> => {
    if (!isUidp(match) || Object.keys(olds).length > 0 || notCompared.has(news[KEY])) return news;
    if ((await ledger()).ownership.isOwnedBy(recordId(kind.field, match), String(news[KEY]))) return news;
    log(`${kind.type} ${nameInKey(news[KEY])} adopts ${kind.word} ${match} ${title(news)}`);
    return { ...news, adopt: match };
  };
  const placeProblems = async (kind: Kind, { parent, [KEY]: key }: Json): Promise<reconcile.CheckFailure[]> => {
    if (kind !== kindRecords.roleBinding || isUnknown(parent)) return [];
    const { places } = await ledger();
    return places.claim(parent, key, { type: "RoleBinding", name: nameInKey(key), exclusive: false }) ?? [];
  };

  return (kind) => ({
    lookUp: (olds, news, isSecret) => lookUpRecord(parts, kind, olds, news, isSecret),
    check: async (olds, news) => {
      if (Object.keys(olds).length > 0) notCompared.add(news[KEY]);
      const { inputs, failures } = reconcile.check(kind, olds, await adoptMatch(kind, olds, news));
      if (failures.length > 0) return { inputs, failures };
      const problems = [...(await adoptionProblems(kind, inputs)), ...(await placeProblems(kind, inputs))];
      reviewOf(kind)?.checked(olds, inputs);
      return { inputs, failures: problems };
    },
    planned: async (inputs) => {
      if (notCompared.has(inputs[KEY])) return undefined;
      const isReadable = await hasCredentials();
      const recovery = await previewRecovery(kind, await connect(), inputs, isReadable);
      if (recovery) log(recovery.text);
      if (recovery || !isReadable) return recovery?.taken;
      const text = await duplicates.warningOf(kind, await connect(), inputs);
      if (text !== undefined) log(text);
      return undefined;
    },
    held: (id, outputs, news) => {
      const kept = news && { adopted: outputs.adopted === true };
      return [{ kind, uid: id, owner: news?.[KEY] as string | undefined, kept }];
    },
    diff: async (id, olds, news) => {
      notCompared.delete(news[KEY]);
      const compared = reconcile.diff(kind, id, olds, news);
      if (compared.warning) log(compared.warning);
      reviewOf(kind)?.compared(olds, news);
      return compared;
    },
    create: (session, inputs) => reconcile.create(kind, session, inputs),
    read: (session, id, stored) => reconcile.read(kind, session, id, stored),
    update: (session, id, olds, news) => reconcile.update(kind, session, id, olds, news),
    delete: async (session, id, stored) => {
      if (await reconcile.remove(kind, session, id, stored)) reviewOf(kind)?.removed(stored);
    },
  });
};
