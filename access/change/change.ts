// The file of a change: the requests that an update sends, and the access that they give. It contains no secret. If another job or another
// person has written the file, its writes are read and its rows are compared: neither is trusted.
import { z } from "zod";
import { isObject, isUidp, parseMask, suggestion, UserError, WILDCARD } from "../../schema/index.ts";
import { digestOf } from "../canonical.ts";
import { string, strings, text, textOrNull, texts } from "../shape.ts";
import { quote } from "../text.ts";
import { METHODS, makesUid } from "./methods.ts";
import { referencesIn, WrittenText, writtenFields } from "./value.ts";
import type { Write } from "./write.ts";

export const WRITES_MAX = 10_000;
export const BYTES_MAX = 16 * 1024 * 1024;
/** Maximum nesting of objects and lists. The deepest record has half of it. */
const DEPTH_MAX = 32;
const DAYS = 7;
/** Maximum characters of an error that may quote the file. */
const PROBLEM_MAX = 300;

/** The file is not a change, or contains one that cannot be used: one sentence. */
export class ChangeError extends UserError {
  override readonly name = "ChangeError";
}

const uid = string.refine(isUidp, "must be a uid");
const time = z.iso.datetime({ error: "must be an RFC 3339 time in UTC" });
const reference = z
  .union([string, z.record(string, z.unknown())])
  .describe(
    'a text, { "$uid": N }: what write N made, { "$segment": N }: the last segment of that, or { "$text": […] }: of both',
  );

const WriteShape = z.strictObject({
  n: z.int().describe("number of the write, from 1"),
  service: text("one of services; absent: the first one").optional(),
  method: text("of the API, for one record: CreateRoleBinding"),
  parent: reference.optional().describe("of a create; absent: it makes an organization"),
  uid: reference.optional().describe("of an update or a delete"),
  fields: z
    .record(string, z.unknown())
    .describe(
      'what the write sets, without defaults; { "$secret": true } hides a value; { "$map": [[KEY, VALUE], …] } is a map',
    ),
  mask: texts("of an update: the paths that it changes; one without a field is cleared").optional(),
});

export const ChangeRow = z.strictObject({
  change: z.enum(["gain", "loss"]),
  identity: reference.describe("uid, or the write that makes it"),
  group: reference.describe("where it holds, and below"),
  capability: string,
});
export type ChangeRow = z.infer<typeof ChangeRow>;

export const ChangeAfter = z.strictObject({
  service: text("one of services; absent: the first one").optional(),
  identity: reference.describe(
    "uid, or the write that makes it; of people: that of the record which gives them access",
  ),
  access: textOrNull("sha256: and 64 hexadecimal digits, of what it holds; null: it does not exist"),
  signIn: text("the same of who can act as it; absent: that was not visible, or it does not exist").optional(),
});
export type ChangeAfter = z.infer<typeof ChangeAfter>;

const Restored = z.strictObject({
  n: z.int().describe("number of the write"),
  uid: uid.describe("the record of the stack that was removed, or that the write changes back"),
});
export type Restored = z.infer<typeof Restored>;

const Before = z.strictObject({
  n: z.int().describe("number of the update"),
  path: text("of its mask"),
  value: text("sha256: and 64 hexadecimal digits, of the value that it replaces"),
});

const Content = z.strictObject({
  version: z.literal(1),
  operation: z.enum(["up", "destroy", "revoke"]).describe("revoke: without a program"),
  arguments: texts("of the engine"),
  stack: text("empty: of none"),
  services: strings.min(1).describe("addresses"),
  commit: text("of the program; absent: its folder has changes that are not committed, or no commit").optional(),
  created: time,
  expires: time,
  as: uid.describe("the identity that applies it"),
  writes: z.array(WriteShape),
  rows: z.array(ChangeRow).describe("access that identities gain and lose by it"),
  between: z
    .array(ChangeRow)
    .describe("further access that they would gain and lose by the rest of it, wherever a run of it ends half-way"),
  after: z.array(ChangeAfter).describe("access of each identity of the change after it, and that of its people"),
  before: z.array(Before).describe("values that may decide access, and that updates replace"),
  restored: z.array(Restored).describe("writes that undo an edit by hand: what they give is in the state of the stack"),
});
export type ChangeContent = Omit<z.infer<typeof Content>, "writes"> & { writes: Write[] };

