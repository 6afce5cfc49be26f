// Parts of the schemas of reports and files. `about` is what the JSON Schema tells readers.
import { z } from "zod";

export const string = z.string();
export const strings = z.array(string);

export const text = (about: string) => string.describe(about);
export const texts = (about: string) => strings.describe(about);
export const textOrNull = (about: string) => string.nullable().describe(about);
export const flag = (about: string) => z.literal(true).optional().describe(about);
