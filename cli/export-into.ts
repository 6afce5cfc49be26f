// `irm export --into access.yaml`: adds what exists to the files of a policy, and says what a policy cannot say.
import { leftOutText } from "../access/export/comment.ts";
import { type Export, exportOf } from "../access/export/model.ts";
import { type Into, intoPolicy, organizationIn } from "../access/export/policy/into.ts";
import { optionsOf } from "../access/export/project.ts";
import type { ChooseTop, Contents } from "../access/export/read.ts";
import { countText } from "../access/format/words.ts";
import { applyEdit, type OpenPolicy } from "../access/policy/edit/open.ts";
import { quote } from "../access/text.ts";
import type { Client } from "../client/client.ts";
import { printable, resources } from "../schema/index.ts";

/** `report` has the lines of stderr. */
export const exportInto = async (
  client: Client,
  opened: OpenPolicy,
  isAdopted: boolean,
  read: (chooseTop: ChooseTop) => Promise<Contents>,
): Promise<{ all: Export; report: string[] }> => {
  const contents = await read(organizationIn(opened));
  const all = exportOf(contents, { ...optionsOf("yaml", false, true), nowMs: await client.serviceNow() });
  const into = intoPolicy(opened, all, contents, isAdopted);
  applyEdit(into.edit);
  return { all, report: [...unsaidLines(into), ...doneLines(into, opened.file)] };
};

const NAMES_SHOWN = 10;

const unsaidLines = ({ unsaid }: Into): string[] => {
  const byKind = Map.groupBy(unsaid, ({ entry, why }) => (why === undefined ? entry.kind : undefined));
  return [...byKind].flatMap(([kind, some]) => {
    if (kind === undefined)
      return some.map(
        ({ entry: { kind: own, uid, args }, why = "" }) =>
          `not added: ${leftOutText({ kind: own, uid, name: String(args.get("name") ?? ""), why })}`,
      );
    const { word, words } = resources[kind];
    const names = some.slice(0, NAMES_SHOWN).map(({ entry }) => quote(entry.args.get("name") ?? entry.name));
    const more = some.length > NAMES_SHOWN ? ` and ${some.length - NAMES_SHOWN} more` : "";
    return [`not added, a policy has no word for ${countText(some.length, word, words)}: ${names.join(", ")}${more}`];
  });
};

const doneLines = ({ edit, newUids }: Into, file: string): string[] => {
  const count = edit.entries.length;
  return [
    `added ${countText(count, "entry", "entries")} to ${printable(file)}`,
    ...edit.entries.map((entry) => `  ${printable(entry)}`),
    ...(newUids === undefined
      ? []
      : [
          `wrote ${printable(newUids)}: give it to AccessPolicy, adopt: { file: ${quote(newUids)} }, or it creates these records again`,
        ]),
  ];
};
