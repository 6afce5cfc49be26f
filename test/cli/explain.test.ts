// `irm explain`: which sections it finds in the output of runs, whatever a terminal has made of it.
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sectionsIn } from "../../cli/explain/find.ts";
import { RECOVERY, type RecoverySection } from "../../client/recovery.ts";
import { root } from "../harness/api-process.ts";
import { runIrm } from "../support/irm.ts";

afterEach(() => vi.restoreAllMocks());

const explain = (text: string, ...flags: string[]) => {
  vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([Buffer.from(text)]) as never);
  return runIrm("explain", ...flags);
};

const ORG = "6a9468a3c2b0a6b2b1d1f6a8f3a0c1d2e3f40516";
const RED = "\u001b[38;5;1m";
const OFF = "\u001b[0m";

/** What the engine prints around an error. */
const noisy = (...errors: string[]): string => `Updating (dev):\r
${errors
  .map(
    (
      error,
      i,
    ) => ` ${RED}+${OFF}  pulumi-nodejs:dynamic/irm:Group team-${i} ${RED}**creating failed**${OFF} 1 ${RED}error${OFF}
Diagnostics:
  ${RED}pulumi-nodejs:dynamic/irm:Group${OFF} (team-${i}):
    ${RED}error:${OFF} ${error.replaceAll("\n", "\n    ")}
`,
  )
  .join("\n")}
Resources:
    ${RED}+ 1 created${OFF}

Duration: 2s
`;

const wrongService = `wrong service? The records of this stack are in the organization ${ORG}, and it is not at http://127.0.0.1:8080: the service does not know it. Nothing is created, changed or deleted.
  - If the address or the credentials are those of another service: set them back.
See docs/recovery.md#wrong-organization`;
const unknown = `CreateGroup group "team" in ${ORG}: UNAVAILABLE: no response from https://irm.example: timed out after 60 s
It is unknown whether the group was created. The intent journal keeps the create as pending, and the next run searches for the record first.`;

describe("irm explain", () => {
  test("prints the section of an error in the engine's output, by the address at its end", async () => {
    const { code, stdout, stderr } = await explain(noisy(wrongService));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^The organization is missing {2}docs\/recovery\.md#wrong-organization\n\n```\nwrong service\? /,
    );
    expect(stdout).toContain("**It is a development server that you restarted.**");
    expect(stdout).not.toContain("## ");
  });

  test.each([
    ["UNAVAILABLE: no response from https://irm.example: timed out after 60 s", "unavailable"],
    ["    error: PERMISSION_DENIED: Permission denied: groups.create", "denied"],
    ["ALREADY_EXISTS", "refused"],
  ])("finds the section of an excerpt by the code that it begins with: %s", (text, section) => {
    expect(sectionsIn(text)).toEqual([section]);
    expect(sectionsIn(`the code ${text.trim()}`)).not.toContain(section);
  });

  test("prints several, each once, in the order of the text; as JSON too", async () => {
    const locked =
      "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with `pulumi cancel`.";
    const text = noisy(unknown, wrongService, unknown) + locked;
    const { code, stdout } = await explain(text, "--format", "json");
    const { sections } = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(sections.map(({ section }: { section: string }) => section)).toEqual([
      "unknown",
      "wrong-organization",
      "killed",
    ]);
    expect(sections[2]).toEqual({
      section: "killed",
      title: "The engine was killed",
      address: "docs/recovery.md#killed",
      text: expect.stringContaining("pulumi cancel --yes --stack production"),
    });
  });

  test("prints nothing of the text", async () => {
    const text = noisy(wrongService).replace("Updating", "token eyJhbGciOiJSUzI1NiJ9.e30.c2ln \u001b]0;title\u0007");
    const { stdout, stderr } = await explain(text);
    expect(stdout + stderr).not.toMatch(/eyJ|]0;title|team-0/);
    expect((await explain(text, "--format", "json")).stdout).not.toMatch(/eyJ|0;title|team-0/);
  });

  test("exits with 3 where the page treats no error", async () => {
    expect(await explain("error: name: must match ^[a-z0-9 ._-]{1,}$\n")).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "irm explain: docs/recovery.md treats no error in this text; an error without an address says itself what to do, so read it to " +
        "its end. If the text is a part of the output, give all of it: npx pulumi-irm explain < up.log\n",
    });
    expect(await explain(" \n")).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "irm explain: stdin is empty; give it the output of the command that failed: npx pulumi-irm explain < up.log\n",
    });
    expect(await explain("", "--format", "json")).toEqual({ code: 3, stdout: '{\n  "sections": []\n}\n', stderr: "" });
  });
});

