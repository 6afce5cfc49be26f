// Every error of provider and commands ends with the address of its section in docs/troubleshooting.md, or is listed here because its text says
// what to do. So a new error without an address fails this test.
import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { SECTION_OF_CODE, withSection } from "../../client/errors.ts";
import { root } from "../harness/api-process.ts";

type Classes = Readonly<Record<string, readonly string[]>>;

/** They end with an address: by their constructor, by `errorText`, or because each construction passes a text that has one. */
const ADDRESSED: Classes = {
  "an error of the API, by its code": ["ApiError", "RecordError", "NoConnection", "LostAnswer", "RefusedToken"],
  "of a session": ["SessionError", "ConfigError", "WrongService", "Unreachable", "Refused"],
  "of a journal": ["JournalError"],
  "of a create or a record": ["UnknownOutcome", "Incomplete", "InitFailed", "Cancelled", "Ended"],
};

const NO_ADDRESS: Classes = {
  "names the flag and what it takes": ["UsageError"],
  "says what it is of, and what is wrong with that": ["UserError"],
  "names the file, its line and what to write": [
    ...["TextFileError", "PolicyEditError", "NameError", "QuestionError"],
    ...["SeedError", "FaultsError", "LockError"],
  ],
  "names what cannot be read, and what it should be": [
    ...["BaseError", "PreviewError", "StateError", "ChangeError", "CopyError"],
  ],
  "names the step or the job, and why it does not run": ["StepError", "RefusedJob", "ForgeError"],
  "names the option of the server": [
    ...["ServerOptionsError", "TlsError", "ListenError", "DatabaseError", "DatabaseLost"],
  ],
  "says why there is no review, or what the engine printed": ["EngineError", "GuardError", "ProviderError"],
  "names the writes, and why each cannot be applied": ["GateError", "NotReviewed"],
  "names the folder, and what to do with it": ["OperationError"],
  "asks to run it again, and names the address": ["ListError"],
  "is a mistake of the program": ["LookUpError", "LookUpArgumentError", "UnknownRole", "Refusal"],
  "is part of another error": ["AttemptError", "SendFailure", "EngineStateError", "Undecided"],
  "is no text for a person": [
    "MalformedMessage",
    "TransportError",
    "BrokenMessage",
    "BodyRefused",
    "ClientGone",
    "PassedOn",
    "Exceeded",
  ],
};

const BARE = ["Error", "TypeError"];

/** Bare errors, and those of classes that end with an address, whose text has none: by reason. "…" is a value. */
const TEXTS_WITHOUT: Readonly<Record<string, readonly string[]>> = {
  "says what to do": [
    "RoleBindingSet …: nothing is changed: the role bindings of group … cannot be listed, so pairs that exist would be ",
    "…\nIf this is intended, set maxRemovals: … for one run.",
    "an exclusive set must not remove a binding that the run itself acts through, and the API token does not show its identity; ",
    "…: … is already managed by …; a record can be managed by only one resource, so adopt or import it in one of ",
    "… …: adopt names …, but this resource already manages a record; declare a separate resource for the other one",
    "… does not exist; leave adopt out to create a new one",
    "the issuer … …; only the development issuer of irm serve --dev issues tokens to anyone",
    "the stack has … policies of this organization: …; a review of one file needs a stack with one",
    "… of … cannot be listed, so it may exist: … is needed at it",
  ],
  "names the argument of the program, and what is wrong with it": [
    "…: nothing is changed:",
    '…: adopt: "…" was not looked up by the program',
    "… is …, not …",
    "… …: …",
    "… …: …: …",
    '"…" is not the uid of …',
    "… takes … or its uid; it was given …",
    "…: …",
  ],
  "names what it has read, and why that is wrong": ['"…" is not a URN', "cannot reach the issuer …: ……"],
  "names the resource whose error says it": ["failed for the same reason as …"],
  "is part of another error": [
    "what was written is not in it",
    "the engine's state was not read within … s",
    "timed out after … s",
    "the response is larger than … bytes",
  ],
  "is of the engine, or of a caller that is none": [
    "status.DEADLINE_EXCEEDED, text",
    "the call ended before its message",
    "the plugin is not configured",
    "the engine has not attached itself",
    "cancelled",
  ],
  "is a defect": [
    ...["… has no …", "no method updates a …", "… is not a uid", "unknown instruction …"],
    ...["there is no method …", "a review has a service", "the change has no write … here"],
    ...[
      "write … has made no organization yet",
      "a class that is not written out",
      "a narrowed token needs a capability",
      "a program in YAML has no setting …",
    ],
  ],
};

/** What makes the text, or the error that it quotes at its end, has seen to the address. */
const TEXTS_FROM: readonly string[] = [
  ...["problem", "duplicate", "… …", "… …", "found.problem", "sessionText(cause)"],
  ...["cancelledText(key)", "cancelledText(key)", "cancelled: ", "…; "],
  "(error as Error).message, group, { ...outputsOfWork(work), ...hiddenMembers(news) }",
  "(error as Error).message, id, { ...outs, ...desired.hidden }",
  "…: an interrupted run may have created it, and the search for it failed: …",
  "absent(root, await config(), absence)",
  "failed",
  "notVisibleText(root, await config(), absence)",
  "otherAddress(before as string, serviceOf(current.baseUrl), current)",
  "uncheckedText(root, problem)",
];

const files = globSync("{access,ci,cli,client,gate,plugin,provider,pulumi,schema,server}/**/*.ts", { cwd: root })
  .filter((file) => !file.includes("/generated/"))
  .map((file) => {
    const text = readFileSync(`${root}/${file}`, "utf8");
    return { file, text, nodes: nodesIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)) };
  });

