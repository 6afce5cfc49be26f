// The links and anchors of a Markdown page, as GitHub renders it.
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";

export interface Page {
  /** anchors of headings and of `<a id>`, each with its line */
  anchors: { name: string; line: number }[];
  links: { target: string; line: number }[];
  /** the visible text of each line, without code blocks and link targets */
  prose: string[];
}

const parser = new MarkdownIt({ html: true });

export const pageFrom = (text: string): Page => {
  const tokens = parser.parse(text, {});
  const prose = text.split("\n");
  for (const { type, map } of tokens)
    if (map && (type === "fence" || type === "code_block")) prose.fill("", map[0], map[1]);

  const page: Page = { anchors: [], links: [], prose: [] };
  const slugger = new GithubSlugger();
  let first = 0;
  for (const [index, { type, map, content, children }] of tokens.entries()) {
    if (map) first = map[0];
    if (type !== "inline" && type !== "html_block") continue;
    // A token knows where its block begins.
    const lineOf = (part: string) => {
      const within = prose.slice(first).findIndex((line) => line.includes(part));
      return first + 1 + Math.max(0, within);
    };
    const parts = children ?? [];
    if (tokens[index - 1]?.type === "heading_open") {
      const texts = parts.filter(({ type }) => type === "text" || type === "code_inline");
      page.anchors.push({ name: slugger.slug(texts.map((text) => text.content).join("")), line: first + 1 });
    }
    for (const part of parts) {
      const written = part.attrGet("href") ?? part.attrGet("src");
      if (written === null) continue;
      const target = decodeURI(String(written));
      page.links.push({ target, line: lineOf(target) });
    }
    const html = children
      ? children.map((token) => (token.type === "html_inline" ? token.content : " ")).join("")
      : content;
    for (const [, name, value = ""] of html.matchAll(/<\w+\b[^>]*?\b(id|name|href|src|srcset)="([^"]*)"/g))
      if (name === "srcset") {
        // `a.png, b.png 2x`
        const sources = value.split(",").map((one) => one.trim().split(" ", 1)[0] as string);
        page.links.push(...sources.map((target) => ({ target, line: lineOf(target) })));
      } else if (name === "href" || name === "src") page.links.push({ target: value, line: lineOf(value) });
      else page.anchors.push({ name: value, line: lineOf(`"${value}"`) });
  }
  page.prose = prose.map((line) => line.replaceAll(/\]\([^)]*\)|<[^>]*>/g, "] "));
  return page;
};
