// A user's question, as text, resolved against a graph: `--identity release --group platform/registry --capability tag.create`.
import { capabilities, isUidp, suggestion, UserError } from "../../schema/index.ts";
import { friendlyCapability } from "../capability.ts";
import {
  type AccessGraph,
  type GroupNode,
  type IdentityNode,
  organizationsIn,
  pathOf,
  placesIn,
  withoutSlashes,
} from "../graph/graph.ts";

/** As the user writes it: identities by uid or name, groups by uid or path. Parts combine with AND; without any, it asks for all. */
export interface QuestionText {
  identity?: string;
  group?: string;
  capability?: string;
}

export interface Question {
  identity?: IdentityNode;
  group?: GroupNode;
  /** friendly name: `groups.list` */
  capability?: string;
}

/** All problems of a question. */
export class QuestionError extends UserError {
  override readonly name = "QuestionError";
}

/** `isComplete`: the caller can list all groups and identities. */
export const resolveQuestion = (graph: AccessGraph, text: QuestionText, isComplete: boolean): Question => {
  const question: Question = {};
  const problems: string[] = [];
  const resolve = <K extends keyof Question>(name: K, find: (text: string) => Question[K]) => {
    if (text[name] === undefined) return;
    try {
      question[name] = find(text[name]);
    } catch (error) {
      if (!(error instanceof QuestionError)) throw error;
      problems.push(error.message);
    }
  };
  const hidden = isComplete ? "" : "; you cannot list all groups and identities, so it may be among the others";
  resolve("identity", (one) => identityNamed(graph, one, hidden));
  resolve("group", (one) => groupNamed(graph, one, hidden));
  resolve("capability", (one) => capabilityNamed(graph, one));
  if (problems.length > 0) throw new QuestionError(problems.join("\n"));
  return question;
};

/** Why a text cannot be a capability; undefined if it is one, or may be one of a newer service. `others`: further suggestions. */
export const capabilityViolation = (text: string, others: readonly string[] = []): string | undefined => {
  if (friendlyCapability(text) !== undefined || /^CAP_[A-Z0-9_]+$/.test(text)) return undefined;
  return `there is no capability ${quote(text)}${suggestion(
    text,
    [...others, ...capabilities.map(({ name }) => name)],
    3,
  )}`;
};

// A newer service may have more capabilities, which a role of the graph then names.
const capabilityNamed = ({ roles }: AccessGraph, text: string) => {
  const known = friendlyCapability(text);
  if (known !== undefined) return known;
  const held = new Set([...roles.values()].flatMap((role) => role.capabilities));
  if (held.has(text)) return text;
  throw new QuestionError(`no role has the capability ${quote(text)}${suggestion(text, held)}`);
};

const identityNamed = (graph: AccessGraph, text: string, hidden: string): IdentityNode => {
  const all = [...graph.identities.values()];
  const found = all.filter(({ uid, name }) => (isUidp(text) ? uid === text : name === text));
  if (found.length > 1) {
    const candidates = found.map(({ uid, group }) => `${uid} in ${pathOf(graph, group)}`);
    throw new QuestionError(`${found.length} identities have the name ${quote(text)}; give a uid:${lines(candidates)}`);
  }
  const near = isUidp(text)
    ? ""
    : suggestion(
        text,
        all.map(({ name }) => name),
        3,
      );
  const where = near || hidden || "; npx pulumi-irm access prints each identity that has a role";
  if (found[0] === undefined) throw new QuestionError(`there is no identity ${quote(text)}${where}`);
  return found[0];
};

const groupNamed = (graph: AccessGraph, text: string, hidden: string): GroupNode => {
  // A script passes an empty text when its variable is not set.
  if (text.trim() === "")
    throw new QuestionError("a group is a uid or a path, and this is empty; / is the organization itself");
  const isUid: boolean = isUidp(text);
  if (isUid) {
    const found = graph.groups.get(text);
    if (found === undefined) throw new QuestionError(`there is no group ${quote(text)}${hidden}`);
    return found;
  }
  if (graph.groups.size === 0) throw new QuestionError(`there is no group ${quote(text)}: you can see no organization`);
  const placeName = placesIn(graph);
  const groups = [...graph.groups.values()].map((group) => ({
    group,
    path: pathOf(graph, group.id),
    place: placeName(group.id),
  }));
  const path = withoutSlashes(text) || "/";
  const found = groups.filter((one) => one.path === path || [path, text].includes(one.place));
  if (found.length > 1) {
    const candidates = found.map(({ group, place }) => `${group.uid} ${place}`);
    const [example = ""] = found.map(({ place }) => place).toSorted();
    throw new QuestionError(
      `${found.length} groups have the path ${quote(text)}; give the path with its organization, such as ${quote(example)}, or a uid:${lines(candidates)}`,
    );
  }
  if (found[0]) return found[0].group;
  const paths = groups.map((one) => one.path);
  const belowOwn = organizationsIn(graph).map((one) => belowOwnName(one, path, paths));
  const near = belowOwn.find((one) => one !== "") ?? suggestion(path, paths, 3);
  throw new QuestionError(`there is no group ${quote(text)}${near || hidden}`);
};

/** A path that begins with the organization's own name is a likely mistake. */
const belowOwnName = ({ name }: GroupNode, path: string, paths: readonly string[]) => {
  if (path === name) return "; / is the organization itself";
  const below = path.startsWith(`${name}/`) ? path.slice(name.length + 1) : "";
  return paths.includes(below) ? `; a path begins below the organization: ${below}` : "";
};

const quote = (text: string) => JSON.stringify(text);

const lines = (texts: readonly string[]) =>
  texts
    .toSorted()
    .map((text) => `\n  ${text}`)
    .join("");
