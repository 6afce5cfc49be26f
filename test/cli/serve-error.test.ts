// An error that the user can fix ends `irm serve` with one sentence on stderr and exit code 1, without a stack trace.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { startServerProcess } from "../harness/api-process.ts";
import { serve } from "../harness/api-server.ts";
import { START_MS } from "../harness/clock.ts";
import { payloadOf } from "../harness/sts.ts";
import { type Finished, runCommand } from "../support/command.ts";
import { createHttpClient } from "../support/http.ts";
import { exactFailure, failure, runIrm } from "../support/irm.ts";
import { listen, unusedPort } from "../support/listen.ts";
import { rowsOf } from "../support/rows.ts";
import { testFolder } from "../support/test-folder.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = testFolder();

const run = (...args: string[]) => runIrm("serve", ...args);

const expectSentence = (result: Finished, sentence: string) =>
  expect(result).toEqual(exactFailure(1, `irm serve: ${sentence}\n`));

test("a database of another program, which is not changed", async () => {
  const file = folder.path("other.db");
  const other = new DatabaseSync(file);
  other.exec("CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('Ann')");
  other.close();
  expectSentence(await run("--db", file), `${file} is a database of another program; name another file`);
  const after = new DatabaseSync(file);
  expect(after.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "contacts" }]);
  after.close();
});

test("a port: of either side that is in use: the process ends, creates no database, and frees the other port", async () => {
  const [taken, free] = [createTcpServer(), String(await unusedPort())];
  const port = String(await listen(taken));
  const sentence = `port ${port} on 127.0.0.1 is in use; choose another, or 0 for any free one`;
  const file = folder.path("not-started.db");
  expectSentence(await runCommand("serve", "--port", port, "--db", file), sentence);
  expect(existsSync(file)).toBe(false);
  for (let i = 0; i < 2; i += 1) expectSentence(await run("--port", free, "--auth-port", port), sentence);
  taken.close();
});

const missing = folder.path("missing.yaml");
const seed = folder.write("seed.yaml", "organization:\n  name: Acme\ngroups:\n  - name: eng\n    parent: nowhere\n");
const faults = folder.write("faults.yaml", "rules:\n  - operation: MakeGroup\n    steps: []\n");
const notes = folder.write("notes.txt", "Dear diary, ".repeat(100));

const NO_FILE = `ENOENT: no such file or directory, open '${missing}'`;
const noFolder = folder.path("no/irm.db");

test.each(
  rowsOf(`
    a database that is none | --db ${notes} | cannot use ${notes} as a database: file is not a database
    a folder as database | --db ${tmpdir()} | cannot use ${tmpdir()} as a database: it is a folder
    a database in no folder | --db ${noFolder} | cannot use ${noFolder} as a database: its folder does not exist
    an address of another machine | --host 192.0.2.1 | 192.0.2.1 is not an address of this machine
    no seed | --seed ${missing} | cannot read the seed file ${missing}: ${NO_FILE}
    a seed with problems: file, line and column of each | --seed ${seed} --db ${folder.path("untouched.db")}
      | ${seed}:2:9: organization.name: name must match "^[a-z0-9 ._-]{1,}$"\\n${seed}:5:13: groups.0.parent: there is no group "nowhere" in this file
    missing scripted failures | --faults ${missing} | cannot read the faults file ${missing}: ${NO_FILE}
    scripted failures with problems | --faults ${faults}
      | ${faults}:2:16: rules.0.operation: must be the name of an operation, such as CreateGroup, or "*"\\n${faults}:3:12: rules.0.steps: must have a step
  `),
)("%s", async (_, flags = "", sentence = "") => {
  expectSentence(await run(...flags.split(" ")), sentence.replaceAll("\\n", "\n"));
});

