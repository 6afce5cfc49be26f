// The checks of an identity or a role binding that look beyond its own arguments.
import { mixedIdsFinder, mixedIdsText, neverMatchedIn, openPatternsIn } from "../../access/workload/open-pattern.ts";
import { containsUnknown, isUnknown } from "../../pulumi/value.ts";
import { getOrInsert, isObject, isUidp, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { CheckFailure } from "../reconcile/index.ts";
import { isEmpty, KEY, nameInKey } from "../record/state.ts";
import { expectCreate } from "../recovery/batch.ts";
import type { IsSecret, StepParts } from "./steps.ts";

/** Inputs without other problems. */
interface Asked {
  olds: Json;
  inputs: Json;
  /** Only a preview knows which arguments are secret. */
  isSecret: IsSecret | undefined;
}

interface KindCheck {
  /** Why the check fails. */
  problems(asked: Asked): Promise<CheckFailure[]>;
  /** There is no problem: logs notices for the reader. */
  pass(asked: Asked): Promise<void>;
}

/** by the field of the kind; most kinds have none */
type KindChecks = Readonly<Record<string, KindCheck | undefined>>;

export const kindChecksWith = ({ ledger, log }: StepParts): KindChecks => {
  const findMixedIds = mixedIdsFinder<unknown>();
  const noteDeclaration = declaredTwiceWith(log);
  return {
    identity: {
      // An identity that exists may match no token, and does not stop the update of others.
      problems: async ({ olds, inputs: { claimMatch, adopt, [KEY]: key }, isSecret }) => {
        if (!isObject(claimMatch)) return [];
        const before = isObject(olds.claimMatch) ? olds.claimMatch : {};
        return neverMatchedIn(claimMatch, isSecret?.(["claimMatch"]) !== false).flatMap(
          ({ path: [field = ""], text, isCertain }) => {
            const property = `claimMatch.${field}`;
            const isNew = before[field] !== claimMatch[field];
            if (isCertain && adopt === undefined && isNew) return [{ property, reason: text }];
            log(`warning: Identity ${nameInKey(key)}: ${property} ${text}`);
            return [];
          },
        );
      },
      pass: async ({ inputs, isSecret }) => {
        const { claimMatch, staticKeys, [KEY]: key } = inputs;
        for (const text of isSecret ? openPatternTexts(inputs, isSecret) : [])
          log(`warning: Identity ${nameInKey(key)}: ${text}`);
        const { issuer, subject } = (claimMatch ?? staticKeys ?? {}) as Json;
        noteDeclaration(key, ["Identity", issuer, subject], sameWorkloadText);
        if (!isObject(claimMatch) || containsUnknown(claimMatch)) return;
        // The compared values are not shown, since a part of them may be secret.
        for (const { plain, beside } of findMixedIds(key, claimMatch))
          log(`warning: Identity ${nameInKey(plain)} ${mixedIdsText(`Identity ${nameInKey(beside)}`)}`);
      },
    },
    roleBinding: {
      problems: async ({ inputs: { parent, [KEY]: key } }) => {
        if (isUnknown(parent)) return [];
        const { places } = await ledger();
        return places.claim(parent, key, { type: "RoleBinding", name: nameInKey(key), exclusive: false }) ?? [];
      },
      pass: async ({ olds, inputs }) => {
        const { identity, role, parent, adopt, [KEY]: key } = inputs;
        noteDeclaration(key, ["RoleBinding", identity, role, parent], sameBindingText);
        const isCreated = isEmpty(olds) && adopt === undefined;
        if (isCreated && typeof key === "string" && isUidp(parent))
          expectCreate(await ledger(), { kind: kindRecords.roleBinding, parent, key });
      },
    },
  };
};

/** Patterns that `irm check` refuses in a policy. A program may intend them: the API accepts them. */
const openPatternTexts = (inputs: Json, isSecret: IsSecret) =>
  (["claimMatch", "awsIdentity"] as const).flatMap((word) => {
    if (inputs[word] === undefined) return [];
    const texts = openPatternsIn(inputs[word] as Json).map(({ path, text }) => `${[word, ...path].join(".")} ${text}`);
    return isSecret([word]) && texts.length > 0 ? [`${word}, which is secret, lets in everyone`] : texts;
  });

/** Warns of a resource with other logical names `first` and `name`. */
type TwiceText = (name: string, first: string) => string;

const sameBindingText: TwiceText = (name, first) =>
  `RoleBinding ${name} duplicates RoleBinding ${first}: the same role to the same identity in the same group. ` +
  "Remove one of them from the program.";

const sameWorkloadText: TwiceText = (name, first) =>
  `Identity ${name} has the same issuer and subject as Identity ${first}: a token exchange that names no identity ` +
  "fails for both. Name the identity in each exchange (IRM_IDENTITY), or keep one of them.";

/**
 * Warns of two resources of one program that declare the same `parts`. The update compares references to new records. Only resources of one
 * provider are compared: another provider may use another service.
 */
const declaredTwiceWith = (log: (text: string) => void) => {
  /** key of the first resource, by its declared parts */
  const first = new Map<string, unknown>();
  const reported = new Set<unknown>();
  return (key: unknown, parts: readonly unknown[], describe: TwiceText) => {
    if (!parts.every((part) => typeof part === "string" && part !== "" && !isUnknown(part))) return;
    const other = getOrInsert(first, JSON.stringify(parts), () => key);
    // A replacement is checked once more.
    if (other === key || reported.has(key)) return;
    reported.add(key);
    log(`warning: ${describe(nameInKey(key), nameInKey(other))}`);
  };
};