function nodesIn(node: ts.Node): ts.Node[] {
  const below: ts.Node[] = [];
  node.forEachChild((child) => {
    below.push(...nodesIn(child));
  });
  return [node, ...below];
}

const parents = new Map<string, string>(
  files.flatMap(({ nodes }) =>
    nodes
      .filter(ts.isClassDeclaration)
      .flatMap(({ name, heritageClauses = [] }) =>
        heritageClauses
          .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
          .map(({ types }): [string, string] => [name?.text ?? "", types[0]?.expression.getText() ?? ""]),
      ),
  ),
);

const isError = (name: string | undefined): boolean =>
  name !== undefined && (BARE.includes(name) || isError(parents.get(name)));

const classes = [...parents.keys()].filter(isError);
const addressed = Object.values(ADDRESSED).flat();
const withoutAddress = Object.values(NO_ADDRESS).flat();

test("each class of errors is known to end with an address, or to need none", () => {
  expect([...addressed, ...withoutAddress].toSorted()).toEqual(classes.toSorted());
});

// schema/ and server/ send errors of the API, which the client reads.
const thrown = files
  .filter(({ file }) => !/^(?:schema|server)\//.test(file))
  .flatMap(({ file, nodes }) =>
    nodes
      .filter(ts.isNewExpression)
      .filter(({ expression }) => [...BARE, ...addressed].includes(expression.getText()))
      .map((node) => ({ file, name: node.expression.getText(), args: node.arguments ?? [] })),
  );

test("each error ends with an address, or is known to need none", () => {
  const unlisted = thrown.filter(({ name, args }) => !hasAddress(name, args));
  const listed = [...Object.values(TEXTS_WITHOUT).flat(), ...TEXTS_FROM];
  expect(unlisted.map(({ args }) => textOf(args)).toSorted()).toEqual(listed.toSorted());
});

/** `withSection`, `quoting`, or the section as an argument of the class. */
function hasAddress(name: string, args: readonly ts.Expression[]): boolean {
  if (/^(?:RecordError|ApiError|NoConnection|LostAnswer|RefusedToken|ConfigError)$/.test(name)) return true;
  return args.some((arg) => /\b(?:withSection|quoting)\(/.test(arg.getText()));
}

function textOf(args: readonly ts.Expression[]): string {
  const known = args
    .flatMap((arg) => nodesIn(arg))
    .find((node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node));
  if (known === undefined) return args.map((arg) => arg.getText()).join(", ");
  if (ts.isStringLiteralLike(known)) return known.text;
  const { head, templateSpans } = known as ts.TemplateExpression;
  return [head.text, ...templateSpans.map(({ literal }) => literal.text)].join("…");
}

// The sections of docs/troubleshooting.md: errors name each of them, and some source file has each message of the page's table.

const page = readFileSync(`${root}/docs/troubleshooting.md`, "utf8");
const own = readFileSync(`${root}/client/errors.ts`, "utf8");
const sections = [...own.matchAll(/^ {2}\| "([a-z-]+)"/gm)].map(([, section = ""]) => section);

test("the page has a section for each that an error may name, and no other one with an anchor", () => {
  const anchors = [...page.matchAll(/^<a id="([\w-]+)"><\/a>\n## /gm)].map(([, anchor]) => anchor);
  expect(anchors).toHaveLength(new Set(anchors).size);
  expect([...anchors].sort()).toEqual([...sections].sort());
});

/** Rows of the page's table: messages, and the section that treats them. */
const rows = [...page.matchAll(/^\| (`.*) \| \[[^\]]+\]\(#([\w-]+)\)(?:: nothing to do)? \|$/gm)].map(
  ([, cell = "", anchor = ""]) => ({ anchor, codes: [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code) }),
);

test("the table of the page has a row for each section", () => {
  expect([...new Set(rows.map(({ anchor }) => anchor))].sort()).toEqual([...sections].sort());
});

test("the table of the page names the codes of the API's errors beside their sections", () => {
  for (const [code, section] of Object.entries(SECTION_OF_CODE)) {
    const row = page.split("\n").find((line) => line.startsWith("| `") && line.includes(`\`${code}\``));
    // The page has no row of a code whose errors name each wrong field; a refused token has a message of its own.
    if (section !== undefined && section !== "sign-in") expect(row).toContain(`](#${section})`);
    else expect(row).toBeUndefined();
  }
});

const texts = files
  .filter(({ file }) => /^(?:access|cli|client|plugin|provider)\//.test(file))
  // A text that goes over several lines, and values inside.
  .map(({ text }) => text.replace(/["'`]\s*\+\s*["'`]/g, ""));
const ofOthers = (anchor: string, message: string): boolean =>
  anchor === "killed" ||
  Object.hasOwn(SECTION_OF_CODE, message) ||
  /^no response from … (connect|getaddrinfo) E$/.test(message);
const messages = rows.flatMap(({ anchor, codes }) => codes.filter((message) => !ofOthers(anchor, message)));

test.each(messages)("a source file has: %s", (message) => {
  const parts = message.split("…").filter((part) => part.trim() !== "");
  // A value may end with a word of the message, such as "1 record blocks".
  expect(texts.some((text) => parts.every((part) => text.includes(part.trim())))).toBe(true);
});

test("an address is at the end of an error once, whatever the error quotes", () => {
  const inner = withSection("GetGroup group g: PERMISSION_DENIED: no", "denied");
  expect(withSection(`the record cannot be read: ${inner}\nUse other credentials.`, "unreadable-entry")).toBe(
    "the record cannot be read: GetGroup group g: PERMISSION_DENIED: no\nUse other credentials.\nSee docs/troubleshooting.md#unreadable-entry",
  );
});
