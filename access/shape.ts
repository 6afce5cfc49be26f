// Parts of the schemas of reports and files. `about` is the description in the JSON Schema.
import { z } from "zod";

export const string = z.string();
export const strings = z.array(string);

export const text = (about: string) => string.describe(about);
export const texts = (about: string) => strings.describe(about);
export const textOrNull = (about: string) => string.nullable().describe(about);
export const flag = (about: string) => z.literal(true).optional().describe(about);
