// What stands in for the uid of a record that a preview would create. The provider makes one for each new record, so that a value which
// the program computes from its uid shows which record it is. `irm review` finds the record again. It stands where a uid would, and
// looks like one. It is no secret from the program: even one in YAML can tell the two apart, and act otherwise in a preview
// (docs/security.md#review).
//
// Below the uid of the parent it has two segments: what this file can recognise without the state of any process, and a mark of the
// resource. No state has one, and none is sent to the API: what would look it up asks `containsPlaceholder` first. Both marks are no
// secrets. Who writes such a text into a program names a record that does not exist, and the update fails.
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

/** What the placeholder of the record of this resource shows to `resourceMarkIn`. */
export const resourceMark = (urn: string): string => digest(MARK_DIGITS, "resource", urn);

/** Its own inverse: hides the mark of a resource behind the random part, and finds it. */
const masked = (mark: string, head: string): string => {
  const bits = BigInt(`0x${mark}`) ^ BigInt(`0x${digest(MARK_DIGITS, "head", head)}`);
  return bits.toString(16).padStart(MARK_DIGITS, "0");
};

/**
 * For a new record in the group (or repo) `place`: "" at the root, undefined where it is not known. `urn` marks the resource, for a
 * reader of the preview who sees its URN and not its outputs. Undefined where no uid can be that long.
 */
export const placeholderUid = (place: string | undefined, urn?: string): string | undefined => {
  const mark = urn === undefined ? hex(MARK_DIGITS / 2) : resourceMark(urn);
  if (place === "") {
    const random = hex(8);
    const head = random + checkOf("", random);
    return head + masked(mark, head);
  }
  const above = place ?? hex(20);
  const random = hex(RANDOM_DIGITS / 2);
  const head = `${above}/${random}${checkOf(above, random)}`;
  const uid = `${head}/${masked(mark, head)}`;
  return isUidp(uid) ? uid : undefined;
};

/** Whether it is a placeholder, or the uid of something below one. One of 4,000,000,000 uids looks like one: never refuse a uid for it. */
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

/** The record of this uid, which may be a placeholder, and those above it; the root first. */
export const lineageOf = (uid: string): string[] => prefixesOf(uid).filter((one, i) => i === 0 || !isHead(one));

/** Of a placeholder: the mark of its resource, which no other uid has but by chance. */
export const resourceMarkIn = (uid: string): string =>
  masked(uid.slice(-MARK_DIGITS), uid.slice(0, -MARK_DIGITS).replace(/\/$/, ""));

export const containsPlaceholder = (value: unknown): boolean =>
  isPlaceholder(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some(containsPlaceholder));

/** A text for a reader, without placeholders. */
export const withoutPlaceholders = (text: string): string =>
  text.replaceAll(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g, (uid) => (isPlaceholder(uid) ? "(not known yet)" : uid));
