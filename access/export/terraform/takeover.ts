// What an export takes over from Terraform, and what it does not.
import { printable, resources } from "../../../schema/index.ts";
import type { Export } from "../model.ts";
import type { ExportKind } from "../read.ts";
import { type Address, addressText, resourceOf, resourceText } from "./address.ts";
import type { Managed } from "./managed.ts";
import type { TerraformState } from "./state.ts";

export interface Takeover {
  /** of the state */
  serial?: number | undefined;
  /** the program declares the records of these */
  taken: readonly Address[];
  /** their records do not exist any more */
  gone: readonly Address[];
  /** they stay with Terraform */
  kept: readonly Address[];
  findings: readonly Finding[];
  /** secrets that only the state has, and the settings that take them */
  secrets: readonly { address: Address; setting: string }[];
  /** what stays with Terraform and refers to what leaves it */
  dependents: readonly { address: Address; on: readonly string[] }[];
  /** resource instances of other providers */
  others: number;
  dataSources: number;
}

/** What a person has to know of a resource instance. */
export interface Finding {
  is: "gone" | "stays with Terraform" | "tainted" | "not declared";
  address: Address;
  record?: { kind: ExportKind; uid: string };
  detail: string;
}

export const takeoverOf = (state: TerraformState, managed: readonly Managed[], all: Export): Takeover => {
  const declared = new Map(all.entries.map((entry) => [`${entry.kind} ${entry.uid}`, entry]));
  const leftOut = new Map(all.leftOut.map(({ kind, uid, why }) => [`${kind} ${uid}`, why]));
  const places = managed.map((one) => {
    const key = one.record && `${one.record.kind} ${one.record.uid}`;
    const why = one.outcome.is === "kept" ? one.outcome.why : key && leftOut.get(key);
    const place = one.outcome.is === "gone" ? "gone" : why === undefined ? "taken" : "kept";
    return { ...one, place, why, entry: key === undefined ? undefined : declared.get(key) };
  });
  const at = (wanted: string): Address[] =>
    places.filter(({ place }) => place === wanted).map(({ instance }) => instance.address);
  const taken = at("taken");
  return {
    serial: state.serial,
    taken,
    gone: at("gone"),
    kept: at("kept"),
    findings: places.flatMap((one) => findingsOf(one, one.why)),
    secrets: places.flatMap(({ place, entry, instance: { address } }) =>
      place === "taken" && entry?.secret ? { address, setting: entry.secret.setting } : [],
    ),
    dependents: dependentsOf(state, taken),
    others: state.others,
    dataSources: state.dataSources,
  };
};

const findingsOf = ({ instance: { address, isTainted }, record, outcome }: Managed, why?: string): Finding[] => {
  const one = (is: Finding["is"], detail: string): Finding => ({ is, address, ...(record && { record }), detail });
  if (outcome.is === "gone") return [one("gone", "it does not exist any more")];
  if (why !== undefined || outcome.is !== "found") return [one("stays with Terraform", why ?? "")];
  return [
    ...(isTainted ? [one("tainted", "Terraform would have replaced it")] : []),
    ...outcome.notDeclared.map((name) => one("not declared", `its ${name} stays as it is`)),
  ];
};

export const NONE_EXISTS = "None of these records exists: is IRM_BASE_URL the service of this state?";

/** `gone: chainguard_group.team["x"] (group 7209…/a033…): it does not exist any more` */
export const findingText = ({ is, address, record, detail }: Finding): string =>
  printable(
    `${is}: ${addressText(address)}${record ? ` (${resources[record.kind].word} ${record.uid})` : ""}: ${detail}`,
  );

const dependentsOf = ({ dependents }: TerraformState, taken: readonly Address[]): Takeover["dependents"] => {
  const leaving = new Set(taken.map(resourceText));
  const found = new Map<string, { address: Address; on: Set<string> }>();
  for (const { address, dependsOn } of dependents) {
    const text = resourceText(address);
    const on = dependsOn.filter((one) => leaving.has(one));
    if (leaving.has(text) || on.length === 0) continue;
    const known = found.get(text) ?? { address: resourceOf(address), on: new Set<string>() };
    found.set(text, known);
    for (const one of on) known.on.add(one);
  }
  return [...found.values()].map((one) => ({ ...one, on: [...one.on] }));
};
