// `irm serve --copy-of`: reads a copy of another service, as far as the caller sees it, reports the missing parts, and writes it to a file.
import { readFileSync } from "node:fs";
import { COPY_HEAD, type Copy, copyText, readCopy } from "../access/copy/copy.ts";
import { leftOutText, notVisibleText } from "../access/export/literal.ts";
import { type ExportKind, KINDS, type OnRead, pathIn } from "../access/export/read.ts";
import { countText } from "../access/format/words.ts";
import { quote } from "../access/text.ts";
import type { Client } from "../client/client.ts";
import { readConfig } from "../client/credentials.ts";
import { addressProblem, printable, resources, UserError } from "../schema/index.ts";
import { copyProblems } from "../server/seed/check.ts";
import { clientOf } from "./client.ts";
import { writeWhole } from "./files.ts";
import { UsageError } from "./irm-command.ts";

/** A file that cannot be written, in one sentence. */
export class CopyError extends UserError {
  override readonly name = "CopyError";
}

/** A copy for the server, without records that its services refuse, and with the reasons. Sends only requests that read. */
export const copyOf = async (client: Client, address: string, onRead?: OnRead): Promise<Copy> => {
  let copy = await readCopy(client, address, onRead);
  // The check refuses the dependents of a refused record in the same round.
  for (let problems = copyProblems(copy); problems.length > 0; problems = copyProblems(copy))
    copy = withoutRefused(copy, problems);
  const { roles: _, ...placed } = copy.records;
  if (Object.values(placed).every((list) => !list?.length))
    throw new CopyError(`these credentials can list nothing at ${address} that could be copied`);
  return copy;
};

const FLAG = "--copy-of";

/** The same with a bar on a terminal. Throws a UsageError for a wrong address, and errors of the client. */
export const copyFrom = async (address: string): Promise<Copy> => {
  const problem = addressProblem(address);
  if (problem !== undefined) throw new UsageError(`${FLAG}: ${problem}`);
  const settings = (key: string) => (key === "irm:baseUrl" ? address : undefined);
  // Settings of the environment for another service stay away from this one.
  const client = clientOf(readConfig(settings, process.env, { keys: [], flag: FLAG }));
  return withProgress((onRead) => copyOf(client, address, onRead));
};

const withoutRefused = (copy: Copy, problems: ReturnType<typeof copyProblems>): Copy => {
  const reasons = Map.groupBy(
    problems,
    ({ path: [section, plural, i] }) => `${String(section)} ${String(plural)} ${String(i)}`,
  );
  const leftOut = [...copy.copy.leftOut];
  const without = <L extends object>(section: string, lists: L) =>
    Object.fromEntries(
      Object.entries(lists).map(([plural, list]: [string, { uid: string; name?: unknown }[]]) => [
        plural,
        list.filter(({ uid, name }, i) => {
          const found = reasons.get(`${section} ${plural} ${i}`);
          const why = found?.map(({ path: [, , , ...field], text }) =>
            [field.join("."), text].filter(Boolean).join(": "),
          );
          if (why) leftOut.push({ kind: kindOf(plural), uid, name: String(name ?? ""), why: why.join("; ") });
          return why === undefined;
        }),
      ]),
    ) as L;
  const [records, named] = [without("records", copy.records), without("named", copy.named)];
  return { copy: { ...copy.copy, leftOut }, records, named };
};

const kindOf = (plural: string): ExportKind => KINDS.find((kind) => resources[kind].plural === plural) as ExportKind;

/** The records of the copy, and the missing parts: a line each. */
export const copyLines = (copy: Copy): string[] => [
  printable(`copied ${countText(recordsOf(copy).length, "record")} of ${copy.copy.of}`),
  ...missingLines(copy),
  ...copy.copy.notCopied.map((text) => printable(`not copied: ${text}`)),
];

const recordsOf = ({ records }: Copy) => Object.values(records).flatMap((list) => list ?? []);

/** The missing parts that may decide access: a line each. */
export const missingLines = (one: Copy): string[] => {
  const { copy, records, named } = one;
  const names = new Map((records.groups ?? []).map(({ uid, name }) => [uid, String(name)]));
  const listed = new Set(recordsOf(one).map(({ uid }) => uid));
  const byName = (["groups", "roles", "identities"] as const).flatMap((plural) =>
    named[plural]
      .filter(({ uid }) => !listed.has(uid))
      .map(({ uid, name }) => `${resources[kindOf(plural)].word} ${uid}${name === undefined ? "" : ` ${quote(name)}`}`),
  );
  return [
    ...copy.notVisible.map((hidden) => {
      const path = hidden.group && pathIn({ groupNames: names }, hidden.group);
      return `not visible: ${notVisibleText({ ...hidden, path })}`;
    }),
    ...byName.map((text) => `named by others, and in no list: ${text}`),
    ...copy.leftOut.map((record) => `left out: ${leftOutText(record)}`),
    ...copy.unknownFields.map((text) => `not copied: ${text}`),
  ].map(printable);
};

/** The reason against a copy in this file; undefined without one. A new copy replaces another one, but no other file. */
export const copyFileProblem = (file: string): string | undefined => {
  try {
    const text = readFileSync(file, "utf8");
    if (text === "" || text.startsWith(COPY_HEAD)) return undefined;
    return `${file} already exists and is not a copy; give another name`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : `cannot write ${file}: ${code}`;
  }
};

/** Writes the whole copy, or leaves the file as it was. It names people, so only its owner can read it. */
export const writeCopy = (file: string, copy: Copy): void => writeWhole(file, copyText(copy), CopyError);

const WIDTH = 20;

/** Shows the count of the lists so far, and of their records, as a bar on stderr of a terminal. */
export const withProgress = async <T>(read: (onRead: OnRead) => Promise<T>): Promise<T> => {
  const { stderr } = process;
  const show = (text: string) => void (stderr.isTTY && stderr.write(`\r\u001b[K${text}`));
  let [lists, records] = [0, 0];
  try {
    return await read((_, count) => {
      [lists, records] = [lists + 1, records + count];
      const filled = Math.round((lists / KINDS.length) * WIDTH);
      const bar = `[${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}]`;
      show(`${bar} ${lists} of ${KINDS.length} lists, ${countText(records, "record")}`);
    });
  } finally {
    show("");
  }
};
