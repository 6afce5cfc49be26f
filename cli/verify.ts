// `irm verify`: whether a change is still what a seal shows, before it is applied.
import { differencesAsText } from "../access/format/seal.ts";
import type { Difference } from "../access/seal/difference.ts";
import { differencesBetween } from "../access/seal/differences.ts";
import { readSeal } from "../access/seal/file.ts";
import { type Seal, SealFileError } from "../access/seal/seal.ts";
import { printable } from "../schema/index.ts";
import type { Format } from "./format.ts";
import { reviewErrorText, sealableReview } from "./review.ts";
import { print, printError, stdoutStyle } from "./terminal.ts";

export interface VerifyFlags {
  destroy?: boolean;
  stack?: string;
  service?: readonly string[];
  digest?: string | undefined;
  format: Extract<Format, "terminal" | "json">;
}

const DIFFERS = 3;

/** Throws a SealFileError, and errors for which `reviewErrorText` has a text. */
export const verifySeal = async (file: string, { digest, ...flags }: Omit<VerifyFlags, "format">) => {
  const seal = readSeal(file, process.cwd());
  const differs = await differencesOf(seal, digest, flags);
  return { differs, text: textOf(file, seal, differs), code: differs.length === 0 ? 0 : DIFFERS };
};

export const verify = async (file: string, { format, ...flags }: VerifyFlags): Promise<number> => {
  try {
    const { differs, text, code } = await verifySeal(file, flags);
    print(format === "json" ? asJson(differs) : text);
    return code;
  } catch (error) {
    const text = error instanceof SealFileError ? error.message : reviewErrorText(error);
    if (text === undefined) throw error;
    printError("irm verify", text);
    return 1;
  }
};

const asJson = (differs: readonly Difference[]): string =>
  `${JSON.stringify({ differs: differs.map(({ row: _, ...own }) => own) }, undefined, 2)}\n`;

const differencesOf = async (
  seal: Seal,
  digest: string | undefined,
  flags: Omit<VerifyFlags, "digest" | "format">,
): Promise<Difference[]> => {
  const { stack, expires } = seal.origin;
  const { sealedAs, nowMs } = await sealableReview(flags);
  const now = sealedAs(seal);
  // The preview of a destroy that is done names none.
  if (now.origin.stack !== stack && now.origin.stack !== "")
    throw new SealFileError(`the seal is of stack ${stack}, and this is ${now.origin.stack}; give --stack`);
  if (!flags.destroy && isOfDestroy(seal) && now.steps.some(({ op }) => op !== "delete"))
    throw new SealFileError(
      "the seal shows that every resource is deleted, and the program declares some. If it is of a destroy, give --destroy. If not, review the program again",
    );
  const own: Difference[] = [];
  if (digest !== undefined && digest !== seal.digest)
    own.push({
      what: "digest",
      subject: seal.digest,
      message: `the digest of the seal is ${seal.digest}, not ${digest}`,
    });
  if (!(nowMs < Date.parse(expires)))
    own.push({ what: "expired", subject: expires, message: `the seal expired at ${expires}` });
  return [...own, ...differencesBetween(seal, now)];
};

const isOfDestroy = ({ steps }: Seal): boolean => steps.length > 0 && steps.every(({ op }) => op === "delete");

const textOf = (file: string, { digest, origin }: Seal, differs: readonly Difference[]): string => {
  const of = `${file} (${digest}, of ${origin.time})`;
  const lines =
    differs.length === 0
      ? [`The change is what the seal shows: ${of}`]
      : [
          `The change is not what the seal shows: ${of}`,
          ...differencesAsText(differs, stdoutStyle().width),
          "Review it again.",
        ];
  return lines.map((line) => `${printable(line)}\n`).join("");
};
