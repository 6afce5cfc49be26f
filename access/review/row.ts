// A row of a change in access, as every report has it.
import { z } from "zod";

export const uid = z.string().nullable().describe("null: does not exist yet");
export const groupName = z
  .string()
  .describe("path from the organization, / for itself; of an organization that does not exist yet, its name");

/** A capability that is gained or lost at a group and everywhere below it. */
export const Row = z.object({
  group: uid.describe("uid of the topmost group where it is gained or lost; null: the group does not exist yet"),
  groupName,
  capability: z.string().describe("such as groups.list"),
  role: z.string().describe("name of the role that grants it; of several, the first by alphabet"),
});
export type Row = z.infer<typeof Row>;
