// The readme of a repo (docs/internals/contract.md#readme): Markdown whose HTML contains nothing that a sanitizer of user content removes.
// It is checked when it is written, so that a page that shows it need not.
import { Parser } from "htmlparser2";
import MarkdownIt, { type Token } from "markdown-it";

const TEXT = "readme contained unsafe html content";

const words = (text: string) => new Set(text.trim().split(/\s+/));

// The usual policy for user content allows these.
const ELEMENTS =
  words(`a abbr acronym article aside b bdi bdo blockquote br caption cite code col colgroup dd del details
  dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hgroup hr i img ins kbd li mark ol p pre q rp rt ruby s samp
  section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`);
const EVERYWHERE = words("dir id lang title");
const ATTRIBUTES: Record<string, ReadonlySet<string>> = {
  a: words("href"),
  blockquote: words("cite"),
  code: words("class"),
  col: words("align span valign width"),
  colgroup: words("align span valign width"),
  del: words("cite datetime"),
  details: words("open"),
  img: words("align alt height src width"),
  ins: words("cite datetime"),
  li: words("value"),
  ol: words("start type"),
  q: words("cite"),
  table: words("align height summary valign width"),
  td: words("align colspan headers height nowrap rowspan valign width"),
  th: words("abbr align colspan headers height nowrap rowspan scope valign width"),
  time: words("datetime"),
  tr: words("align valign"),
  ul: words("type"),
};
const LINKS = words("cite href src");
const SCHEMES = words("http: https: mailto:");

// Keeps HTML and links as they were written, so that the check sees every dangerous part. It stops at 100 levels, and drops what
// lies deeper.
const LEVELS_MAX = 100;
const TOO_DEEP = `must not be nested in ${LEVELS_MAX} levels or more`;
const markdown = new MarkdownIt({ html: true, maxNesting: LEVELS_MAX });
markdown.validateLink = () => true;
markdown.normalizeLink = (link) => link;
// The alignment of a column would become a style.
const cell = (tokens: Token[], i: number) => `<${tokens[i]?.tag}>`;
Object.assign(markdown.renderer.rules, { th_open: cell, td_open: cell });

/** The reason to refuse a text as a readme; undefined if it is accepted. */
export const readmeViolation = (content: string): string | undefined => {
  const tokens = markdown.parse(content, {});
  if (tokens.some(({ level }) => level >= LEVELS_MAX - 1)) return TOO_DEEP;
  const unsafe = unsafeIn(markdown.renderer.render(tokens, markdown.options, {}));
  return unsafe === undefined || unsafe === TOO_DEEP ? unsafe : `${TEXT}: ${unsafe}`;
};

// Parsed last, unless something before it never ends, which would swallow the rest of a page.
const END = "end-of-readme";

const unsafeIn = (html: string): string | undefined => {
  const found: string[] = [];
  let ended = false;
  let levels = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      levels += 1;
      // The parser searches all open elements at each tag.
      if (levels >= LEVELS_MAX) parser.pause();
      ended = name === END;
      if (!ended && !ELEMENTS.has(name)) found.push(`<${name.slice(0, 50)}>`);
      for (const [attribute, value] of Object.entries(attributes))
        if (!isSafe(name, attribute, value)) found.push(`${attribute.slice(0, 50)} of <${name.slice(0, 50)}>`);
    },
    onclosetag: () => {
      levels -= 1;
    },
    onprocessinginstruction: (name) => found.push(`<${name.slice(0, 50)}>`),
  });
  parser.end(`${html}<${END}>`);
  if (levels >= LEVELS_MAX) return TOO_DEEP;
  return found[0] ?? (ended ? undefined : "an element or a comment that never ends");
};

const isSafe = (element: string, attribute: string, value: string) => {
  if (EVERYWHERE.has(attribute)) return true;
  if (!ATTRIBUTES[element]?.has(attribute)) return false;
  if (attribute === "class") return /^language-\S+$/.test(value);
  return !LINKS.has(attribute) || isSafeLink(value);
};

// Parsed as a browser does, which drops tabs and line ends in a scheme. A relative link has the scheme of the page.
const isSafeLink = (link: string) =>
  URL.canParse(link, "https://page.invalid") && SCHEMES.has(new URL(link, "https://page.invalid").protocol);
