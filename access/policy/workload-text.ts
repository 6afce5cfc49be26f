// A workload as one text: the map that a test of access has under `workload`, in YAML.
import { isObject, type Json } from "../../schema/index.ts";
import { checkWorkload } from "./check/identity.ts";
import { checkSource } from "./parse.ts";
import { type Mistake, plainValue } from "./source.ts";
import { sourceFromYaml } from "./yaml-source.ts";

/** `{ github: { repository: acme/images, branch: main } }`, or `{ issuer: …, subject: … }`. `name` is what mistakes call the text. */
export const workloadFromText = (text: string, name: string): { relationship?: Json; mistakes: Mistake[] } => {
  const { source, mistakes } = sourceFromYaml(text, name);
  const read = { ...(source && { source }), mistakes, files: [name] };
  const { value, mistakes: found } = checkSource(read, (own, report) => {
    const map = plainValue(own);
    if (!isObject(map)) {
      report.mistake([], "must be a map, such as { github: { repository: acme/images, branch: main } }");
      return undefined;
    }
    return checkWorkload("issuer" in map || "subject" in map ? { claimMatch: map } : map, [], report);
  });
  return { ...(value !== undefined && found.length === 0 && { relationship: value }), mistakes: found };
};