const ChangeShape = Content.extend({
  digest: text("sha256: and 64 hexadecimal digits, of everything else as canonical JSON (RFC 8785)"),
});
export type Change = ChangeContent & { digest: string };

/** JSON Schema of the file, for its readers. */
export const changeSchema = (): object => ({
  ...z.toJSONSchema(ChangeShape, { target: "draft-7", io: "input" }),
  title: "A change: what `npx pulumi-irm review --out` writes",
});

/** `nowMs`: by the clock of the service */
export const lifeFrom = (nowMs: number): Pick<ChangeContent, "created" | "expires"> => ({
  created: new Date(nowMs).toISOString(),
  expires: new Date(nowMs + DAYS * 24 * 60 * 60 * 1000).toISOString(),
});

/** The file of a change. Throws a ChangeError if no reader would accept it. */
export const changeText = (content: ChangeContent): string => {
  const { length } = content.writes;
  if (length > WRITES_MAX) throw new ChangeError(`the change has ${length} writes, and a file holds ${WRITES_MAX}`);
  const made = `${JSON.stringify({ ...content, digest: digestOf(content) }, undefined, 1)}\n`;
  const bytes = Buffer.byteLength(made);
  if (bytes > BYTES_MAX) throw new ChangeError(`the change has ${bytes} bytes, and a file holds ${BYTES_MAX}`);
  return made;
};

/** `file` names it in an error. Throws a ChangeError. */
export const parseChange = (content: string, file: string): Change => {
  const fail = (problem: string) => {
    const shown = problem.length > PROBLEM_MAX ? `${problem.slice(0, PROBLEM_MAX)}…` : problem;
    throw new ChangeError(`${file} ${shown}; npx pulumi-irm review --out FILE makes a change`);
  };
  if (Buffer.byteLength(content) > BYTES_MAX) return fail(`has more than ${BYTES_MAX} bytes`);
  if (isTooDeep(content)) return fail(`has more than ${DEPTH_MAX} objects and lists in each other`);
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    // The error of the parser would show a part of the file.
    return fail("is not JSON");
  }
  const { version, writes } = isObject(json) ? json : {};
  if (!Array.isArray(writes)) return fail("is not a change");
  if (typeof version === "number" && version !== 1)
    return fail(`is a change of version ${version}, and this version of pulumi-irm reads version 1`);
  if (writes.length > WRITES_MAX) return fail(`has ${writes.length} writes, and at most ${WRITES_MAX} are read`);
  const { data, error } = ChangeShape.safeParse(json);
  if (error) {
    const [first] = error.issues;
    return fail(`is not a change: ${[first?.path.join("."), first?.message].filter(Boolean).join(": ")}`);
  }
  const { digest, ...rest } = data;
  const own = digestOf(rest);
  if (own !== digest)
    return fail(`was changed after it was written: its content has the digest ${own}, not ${quote(digest)}`);
  const change = data as Change;
  const [problem] = changeProblems(change);
  return problem === undefined ? change : fail(`is not a change: ${problem}`);
};

/** Checks the depth before a parser or a checker recurses into the file. */
const isTooDeep = (content: string): boolean => {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < content.length; at += 1) {
    const one = content[at];
    if (isText && one === "\\") at += 1;
    else if (one === '"') isText = !isText;
    else if (isText) continue;
    else if (one === "[" || one === "{") depth += 1;
    else if (one === "]" || one === "}") depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
};