test("the example of docs/server.md works, and no rule applies to the server's own start", async () => {
  const page = readFileSync(new URL("../../docs/server.md", import.meta.url), "utf8");
  const example = /faults\.yaml <<'EOF'\n(.*?)EOF\n/s.exec(page)?.[1] as string;
  const file = folder.write("faults.yaml", `${example}  - { operation: ExchangeGet, steps: [{ status: 500 }] }\n`);
  const server = await startServerProcess(["--faults", file]);
  const api = createHttpClient(server.baseUrl);
  onTestFinished(api.close);
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const target = `/iam/v2beta1/groups/${server.organization}`;
  const create = () => api.send({ method: "POST", target, headers, body: '{"name":"once"}' });
  const first = await create();
  expect([first.status, first.headers["retry-after"]]).toEqual([503, "1"]);
  await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await create()).status).toBe(200);
  const { json } = await api.send({ method: "GET", target: "/faults" });
  expect(json.attempts).toMatchObject([
    { operation: "CreateGroup", wire: "rest", rule: 1, step: 1, carriedOut: false },
    { operation: "CreateGroup", wire: "rest", rule: 1, step: 2, carriedOut: true },
    { operation: "CreateGroup", wire: "rest", carriedOut: true },
  ]);
  const { groups } = (await api.send({ method: "GET", target: "/iam/v2beta1/groups?name=once", headers })).json;
  expect(groups).toHaveLength(2);
});

const api = await serve();

test("irm serve token prints only the token, with the requested claims, parsed as JSON where possible", async () => {
  const { code, stdout, stderr } = await runCommand(
    ...["serve", "token", "--issuer", api.issuer, "--audience", "me"],
    ...["--subject", "repo:my-org/my-repo:ref:refs/heads/main"],
    ...["--claim", "ref=refs/heads/main", "--claim", "run=7", "--claim", "fork=true", "--claim", "a=b=c"],
    ...["--claim", 'list=["x"]', "--claim", "empty="],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const iat = Math.floor(START_MS / 1000);
  expect(payloadOf(stdout)).toEqual({
    iss: api.issuer,
    sub: "repo:my-org/my-repo:ref:refs/heads/main",
    aud: "me",
    ref: "refs/heads/main",
    run: 7,
    fork: true,
    a: "b=c",
    list: ["x"],
    empty: "",
    iat,
    exp: iat + 3600,
    jti: expect.any(String),
  });
});

test("irm serve token requests a token for the exchange by default", async () => {
  const { stdout } = await runIrm("serve", "token", "--issuer", api.issuer, "--subject", "owner");
  expect(payloadOf(stdout).aud).toBe(api.authUrl);
  const answer = await api.exchange(stdout.trim(), { aud: api.baseUrl, identity: api.identity });
  expect(answer.status, answer.text).toBe(200);
});

const ADVICE = "only the development issuer of irm serve --dev issues tokens to anyone";
const atIssuer = (text: string) => new RegExp(`^irm serve token: the issuer http:\\S+ answered ${text}\n$`);
test.each<[what: string, issuer: string, sentence: RegExp, subject?: string]>([
  [
    "a port at which nothing listens",
    "http://127.0.0.1:2/dev-issuer",
    /ECONNREFUSED 127\.0\.0\.1:2; start `npx pulumi-irm serve --dev`, or correct --issuer\n$/,
  ],
  [
    "an https address of a server that speaks http",
    api.baseUrl.replace("http:", "https:"),
    /: this port does not speak TLS; if it speaks http, write http:\/\/127\.0\.0\.1:\d+ \(ERR_SSL_WRONG_VERSION_NUMBER\)\n$/,
  ],
  ["a server that is not an issuer", api.baseUrl, atIssuer(`404: Not found: there is no /token; ${ADVICE}`)],
  ["a subject that is too long", api.issuer, atIssuer("400: Invalid argument: subject: .+"), "s".repeat(256)],
])("irm serve token reports %s in one sentence, and exits with 1", async (_, issuer, sentence, subject = "s") => {
  expect(await runIrm("serve", "token", "--issuer", issuer, "--subject", subject)).toEqual(failure(1, sentence));
});

const ESCAPED = "answered 403: no\\u001b[2J\\u202e\\u000aforged";
const NO_JWT = "answered with a token that is not a JWT";
test.each<[string, object, number, string]>([
  ["a message with control characters", { message: "no\u001b[2J\u202e\nforged" }, 403, ESCAPED],
  ["a token with control characters", { token: "\u001b]0;evil\u0007" }, 200, NO_JWT],
  ["a token that is not text", { token: 7 }, 200, NO_JWT],
])("irm serve token escapes %s of a hostile issuer", async (_, body, status, text) => {
  const issuer = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(body)));
  const url = `http://127.0.0.1:${await listen(issuer)}`;
  expect(await runIrm("serve", "token", "--issuer", url, "--subject", "s")).toEqual(
    exactFailure(1, `irm serve token: the issuer ${url} ${text}; ${ADVICE}\n`),
  );
  issuer.closeAllConnections();
  issuer.close();
});
