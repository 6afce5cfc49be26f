// Sentences in the preview for records: who can assume an identity, the capabilities of a role, and former names of a record. Values that
// are secret, or may be, are not shown.

import { equalityKey } from "../../access/canonical.ts";
import { differences, withArrows } from "../../access/format/differences.ts";
import { byEffect } from "../../access/graph/danger.ts";
import { relationshipOf } from "../../access/graph/live-record.ts";
import { assumptionOf } from "../../access/review/assume.ts";
import { containsUnknown } from "../../pulumi/value.ts";
import { bulleted, capabilityName, type Json, printable } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Kind } from "../record/kind.ts";
import { KEY, nameInKey } from "../record/state.ts";
import type { Sentences } from "../run/sentences.ts";
import type { IsSecret } from "./steps.ts";

const RELATIONSHIPS = ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"];
const CAPABILITIES_SHOWN = 20;

export const recordReviewWith = (log: Sentences["log"]) => {
  const reported = new Set<unknown>();

  const logOnce = (news: Json, kind: Kind, text: string, lines: readonly string[] = []) => {
    if (reported.has(news[KEY])) return;
    reported.add(news[KEY]);
    log(news[KEY], bulleted(`${kind.type} ${nameInKey(news[KEY])} ${text}`, ...lines));
  };

  return {
    /** The engine has checked the inputs of a new resource. */
    noteCheck(kind: Kind, news: Json, isSecret: IsSecret) {
      // An adopted record is compared with the API's record.
      if (news.adopt !== undefined) return;
      if (kind === kindRecords.identity) logOnce(news, kind, `is new: ${assumableText(news, isSecret)} can assume it`);
      if (kind === kindRecords.role)
        logOnce(news, kind, `is new: it grants ${capabilitiesText(capabilitiesIn(news), isSecret)}`);
    },
    /** The engine has compared the outputs in the state with the inputs. */
    noteDiff(kind: Kind, id: string, olds: Json, news: Json, isReplaced: boolean, isSecret: IsSecret): void {
      const lines = [
        ...(isReplaced ? replacedLines(kind, id, olds, isSecret) : []),
        ...renamedLines(olds, news, isSecret),
        ...(kind === kindRecords.identity ? assumableLines(olds, news, isSecret) : []),
        ...(kind === kindRecords.role ? capabilityLines(olds, news, isSecret) : []),
      ];
      if (lines.length > 0) logOnce(news, kind, isReplaced ? "is replaced:" : "changes:", lines);
    },
  };
};

const replacedLines = (kind: Kind, id: string, olds: Json, isSecret: IsSecret) =>
  kind === kindRecords.identity
    ? [
        `it gets another uid; workflows that name ${id} in IRM_IDENTITY can no longer sign in`,
        `who could assume it: ${assumableText(olds, isSecret)}`,
      ]
    : [`it gets another uid than ${id}`];

const renamedLines = ({ name: before }: Json, { name: after }: Json, isSecret: IsSecret) => {
  if (typeof before !== "string" || typeof after !== "string" || before === after) return [];
  if (isSecret(["name"]) || containsUnknown({ after })) return ["its name changes"];
  return [`name "${printable(before)}" becomes "${printable(after)}"`];
};

const assumableText = (bag: Json, isSecret: IsSecret) => {
  const relationship = relationshipOf(bag);
  if (isSecret(RELATIONSHIPS)) return "[secret]";
  if (relationship !== null && containsUnknown(relationship)) return "a workload that is not known yet";
  return assumptionOf(relationship)?.text ?? "nobody";
};

const assumableLines = (olds: Json, news: Json, isSecret: IsSecret): string[] => {
  const [before, after] = [relationshipOf(olds), relationshipOf(withExpiry(news, olds))];
  if (after === null || equalityKey(before) === equalityKey(after)) return [];
  if (isSecret(RELATIONSHIPS)) return ["who can assume it changes: [secret]"];
  const marked = differences(assumableText(olds, isSecret), assumableText(news, isSecret));
  return [
    `who can assume it, before: ${withArrows(marked.before)}`,
    `who can assume it, after: ${withArrows(marked.after)}`,
  ];
};

/** The API sets the end of static keys that the program does not set. */
const withExpiry = (news: Json, olds: Json) => {
  const [after, before] = [news.staticKeys, olds.staticKeys] as (Json | undefined)[];
  if (!after || after.expirationTime || !before?.expirationTime) return news;
  return { ...news, staticKeys: { ...after, expirationTime: before.expirationTime } };
};

const capabilitiesIn = ({ capabilities }: Json) =>
  Array.isArray(capabilities) && !containsUnknown({ capabilities })
    ? [...new Set(capabilities.map(String).map(capabilityName))].sort(byEffect)
    : undefined;

const capabilityLines = (olds: Json, news: Json, isSecret: IsSecret): string[] => {
  const [before, after] = [capabilitiesIn(olds), capabilitiesIn(news)];
  if (after === undefined) return [`it grants ${capabilitiesText(after, isSecret)}`];
  const gained = after.filter((one) => !before?.includes(one));
  const lost = (before ?? []).filter((one) => !after.includes(one));
  return [
    ...(gained.length > 0 ? [`gains ${capabilitiesText(gained, isSecret)}`] : []),
    ...(lost.length > 0 ? [`loses ${capabilitiesText(lost, isSecret)}`] : []),
  ];
};

const capabilitiesText = (capabilities: readonly string[] | undefined, isSecret: IsSecret) => {
  if (isSecret(["capabilities"])) return "[secret]";
  if (capabilities === undefined) return "what is not known yet";
  const rest = capabilities.length - CAPABILITIES_SHOWN;
  const shown = capabilities.slice(0, CAPABILITIES_SHOWN).map(printable).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
};