const changeProblems = (change: Change): string[] => {
  const { operation, writes, rows, between, before, after, restored, services } = change;
  return [
    ...writes.flatMap((write, i) => {
      if (write.n !== i + 1) return [`write ${i + 1} has the number ${write.n}`];
      // Its writes are applied without those to deleted records, so no write may refer to another one.
      if (operation === "revoke" && METHODS.get(write.method)?.verb === "create")
        return [`write ${write.n}: a revoke creates nothing`];
      return writeProblems(write, change).map((problem) => `write ${write.n}: ${problem}`);
    }),
    ...Object.entries<Partial<ChangeRow>[]>({ rows, between, after }).flatMap(([name, list]) =>
      list.flatMap(({ identity, group }, i) =>
        Object.entries({ identity, group }).flatMap(([key, value]) =>
          valueProblems(WrittenText.optional(), value, `${name}.${i}.${key}`, { writes, n: writes.length + 1 }),
        ),
      ),
    ),
    ...after.flatMap(({ service }, i) =>
      isOneOf(services, service) ? [] : [`after.${i}: ${quote(service)} is none of its services`],
    ),
    ...Object.entries({ before, restored }).flatMap(([name, list]) =>
      list.flatMap(({ n }, i) => (writes[n - 1] ? [] : [`${name}.${i}: there is no write ${n}`])),
    ),
  ];
};

const isOneOf = (services: readonly string[], service: string | undefined): service is undefined =>
  service === undefined || services.includes(service);

/** Problems of a value of write `n`. It may refer only to earlier writes that make a uid. */
const valueProblems = (
  type: z.ZodType,
  value: unknown,
  place: string,
  { writes, n }: { writes: readonly Write[]; n: number },
): string[] => {
  const { error } = type.safeParse(value);
  const at = (path: readonly PropertyKey[]) => [place, ...path].filter((one) => one !== "").join(".");
  if (error) return error.issues.map(({ path, message }) => [at(path), message].filter(Boolean).join(": "));
  return referencesIn(value).flatMap((made) => {
    const method = made < n ? METHODS.get(writes[made - 1]?.method ?? "") : undefined;
    if (method && makesUid(method)) return [];
    const why = made < 1 || made >= n ? "does not come before it" : "makes no uid";
    return [`${place === "" ? "" : `${place}: `}refers to write ${made}, which ${why}`];
  });
};

const WrittenUid = WrittenText.refine(
  (value) => typeof value !== "string" || isUidp(value),
  "must be a uid",
).optional();

const writeProblems = (write: Write, { writes, services }: Change): string[] => {
  const { n, service, method: name, parent, uid: own, fields, mask } = write;
  const method = METHODS.get(name);
  if (method === undefined) return [`unknown method ${quote(name)}${suggestion(name, [...METHODS.keys()])}`];
  const { verb, schema, resource } = method;
  const has = (what: string, is: boolean, should: boolean) =>
    is === should ? [] : [should ? `${name} needs ${what}` : `${name} takes no ${what}`];
  return [
    ...(isOneOf(services, service) ? [] : [`${quote(service)} is none of its services`]),
    ...(verb === "create" && resource.root && parent === undefined
      ? []
      : has("parent", parent !== undefined, verb === "create")),
    ...has("uid", own !== undefined, verb !== "create"),
    ...has("mask", mask !== undefined, verb === "update"),
    ...(verb === "delete" ? has("fields", Object.keys(fields).length > 0, false) : []),
    ...valueProblems(WrittenUid, parent, "parent", { writes, n }),
    ...valueProblems(WrittenUid, own, "uid", { writes, n }),
    ...valueProblems(writtenFields(schema), fields, "", { writes, n }),
    ...(mask ?? [])
      .filter((path) => path === WILDCARD || parseMask(schema, path).paths[0] !== path)
      .map((path) => `mask: there is no field ${quote(path)}`),
  ];
};

/** Why the change cannot be applied to these services, or no longer; undefined: it can. */
export const unusableText = (
  { services, expires }: Change,
  { file, given, nowMs }: { file: string; given: readonly string[]; nowMs: number },
): string | undefined => {
  const [wanted, own] = [services, given].map((all) => [...all].sort().join(", "));
  if (wanted !== own) return `${file} is a change for ${wanted}, and this is ${own}`;
  if (Date.parse(expires) < nowMs) return `${file} expired at ${expires}; make the change again`;
  return undefined;
};
