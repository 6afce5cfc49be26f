// The file of a copy: a seed that `irm serve --seed` reads back to the same records.
import { yamlText } from "../yaml-text.ts";
import type { Copy } from "./copy.ts";

/** The first line of every such file. */
export const COPY_HEAD = "# A copy of the records of a service, written by irm serve --copy-to.";

const ABOUT = `${COPY_HEAD}
# npx pulumi-irm serve --seed FILE starts a server with them: the same uids and times, no secrets (docs/server.md#copy).
`;

export const copyText = ({ copy, records, named }: Copy): string =>
  ABOUT + yamlText({ copy: withoutEmpty(copy), records, ...notEmpty("named", withoutEmpty(named)) });

const withoutEmpty = (lists: object): object =>
  Object.fromEntries(Object.entries(lists).filter(([, value]) => !Array.isArray(value) || value.length > 0));

const notEmpty = (name: string, value: object): object => (Object.keys(value).length > 0 ? { [name]: value } : {});
