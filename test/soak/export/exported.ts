// What `irm export` writes for an organization, and what must hold of it.
import { leftOutText } from "../../../access/export/literal.ts";
import { type Export, exportOf } from "../../../access/export/model.ts";
import { type Files, type Format, optionsOf, projectOf } from "../../../access/export/project.ts";
import { type Contents, KINDS, readContents } from "../../../access/export/read.ts";
import type { Json } from "../../../schema/index.ts";
import { differencesBetween } from "./likeness.ts";
import type { Access } from "./service.ts";

export interface Form {
  format: Format;
  isNative: boolean;
}

export const formText = ({ format, isNative }: Form): string => `${format}, ${isNative ? "native" : "dynamic"}`;

export interface Exported {
  all: Export;
  files: Files;
  /** records that are left out for no good reason */
  problems: string[];
}

/** The reasons for which a program may leave out a record of a random organization. */
const KEPT = [
  "grants the same as another role binding of its group",
  "has a key __proto__, which a program would leave out without a word",
];
const NOT_COPIED = [
  "a policy cannot say its kind, ",
  "has ended, and a copy would be good again",
  "refers to what this program does not create: ",
];
const NOT_IN_YAML = ["needs its client secret, and a program in YAML cannot ask", "has the key "];

export const exported = (contents: Contents, form: Form, isAdopted: boolean, nowMs: number): Exported => {
  const { format, isNative } = form;
  const all = exportOf(contents, { ...optionsOf(format, isNative, isAdopted), nowMs });
  const reasons = [...KEPT, ...(isAdopted ? [] : NOT_COPIED), ...(format === "pulumi-yaml" ? NOT_IN_YAML : [])];
  const unexplained = all.leftOut.filter(({ why }) => !reasons.some((reason) => why.startsWith(reason)));
  return {
    all,
    files: projectOf(all, format, { isNative }),
    problems: [
      ...unexplained.map(leftOutText),
      ...all.notListed.map((one) => `${one} is in no list`),
      ...all.notVisible.map(({ message }) => message),
    ],
  };
};

/** Each secret that the program asks for, under the name of a project. */
export const secretsFor = ({ entries }: Export, project: string): Record<string, string> =>
  Object.fromEntries(
    entries.flatMap(({ secret }) => (secret ? [[`${project}:${secret.setting}`, "of the other service"]] : [])),
  );

export const countOf = ({ records }: Contents): number => KINDS.reduce((sum, kind) => sum + records[kind].length, 0);

/** How the organization that a program has created differs from what it declares. */
export const differencesOfCopy = async (
  { client, call, renewToken, organization }: Pick<Access, "client" | "call" | "renewToken" | "organization">,
  contents: Contents,
  all: Export,
): Promise<string[]> => {
  await renewToken();
  const { json } = await call("GET", "/iam/v2beta1/groups?uidp.inRoot=true&pageSize=200");
  const roots = (json.groups as { uid: string }[]).map(({ uid }) => uid).filter((uid) => uid !== organization);
  if (roots.length !== 1) return [`${roots.length} organizations were created`];
  return differencesBetween(declaredIn(contents, all), withoutCreator(await readContents(client(), roots[0])));
};

const declaredIn = ({ records }: Contents, { entries }: Export): Contents["records"] => {
  const declared = new Set(entries.map(({ kind, uid }) => `${kind} ${uid}`));
  return mapRecords(records, (kind, own) => own.filter(({ uid }) => declared.has(`${kind} ${uid}`)));
};

/** Who creates an organization owns it. */
const withoutCreator = ({ top, records }: Contents): Contents["records"] => ({
  ...records,
  roleBinding: records.roleBinding.filter(({ identity }) => String((identity as Json).uid).startsWith(`${top}/`)),
});

type Records = Contents["records"];

export const mapRecords = (
  records: Records,
  change: (kind: keyof Records, own: Records[keyof Records]) => Records[keyof Records],
): Records => Object.fromEntries(KINDS.map((kind) => [kind, change(kind, records[kind])])) as unknown as Records;
