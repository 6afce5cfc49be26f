// The table of resources in docs/resources.md, of the descriptors: each with its page. The rest of that page is written by hand.
import { isManaged, type Resource, resources, roleBindingSet } from "../../schema/index.ts";

const HEAD = "| resource | what it is |\n| --- | --- |\n";

/** The page with the table as it has to be. */
export const withResourceTable = (page: string): string => {
  const start = page.indexOf(HEAD) + HEAD.length;
  const end = page.indexOf("\n\n", start) + 1;
  if (start < HEAD.length || end === 0) throw new Error("docs/resources.md has no table of resources");
  return page.slice(0, start) + rows().join("") + page.slice(end);
};

const rows = (): string[] =>
  Object.values<Resource>(resources)
    .filter(isManaged)
    .flatMap(({ type, texts }) => [
      rowOf(type, texts.about),
      // The set of a kind comes after it.
      ...(roleBindingSet.type === `${type}Set` ? [rowOf(roleBindingSet.type, roleBindingSet.about)] : []),
    ]);

const rowOf = (type: string, about: string): string => {
  const file = type.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return `| [${type}](resources/${file}.md) | ${about.replace(/\.$/, "")} |\n`;
};
