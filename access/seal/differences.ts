// What differs between a seal and the same review as it would be now.
import { isDeepStrictEqual } from "node:util";
import { compare } from "../graph/compare.ts";
import type { BindingNode } from "../graph/graph.ts";
import { textOf } from "../graph/same.ts";
import { type Change, changeIn } from "./change.ts";
import { type Difference, setDifferences } from "./difference.ts";
import { inputNames } from "./inputs.ts";
import { accessDifferences } from "./row-differences.ts";
import type { SealContent, Step } from "./seal.ts";

export const differencesBetween = (seal: SealContent, now: SealContent): Difference[] => {
  const [sealed, change] = [changeIn(seal), changeIn(now)];
  return [
    ...serviceDifferences(seal, now),
    ...accessDifferences({ seal, now, sealed, change }),
    ...stepDifferences(seal.steps, now.steps),
    ...setDifferences(seal.deletes, now.deletes).map(
      ({ one, isNew }): Difference => ({
        what: "delete",
        subject: one,
        message: isNew
          ? `${one} would be deleted, which the seal does not show`
          : `${one} would not be deleted any more`,
      }),
    ),
    ...setDifferences(seal.blocked, now.blocked).map(
      ({ one, isNew }): Difference => ({
        what: "delete",
        subject: one,
        message: isNew
          ? `the deletion of ${one} would fail: it is in use`
          : `nothing keeps ${one} from being deleted any more`,
      }),
    ),
    ...ownerDifferences(seal.owners, now.owners),
    ...changedDifferences(seal, sealed, change),
    ...grantDifferences(now, sealed, change),
  ];
};

const serviceDifferences = ({ origin }: SealContent, now: SealContent): Difference[] =>
  setDifferences(origin.services, now.origin.services).map(({ one, isNew }) => ({
    what: "service",
    subject: one,
    message: isNew ? `the change is at ${one}, which the seal does not name` : `the change is not at ${one} any more`,
  }));

const stepDifferences = (sealed: readonly Step[], now: readonly Step[]): Difference[] => {
  const [olds, news] = [sealed, now].map((steps) => new Map(steps.map((step) => [step.urn, step]))) as [
    Map<string, Step>,
    Map<string, Step>,
  ];
  return [...new Set([...olds.keys(), ...news.keys()])].sort(compare).flatMap((urn): Difference[] => {
    const [old, next] = [olds.get(urn), news.get(urn)];
    if (isDeepStrictEqual(old, next)) return [];
    const say = (message: string): Difference[] => [
      { what: "step", subject: urn, message: `${nameOf(urn)} ${message}` },
    ];
    if (!old) return say(`is not in the seal (${next?.op})`);
    if (!next) return say(`is in the seal (${old.op}), and not in the change`);
    if (old.op !== next.op) return say(`is to be ${PAST[next.op]}; the seal shows that it is ${PAST[old.op]}`);
    return say(`has other inputs than in the seal: ${pointersOf(old, next).join(", ") || "its record is another one"}`);
  });
};

const PAST: Readonly<Record<Step["op"], string>> = {
  create: "created",
  update: "updated",
  replace: "replaced",
  same: "unchanged",
  read: "read",
  delete: "deleted",
};

const nameOf = (urn: string): string => urn.split("::").slice(3).join("::");

const pointersOf = ({ inputs: old }: Step, { inputs: next }: Step): string[] => {
  const [one, other] = [old, next].map((inputs) => ({ ...inputs?.values, ...inputs?.created, ...inputs?.hidden })) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return inputNames([...names].filter((name) => one[name] !== other[name]));
};

/** A set grants again what is gone by hand: that is no step, and brings no row where the identity holds the same by another role binding. */
const grantDifferences = ({ steps }: SealContent, sealed: Change, now: Change): Difference[] => {
  const resources = new Set(steps.map(({ urn }) => urn));
  const textOfGrant = ({ group, identity, role }: BindingNode): string => `${group} ${identity} ${role}`;
  const shown = new Set(createdBindings(sealed).map(textOfGrant));
  return createdBindings(now).flatMap((binding): Difference[] => {
    if (resources.has(binding.id) || shown.has(textOfGrant(binding))) return [];
    const { groups, identities, roles } = now.after;
    const group = groups.get(binding.group);
    const [role, who] = [roles.get(binding.role)?.name, identities.get(binding.identity)?.name];
    const grant = `${role ?? binding.role} for ${who ?? binding.identity} at ${group?.name ?? binding.group}`;
    const where = group ? ` (${group.uid ?? "new"})` : "";
    return [
      { what: "row", subject: binding.identity, message: `${grant}${where} would be granted: this is not in the seal` },
    ];
  });
};

const createdBindings = ({ before, after }: Change): BindingNode[] =>
  [...after.bindings.values()].filter(({ id }) => !before.bindings.has(id));

const ownerDifferences = (sealed: SealContent["owners"], now: SealContent["owners"]): Difference[] =>
  Object.keys({ ...sealed, ...now })
    .sort(compare)
    .flatMap((uid) =>
      setDifferences(sealed[uid] ?? [], now[uid] ?? []).map(
        ({ one, isNew }): Difference => ({
          what: "owner",
          subject: uid,
          message: isNew
            ? `identity ${one} may give access where the adopted ${uid} is, which the seal does not show`
            : `identity ${one} may no longer give access where the adopted ${uid} is`,
        }),
      ),
    );

/**
 * What a record that is adopted or updated gives before the change, as an update compares it. Who can assume an identity is compared for
 * all of them.
 */
const changedDifferences = ({ owners, steps }: SealContent, sealed: Change, now: Change): Difference[] => {
  const updated = steps.flatMap(({ op, uid }) => (op === "update" && uid !== undefined ? [uid] : []));
  return [...new Set([...Object.keys(owners), ...updated])].sort(compare).flatMap((uid): Difference[] => {
    const word = owners[uid] ? "adopted " : "";
    const [shown, binding] = [sealed.before.bindings.get(uid), now.before.bindings.get(uid)];
    const isOther = shown && binding && (shown.identity !== binding.identity || shown.role !== binding.role);
    const provider = now.before.providers.get(uid);
    const signIns = [sealed.before, sealed.after].flatMap(({ providers }) => providers.get(uid)?.signIn ?? []);
    const isElsewhere =
      provider && signIns.length > 0 && !signIns.some((one) => textOf(one) === textOf(provider.signIn));
    return [
      ...(isOther ? [`the ${word}role binding ${uid} grants something else than in the seal`] : []),
      ...(isElsewhere ? [`where the people of the ${word}${provider.name} sign in is not what the seal shows`] : []),
    ].map((message) => ({ what: "step", subject: uid, message }));
  });
};