describe("finds", () => {
  const page = readFileSync(`${root}/docs/recovery.md`, "utf8");

  test.each(Object.keys(RECOVERY) as RecoverySection[])("%s in the messages that its section shows", (section) => {
    const [, text = ""] = page.split(`<a id="${section}"></a>`);
    const [own = ""] = text.split("<a id=");
    const shown = [...own.matchAll(/```\n(.*?)\n```/gs)].map(([, fence = ""]) => fence).join("\n\n");
    const inline = [...own.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code.replaceAll("…", "x")).join("\n");
    expect(sectionsIn(`${shown}\n${inline}`)).toContain(section);
    // Without the addresses, as an earlier version wrote them.
    expect(sectionsIn(`${shown}\n${inline}`.replaceAll(/See docs.*/g, ""))).toContain(section);
  });

  test("a message that a terminal has wrapped within a word, and one that it has cut", () => {
    const wrapped = unknown.replace(/(.{37})/g, "$1\n");
    expect(sectionsIn(wrapped)).toEqual(["unknown"]);
    expect(sectionsIn("    error: wrong service? The records of this stack are at http://127.0.…")).toEqual([
      "wrong-address",
    ]);
    expect(sectionsIn(`  error: wrong service? The records of this stack are in the orga...`)).toEqual([
      "wrong-organization",
    ]);
    // So far it may be either.
    expect(sectionsIn("wrong service? The records of this stack are")).toEqual(["wrong-address", "wrong-organization"]);
    expect(sectionsIn("See docs/recovery.md#not-visible")).toEqual(["not-visible"]);
  });

  test("an error of the API by its code, where the text has no address and no other message", () => {
    const denied = `CreateGroup group "team" in ${ORG}: PERMISSION_DENIED: Permission denied: groups.create`;
    expect(sectionsIn(denied)).toEqual(["denied"]);
    expect(sectionsIn(noisy(denied, `UpdateRole role ${ORG}/77e1 "a": NOT_FOUND: Not found: no such role`))).toEqual([
      "denied",
      "refused",
    ]);
    expect(sectionsIn("irm access: UNAVAILABLE: Unavailable: a proxy's page\n")).toEqual(["unavailable"]);
    // It names each wrong field.
    expect(sectionsIn(`CreateGroup group "" in ${ORG}: INVALID_ARGUMENT: name: is required`)).toEqual([]);
    expect(sectionsIn(noisy(unknown))).toEqual(["unknown"]);
    expect(sectionsIn("exchanging the token of IRM_IDENTITY_TOKEN for x: token is expired")).toEqual(["sign-in"]);
    expect(sectionsIn("pulumi-irm is not configured:\n  - IRM_BASE_URL: must be an https URL")).toEqual([
      "configuration",
    ]);
    expect(
      sectionsIn("UNAVAILABLE: no response from http://127.0.0.1:9090: connect ECONNREFUSED 127.0.0.1:9090"),
    ).toEqual(["unreachable"]);
  });

  test("nothing in the errors of other providers around it", () => {
    const others = [
      'googleapi: Error 403: Permission "iam.roles.create" denied, forbidden\n{ "status": "PERMISSION_DENIED" }',
      "operation error IAM: CreateGroup, https response error StatusCode: 409, EntityAlreadyExists: exists",
      "rpc error: code = Unavailable desc = connection error: desc = transport: Error while dialing: connect: refused",
    ];
    expect(sectionsIn(noisy(...others))).toEqual([]);
    expect(sectionsIn(noisy(...others, wrongService, ...others))).toEqual(["wrong-organization"]);
  });

  test("what an error quotes is not an error of its own", () => {
    const pending = 'a run was interrupted while creating this group "team" in x; it may be:';
    expect(sectionsIn(pending)).toEqual(["no-journal"]);
    const unreachable = `UNAVAILABLE: exchanging the token of IRM_IDENTITY_TOKEN for identity ${ORG} at http://127.0.0.1:9090/sts/exchange: no response from http://127.0.0.1:9090: connect ECONNREFUSED 127.0.0.1:9090
Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?`;
    expect(sectionsIn(noisy(unreachable))).toEqual(["unreachable"]);
    const refused = unreachable
      .replace("UNAVAILABLE", "PERMISSION_DENIED")
      .replace(/no response.*/s, "token is expired");
    expect(sectionsIn(refused)).toEqual(["sign-in"]);
  });

  test("nothing in the texts of others, and is quick with a large log", () => {
    expect(sectionsIn("the intent\n".repeat(10))).toEqual([]);
    const lines = [
      "the response to its create names x, which ".repeat(40),
      "the intent journal names x for it, which y: it is ignored error: CreateGroup x: PERMISSION_DENIED: See docs/recovery.md#killed ",
    ];
    const start = performance.now();
    for (const line of lines) sectionsIn(`${line}\n`.repeat(Math.ceil(2_000_000 / line.length)));
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
