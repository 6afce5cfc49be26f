// handover.md: how the records of an export leave Terraform. At no moment are they unmanaged, or deleted by Terraform.
import { getOrInsert, printable, resources } from "../../../schema/index.ts";
import { code } from "../../format/markdown-text.ts";
import { countText } from "../../format/words.ts";
import type { Export } from "../model.ts";
import type { ExportKind } from "../read.ts";
import type { Managed } from "./managed.ts";
import { type Address, addressText, resourceOf, resourceText, shellQuoted, type TerraformState } from "./state.ts";

// The records that an export adopts from Terraform, and those that stay.

export interface Takeover {
  /** of the state */
  serial?: number | undefined;
  /** the program declares the records of these */
  taken: readonly Address[];
  /** their records no longer exist */
  gone: readonly Address[];
  /** they stay with Terraform */
  kept: readonly Address[];
  findings: readonly Finding[];
  /** secrets that only the state contains, and the settings for them */
  secrets: readonly { address: Address; setting: string }[];
  /** resources that stay with Terraform and refer to resources that leave it */
  dependents: readonly { address: Address; on: readonly string[] }[];
  /** resource instances of other providers */
  others: number;
  dataSources: number;
}

/** A notice about a resource instance. */
interface Finding {
  is: "gone" | "stays with Terraform" | "tainted" | "not declared";
  address: Address;
  record?: { kind: ExportKind; uid: string };
  detail: string;
}

export const takeoverOf = (state: TerraformState, managed: readonly Managed[], all: Export): Takeover => {
  const declared = new Map(all.entries.map((entry) => [`${entry.kind} ${entry.uid}`, entry]));
  const leftOut = new Map(all.leftOut.map(({ kind, uid, why }) => [`${kind} ${uid}`, why]));
  const places = managed.map((one) => {
    const key = `${one.record?.kind} ${one.record?.uid}`;
    const why = one.why ?? leftOut.get(key);
    return { ...one, why, place: one.isGone ? "gone" : why === undefined ? "taken" : "kept", entry: declared.get(key) };
  });
  const at = (wanted: string) => places.filter(({ place }) => place === wanted).map(({ instance }) => instance.address);
  const taken = at("taken");
  return {
    serial: state.serial,
    taken,
    gone: at("gone"),
    kept: at("kept"),
    findings: places.flatMap(findingsOf),
    secrets: places.flatMap(({ place, entry, instance: { address } }) =>
      place === "taken" && entry?.secret ? { address, setting: entry.secret.setting } : [],
    ),
    dependents: dependentsOf(state, taken),
    others: state.others,
    dataSources: state.dataSources,
  };
};

const findingsOf = ({ instance, record, isGone, why, notDeclared }: Managed): Finding[] => {
  const { address, isTainted } = instance;
  const one = (is: Finding["is"], detail: string) => ({ is, address, ...(record && { record }), detail });
  if (isGone) return [one("gone", "it does not exist any more")];
  if (why !== undefined) return [one("stays with Terraform", why)];
  return [
    ...(isTainted ? [one("tainted", "Terraform would have replaced it")] : []),
    ...notDeclared.map((name) => one("not declared", `its ${name} stays as it is`)),
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
    const known = getOrInsert(found, text, () => ({ address: resourceOf(address), on: new Set<string>() }));
    for (const one of on) known.on.add(one);
  }
  return [...found.values()].map((one) => ({ ...one, on: [...one.on] }));
};

/** `install`: the commands that set up a project of the program's language. */
export const handoverText = (takeover: Takeover, install: readonly string[]): string => {
  const { taken, secrets, findings } = takeover;
  const steps = [
    planStep,
    ...(findings.length > 0 ? [decideStep(takeover)] : []),
    adoptStep(install),
    ...(secrets.length > 0 ? [secretStep(takeover)] : []),
    ...(taken.length > 0 ? [forgetStep(takeover)] : []),
    verifyStep(takeover),
  ];
  const sections = steps.map(([title, ...parts], i) => [`## ${i + 1}. ${title}`, ...parts].join("\n\n"));
  return `${["# From Terraform to Pulumi", introduction(takeover), ...sections].join("\n\n")}\n`;
};

type Step = readonly [title: string, ...paragraphs: string[]];

const FENCE = "```";
const fence = (language: string, lines: readonly string[]) => [FENCE + language, ...lines, FENCE].join("\n");

const introduction = ({ taken, serial }: Takeover) => {
  const from = serial === undefined ? "" : ` Its state had the serial ${serial}.`;
  return [
    `The program beside this file declares ${countText(taken.length, "resource instance")} that Terraform manages.${from}`,
    "Pulumi adopts the records by their uids, then Terraform forgets them. The records stay as they are. Until Terraform forgets them,",
    "you can go back: `pulumi destroy` leaves adopted records in place.",
    "",
    "**Run no other `terraform apply` until the end**, and stop the pipelines that do. If one has run since the export, export again.",
  ].join("\n");
};

