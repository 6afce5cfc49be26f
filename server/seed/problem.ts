// Turns refusals of the services into problems of the seed's file, with the place of each record and paths instead of uids.
import {
  ApiError,
  type FieldViolation,
  type Problem as FileProblem,
  type Json,
  type Message,
  messageFromJson,
  resources,
} from "../../schema/index.ts";
import type { ServiceContext } from "../services/context.ts";
import { services } from "../services/index.ts";
import type { Kind } from "../services/record.ts";
import type { Seed } from "./record.ts";

export interface Problem extends FileProblem {
  /** the section that lacks the record to which a reference points */
  refersTo?: keyof Seed;
}

type Path = readonly PropertyKey[];
type Create = (request: Json, context: ServiceContext) => { uid: string };

interface ProblemOptions {
  /** another record of the file may have the name, which the check of the file reports */
  ignoresTaken?: boolean;
  /** the file's names of fields that the API names otherwise */
  names?: Readonly<Record<string, string>>;
}

export const createProblems = ({ ignoresTaken = false, names = {} }: ProblemOptions = {}) => {
  const found: Problem[] = [];
  // The API names records by uid, the file by path.
  const pathsOfUids = new Map<string, string>();

  const known = new Set<string>();
  const report = (problem: Problem) => {
    const key = `${problem.path.join()} ${problem.text}`;
    if (!known.has(key)) found.push(problem);
    known.add(key);
  };
  const withPaths = (text: string) =>
    text.replace(/\b[0-9a-f]{40}(?:\/[0-9a-f]{16})*\b/g, (uid) => {
      const path = pathsOfUids.get(uid);
      return path === undefined ? uid : JSON.stringify(path);
    });
  const reportViolations = (violations: readonly Partial<FieldViolation>[], path: Path, text = "") => {
    for (const { field = "", description = text } of violations) {
      const [first = "", ...rest] = field.replace(/\[(\d+)\]/g, ".$1").split(".");
      const place = field === "" ? [] : [names[first] ?? first, ...rest];
      report({ path: [...path, ...place], text: withPaths(description) });
    }
  };

  /** Undefined if a service refuses; reports the reason. */
  const attempt = <T>(path: Path, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, fieldViolations, message } = error;
      if (!(ignoresTaken && code === "ALREADY_EXISTS"))
        reportViolations(fieldViolations.length > 0 ? fieldViolations : [{}], path, message);
      return undefined;
    }
  };

  return {
    found,
    pathsOfUids,
    report,
    reportViolations,
    /** The record as the API reads it; undefined if values are malformed. */
    decode: (path: Path, schema: Message, json: Json) => {
      const { value, violations } = messageFromJson(schema, json);
      reportViolations(violations, path);
      return violations.length > 0 ? undefined : value;
    },
    attempt,
    /** The uid of the first record that the service accepts. Reports why it refuses the records before it. */
    create: (
      context: ServiceContext,
      kind: Kind,
      path: Path,
      parent: string,
      ...records: (Json | undefined)[]
    ): string | undefined => {
      const service = services[`Create${resources[kind].type}` as keyof typeof services] as unknown as Create;
      for (const record of records) {
        const created = record && attempt(path, () => service({ parent, [kind]: record }, context));
        if (created) return created.uid;
      }
      return undefined;
    },
  };
};
