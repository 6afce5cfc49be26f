// Placeholders for the uids of records that a preview would create. The provider makes one for each new record. A value that the program
// computes from it then shows which record it refers to, and `irm review` finds that record. A placeholder has the form of a uid. A
// program can tell the two apart, even in YAML, and act differently in a preview (docs/security.md#review).
//
// Below the uid of the parent it has two segments: one that this file recognises without any state, and a mark of the resource. No state
// holds a placeholder, and none is sent to the API: every look-up calls `containsPlaceholder` first. Neither segment is a secret. A
// program that spells out a placeholder names a record that does not exist, and the update fails.
import { createHash, randomBytes } from "node:crypto";
import { isUidp } from "../schema/index.ts";

const hex = (bytes: number): string => randomBytes(bytes).toString("hex");

const digest = (length: number, ...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, length);

/** At the root: 16 random digits, 8 that they imply, and 16 for the resource. Below: 8 and 8, and a segment for the resource. */
const ROOT = /^([0-9a-f]{16})([0-9a-f]{8})([0-9a-f]{16})$/;
const RANDOM_DIGITS = 8;
const MARK_DIGITS = 16;

const checkOf = (place: string, random: string): string => digest(8, "placeholder", place, random);

/** The mark that `resourceMarkIn` finds in the placeholder of this resource's record. */
export const resourceMark = (urn: string): string => digest(MARK_DIGITS, "resource", urn);

/** Hides the mark of a resource behind the random part. It is its own inverse, so it finds the mark again. */
const mask = (mark: string, head: string): string => {
  const bits = BigInt(`0x${mark}`) ^ BigInt(`0x${digest(MARK_DIGITS, "head", head)}`);
  return bits.toString(16).padStart(MARK_DIGITS, "0");
};

/**
 * Placeholder for a new record in the group or repo `place`: "" at the root, undefined if unknown. `urn` marks the resource, for a reader
 * of the preview who sees its URN but not its outputs. Returns undefined if the uid would be too long.
 */
export const placeholderUid = (place: string | undefined, urn?: string): string | undefined => {
  const mark = urn === undefined ? hex(MARK_DIGITS / 2) : resourceMark(urn);
  if (place === "") {
    const random = hex(8);
    const head = random + checkOf("", random);
    return head + mask(mark, head);
  }
  const above = place ?? hex(20);
  const random = hex(RANDOM_DIGITS / 2);
  const head = `${above}/${random}${checkOf(above, random)}`;
  const uid = `${head}/${mask(mark, head)}`;
  return isUidp(uid) ? uid : undefined;
};

/** Whether it is a placeholder, or a uid below one. One of 4,000,000,000 real uids looks like a placeholder: never refuse a uid for it. */
export const isPlaceholder = (value: unknown): value is string => {
  if (!isUidp(value)) return false;
  const [root = "", ...below] = prefixesOf(value);
  const [, random = "", check] = ROOT.exec(root) ?? [];
  return check === checkOf("", random) || below.some(isHead);
};

const prefixesOf = (uid: string): string[] =>
  uid.split("/").map((_, i, segments) => segments.slice(0, i + 1).join("/"));

/** Whether the last segment is the first one of a placeholder. */
const isHead = (uid: string): boolean => {
  const [, place = "", random = "", check] = /^(.*)\/([0-9a-f]{8})([0-9a-f]*)$/.exec(uid) ?? [];
  return check === checkOf(place, random);
};

/** The uids of this record and of all records above it, the root first. The uid may be a placeholder. */
export const lineageOf = (uid: string): string[] => prefixesOf(uid).filter((one, i) => i === 0 || !isHead(one));

/** The mark of the resource in a placeholder. Another uid has the same mark only by chance. */
export const resourceMarkIn = (uid: string): string =>
  mask(uid.slice(-MARK_DIGITS), uid.slice(0, -MARK_DIGITS).replace(/\/$/, ""));

export const containsPlaceholder = (value: unknown): boolean =>
  isPlaceholder(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some(containsPlaceholder));

/** A text for a reader, without placeholders. */
export const withoutPlaceholders = (text: string): string =>
  text.replaceAll(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g, (uid) => (isPlaceholder(uid) ? "(not known yet)" : uid));