const planStep: Step = [
  "Terraform has nothing to change",
  fence("sh", ["terraform plan -detailed-exitcode"]),
  [
    "It must exit with 0. With 2, a record is not what the configuration says: apply or change the configuration first, then export again.",
    "The program declares what the API said at the time of the export.",
  ].join("\n"),
];

const decideStep = ({ findings, gone, taken }: Takeover): Step => [
  "Decide",
  ...(taken.length === 0 && gone.length > 0 ? [`**${NONE_EXISTS}**`] : []),
  findings.map((one) => `- ${code(findingText(one), Number.POSITIVE_INFINITY)}`).join("\n"),
  "What stays with Terraform is not in the program. Terraform would create again what is gone, so a plan is empty only once it has forgotten that.",
  ...(gone.length === 0 ? [] : ["To let Terraform forget what is gone:", fence("sh", stateRm(gone))]),
];

const adoptStep = (install: readonly string[]): Step => [
  "Pulumi adopts the records",
  fence("sh", [...install, "pulumi stack init production", "pulumi preview"]),
  "Each resource that the preview creates adopts a record. If it shows a line `changes`, or deletes anything, stop.",
  fence("sh", ["pulumi up", "pulumi preview --expect-no-changes"]),
];

const secretStep = ({ secrets }: Takeover): Step => [
  "Pulumi gets the secrets",
  "The API does not show them, so the program names these records by their uids until you set them. In the folder of the Terraform configuration, with the path of this folder in `PULUMI_FOLDER`:",
  fence("sh", secrets.map(secretCommand)),
  "The next `pulumi up` sends each secret once, as Terraform has it. Run it before you go on.",
];

const secretCommand = ({ address, setting }: Takeover["secrets"][number]) => {
  const select = `.values | .. | objects | select(.address? == $at) | .values.oidc.client_secret`;
  const at = shellQuoted(addressText(address));
  return `terraform show -json | jq -r --arg at ${at} '${select}' | pulumi --cwd "$PULUMI_FOLDER" config set --secret ${setting}`;
};

const forgetStep = (takeover: Takeover): Step => {
  const { whole, partial } = groupByResource(takeover);
  return [
    "Terraform forgets the records",
    ...(whole.length === 0
      ? []
      : [
          "**With Terraform 1.7 or later**: in one change, delete the `resource` blocks of these resources, also in modules, and add:",
          fence("hcl", removedBlocks(whole)),
          [
            "Keep the `provider` block. `terraform plan` must end with `0 to add, 0 to change, 0 to destroy`, and say of each of them that it",
            "`will no longer be managed by Terraform, but will not be destroyed`. Then run `terraform apply`. After it, the blocks can go.",
          ].join("\n"),
        ]),
    ...(whole.length === 0 || partial.length === 0
      ? []
      : [
          "Other instances of these resources stay with Terraform, and a `removed` block names all of a resource. So, with any version, delete their keys from `count` or `for_each`, and run:",
          fence("sh", stateRm(partial)),
        ]),
    "**With an earlier version, or with OpenTofu** (`tofu`), delete the same blocks and run, in a POSIX shell:",
    fence("sh", stateRm(takeover.taken)),
    "`terraform plan` must then say `No changes`.",
    ...dependentsPart(takeover),
  ];
};

const dependentsPart = ({ dependents }: Takeover) =>
  dependents.length === 0
    ? []
    : [
        "These stay with Terraform and refer to what leaves it. In the same change, let them have the uid, or that of a data source:",
        dependents
          .map(({ address, on }) => `- ${code(addressText(address))}: ${on.map((one) => code(one)).join(", ")}`)
          .join("\n"),
      ];

const verifyStep = ({ taken }: Takeover): Step => [
  "Verify",
  fence("sh", ["pulumi preview --expect-no-changes", ...(taken.length > 0 ? ["terraform state list"] : [])]),
  `${taken.length > 0 ? "The list names none of them. " : ""}After that, adopt.json has done its work: remove it whenever you like.`,
];

const removedBlocks = (resources: readonly string[]) =>
  resources.flatMap((from, i) => [
    ...(i > 0 ? [""] : []),
    "removed {",
    `  from = ${from}`,
    "",
    "  lifecycle {",
    "    destroy = false",
    "  }",
    "}",
  ]);

const ADDRESSES_AT_ONCE = 50;

const stateRm = (addresses: readonly Address[]) => {
  const words = addresses.map((address) => shellQuoted(addressText(address)));
  const starts = Array.from({ length: Math.ceil(words.length / ADDRESSES_AT_ONCE) }, (_, i) => i * ADDRESSES_AT_ONCE);
  return starts.map((start) =>
    ["terraform state rm", ...words.slice(start, start + ADDRESSES_AT_ONCE)].join(" \\\n  "),
  );
};

/** Resources that leave Terraform completely, and the instances that leave while others stay. */
const groupByResource = ({ taken, kept }: Takeover) => {
  const staying = new Set(kept.map(resourceText));
  const isStaying = (address: Address) => staying.has(resourceText(address));
  return {
    whole: [...new Set(taken.filter((one) => !isStaying(one)).map(resourceText))],
    partial: taken.filter(isStaying),
  };
};
