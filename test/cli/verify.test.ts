// `irm review --seal` and `irm verify`: files, flags, exit codes, and each kind of difference.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Difference } from "../../access/seal/difference.ts";
import { parseSeal, type SealContent, sealed, sealText } from "../../access/seal/seal.ts";
import type { Json } from "../../schema/index.ts";
import { type Program, ref } from "../harness/small-engine/program.ts";
import { openSealed, type Sealed, STACK } from "../harness/small-engine/sealed.ts";
import { runIrm } from "../support/irm.ts";

const IAM = "/iam/v2beta1";

let stack: Sealed;
let home: string;
/** records that people made */
let ann: string;
let reader: string;
let count = 0;

beforeAll(async () => {
  stack = await openSealed("dynamic");
});
afterAll(() => stack.close());
beforeEach(async () => {
  vi.stubEnv("IRM_BASE_URL", stack.testbed.server.baseUrl);
  vi.stubEnv("IRM_TOKEN", stack.testbed.token());
  count += 1;
  rmSync(path("seal.json"), { force: true });
  home = await make(`groups/${stack.testbed.home}`, { name: `home-${count}` });
  ann = await make(`identities/${home}`, { name: "ann", claimMatch: claims("ann") });
  reader = await make(`roles/${home}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
});
afterEach(() => vi.unstubAllEnvs());

const claims = (subject: string): Json => ({ issuer: "https://issuer.example.com", subject });
const make = async (path: string, body: Json): Promise<string> =>
  (await stack.testbed.call("POST", `${IAM}/${path}`, body)).uid as string;
const edit = (path: string, body: Json): Promise<Json> => stack.testbed.call("PATCH", `${IAM}/${path}`, body);
const path = (name: string): string => join(stack.testbed.folder, name);

/** A saved preview of the program. */
const preview = async (program: Program): Promise<string> => {
  const file = path("preview.json");
  writeFileSync(file, JSON.stringify(await stack.engine.document(program)));
  return file;
};
const program = (): Program => [
  { kind: "group", name: "team", inputs: { parent: home, name: "team" } },
  { kind: "roleBinding", name: "reads", inputs: { parent: ref("team"), identity: ann, role: reader } },
];
const seal = async (own: Program, ...flags: string[]) =>
  runIrm("review", "--preview", await preview(own), "--seal", path("seal.json"), ...flags);
const verify = async (own: Program, ...flags: string[]) =>
  runIrm("verify", path("seal.json"), "--preview", await preview(own), ...flags);
const differs = async (own: Program, ...flags: string[]): Promise<{ code: number; differs: Difference[] }> => {
  const { code, stdout } = await verify(own, "--format", "json", ...flags);
  return { code, ...JSON.parse(stdout) };
};
/** Changes what the file says, with a digest of its own. */
const rewrite = (change: (content: SealContent) => void): void => {
  const { digest: _, ...content } = parseSeal(readFileSync(path("seal.json"), "utf8"), "seal.json");
  change(content);
  writeFileSync(path("seal.json"), sealText(sealed(content)));
};

test("is 0 for the change that the seal shows, and names its digest as the review does", async () => {
  const { code, stdout } = await seal(program());
  expect(code).toBe(0);
  const { digest } = JSON.parse(readFileSync(path("seal.json"), "utf8")) as { digest: string };
  expect(stdout).toContain(digest);
  expect(statSync(path("seal.json")).mode & 0o077).toBe(0);
  const same = await verify(program());
  expect(same).toMatchObject({ code: 0, stderr: "" });
  expect(same.stdout).toContain(`The change is what the seal shows: ${path("seal.json")} (${digest}, of `);
  expect(await differs(program(), "--digest", digest)).toEqual({ code: 0, differs: [] });
});

test("is 3 and names a row, a step and another digest", async () => {
  await seal(program());
  await edit(`roles/${reader}?updateMask=capabilities`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] });
  const { code, stdout } = await verify(program());
  expect(code).toBe(3);
  const row = "ann gains repo.create at team (new), through reader: this is not in the seal";
  expect(stdout).toContain(`- ${row.replace("at team", `at home/home-${count}/team`)}\nReview it again.`);
  await edit(`roles/${reader}?updateMask=capabilities`, {
    capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE", "CAP_TAG_LIST"],
  });
  expect((await verify(program())).stdout).toContain(
    `- ann gains 2 capabilities at home/home-${count}/team (new), through reader: this is not in the seal\n    repo.create, tag.list\n`,
  );
  const [team, reads] = program() as [Program[number], Program[number]];
  const changed = [{ ...team, inputs: { ...team.inputs, description: "another one" } }];
  const found = await differs([...changed, { ...reads, name: "other" }], "--digest", "sha256:1");
  expect(found.code).toBe(3);
  expect(found.differs.map(({ what, message }) => `${what}: ${message}`)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^digest: the digest of the seal is sha256:[0-9a-f]{64}, not sha256:1$/),
      expect.stringContaining("row: ann gains repo.create at "),
      "step: team has other inputs than in the seal: description",
      "step: other is not in the seal (create)",
      "step: reads is in the seal (create), and not in the change",
    ]),
  );
});

test("names who can assume an identity that gains, and what it holds that another workload is to assume", async () => {
  await seal(program());
  await edit(`identities/${ann}?updateMask=claimMatch`, { claimMatch: claims("eve") });
  expect((await differs(program())).differs).toEqual([
    {
      what: "assumable",
      subject: ann,
      message: expect.stringMatching(/^who ann is, now: a workload .* "eve"; in the seal: a workload .* "ann"$/),
    },
  ]);
  const bob = await make(`identities/${home}`, { name: "bob", claimMatch: claims("bob") });
  const adopting: Program = [
    { kind: "identity", name: "bob", inputs: { parent: home, name: "bob", claimMatch: claims("robert"), adopt: bob } },
  ];
  await seal(adopting);
  await edit(`identities/${bob}?updateMask=claimMatch`, { claimMatch: claims("bert") });
  expect((await differs(adopting)).differs.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^who bob is, before the change, now: .* "bert"; in the seal: .* "bob"$/),
  ]);
  await edit(`identities/${bob}?updateMask=claimMatch`, { claimMatch: claims("bob") });
  await make(`roleBindings/${home}`, { identityUid: bob, roleUid: reader });
  expect((await differs(adopting)).differs).toEqual([
    {
      what: "row",
      subject: bob,
      message: `bob, which another workload is to assume, holds repo.list at home-${count}: this is not in the seal`,
    },
  ]);
});

test("names an identity whose static keys were exchanged, and none that the change does not touch", async () => {
  const staticKeys = (x: string): Json => ({
    issuer: "https://keys.example",
    subject: "robot",
    issuerKeys: JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x }] }),
  });
  const [own, others] = ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw"];
  const [robot, far] = [
    await make(`identities/${home}`, { name: "robot", staticKeys: staticKeys(own) }),
    await make(`identities/${home}`, { name: "far", staticKeys: { ...staticKeys(own), subject: "far" } }),
  ];
  const binding: Program = [
    { kind: "roleBinding", name: "reads", inputs: { parent: home, identity: robot, role: reader } },
  ];
  await seal(binding);
  const exchange = (uid: string) =>
    edit(`identities/${uid}?updateMask=staticKeys.issuerKeys`, { staticKeys: staticKeys(others) });
  await exchange(far);
  expect(await differs(binding)).toEqual({ code: 0, differs: [] });
  await exchange(robot);
  expect(await differs(binding)).toEqual({
    code: 3,
    differs: [
      {
        what: "assumable",
        subject: robot,
        message: expect.stringMatching(
          /now: .* own keys \(SHA-256 c09d73bcb44ad38b….* seal: .* \(SHA-256 b7c67122f765c754…/,
        ),
      },
    ],
  });
  // Where the words were the same, too.
  await seal(binding);
  rewrite(({ before, after }) => {
    for (const { identities } of [before, after])
      for (const one of identities) if (one.id === robot) one.relationship = { staticKeys: staticKeys(own) };
  });
  expect((await differs(binding)).differs).toEqual([
    { what: "assumable", subject: robot, message: "who can assume robot is not what the seal shows" },
  ]);
  // The API sets the end of keys that the program declares without one.
  const adopting: Program = [
    {
      kind: "identity",
      name: "robot",
      inputs: { parent: home, name: "robot", staticKeys: staticKeys(others), adopt: robot },
    },
  ];
  await seal(adopting);
  expect(await differs(adopting)).toEqual({ code: 0, differs: [] });
  await edit(`identities/${robot}?updateMask=staticKeys.issuerKeys`, { staticKeys: staticKeys(own) });
  expect((await differs(adopting)).differs).toContainEqual(
    expect.objectContaining({ what: "assumable", subject: robot }),
  );
});

test("names the owner of an adopted record, a deletion, another service and a date that is over", async () => {
  const inner = await make(`groups/${home}`, { name: "inner" });
  const adopting: Program = [{ kind: "group", name: "inner", inputs: { parent: home, name: "inner", adopt: inner } }];
  await seal(adopting);
  const { roles } = await stack.testbed.call("GET", `${IAM}/roles?name=owner&uidp.inRoot=true`);
  await make(`roleBindings/${inner}`, { identityUid: ann, roleUid: (roles as { uid: string }[])[0]?.uid });
  rewrite((content) => {
    content.origin.services = ["https://elsewhere.example"];
    content.origin.expires = "2020-01-01T00:00:00Z";
    content.deletes = [`role ${reader}`];
    content.blocked = [`role ${reader}`];
  });
  const found = (await differs(adopting)).differs.map(({ what, message }) => `${what}: ${message}`);
  expect(found.toSorted()).toEqual([
    `delete: nothing keeps role ${reader} from being deleted any more`,
    `delete: role ${reader} would not be deleted any more`,
    "expired: the seal expired at 2020-01-01T00:00:00Z",
    `owner: identity ${ann} may give access where the adopted ${inner} is, which the seal does not show`,
    `service: the change is at ${stack.testbed.server.baseUrl}, which the seal does not name`,
    "service: the change is not at https://elsewhere.example any more",
  ]);
});

test("names a role binding that is adopted or updated and was changed by hand, also where the rows are the same", async () => {
  const lister = await make(`roles/${home}`, { name: "lister", capabilities: ["CAP_REPO_LIST"] });
  const [bob, cid] = [
    await make(`identities/${home}`, { name: "bob", claimMatch: claims("bob") }),
    await make(`identities/${home}`, { name: "cid", claimMatch: claims("cid") }),
  ];
  for (const identityUid of [ann, bob]) await make(`roleBindings/${home}`, { identityUid, roleUid: lister });
  const own = await make(`roleBindings/${home}`, { identityUid: ann, roleUid: reader });
  const adopting: Program = [
    { kind: "roleBinding", name: "reads", inputs: { parent: home, identity: cid, role: reader, adopt: own } },
  ];
  await seal(adopting);
  expect((await differs(adopting)).differs).toEqual([]);
  await edit(`roleBindings/${own}?updateMask=identityUid`, { identityUid: bob });
  expect((await differs(adopting)).differs).toEqual([
    { what: "step", subject: own, message: `the adopted role binding ${own} grants something else than in the seal` },
  ]);

  await edit(`roleBindings/${own}?updateMask=identityUid`, { identityUid: ann });
  const binding = (who: string): Program => [
    { kind: "roleBinding", name: "own", inputs: { parent: home, identity: who, role: reader, allowDuplicate: true } },
  ];
  await stack.engine.run("up", binding(ann));
  const managed = stack.testbed.uid(STACK, "own");
  await seal(binding(cid));
  expect((await differs(binding(cid))).differs).toEqual([]);
  await edit(`roleBindings/${managed}?updateMask=identityUid`, { identityUid: bob });
  expect((await differs(binding(cid))).differs).toEqual([
    { what: "step", subject: managed, message: `the role binding ${managed} grants something else than in the seal` },
  ]);
});

test("is 1 for what is no seal, a seal of another stack, and a file that was changed", async () => {
  const failed = async (reason: string): Promise<void> => {
    const { code, stdout, stderr } = await verify(program());
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`irm verify: ${reason}`);
  };
  const file = path("seal.json");
  await seal(program());
  rewrite((content) => {
    content.origin.stack = "faults/other";
  });
  await failed("the seal is of stack faults/other, and this is faults/seal; give --stack");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("repo.list", "repo.create"));
  await failed(`${file} was changed after it was written: its content has the digest sha256:`);
  writeFileSync(file, "[]");
  await failed(`${file} is not a seal; npx pulumi-irm review --seal FILE writes a seal\n`);
  writeFileSync(file, '{"seal": 1}');
  await failed(
    `${file} is not a seal: origin: Invalid input: expected object, received undefined; npx pulumi-irm review`,
  );
  const missing = await runIrm("verify", path("nothing.json"), "--preview", await preview(program()));
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`there is no file ${path("nothing.json")}`),
  });
});

test("a seal is of a whole preview, replaces a seal, and no other file", async () => {
  const other = path("package.json");
  writeFileSync(other, '{"name": "mine"}');
  const taken = await runIrm("review", "--preview", await preview(program()), "--seal", other);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining(`${other} exists already, and is no seal`) });
  expect(readFileSync(other, "utf8")).toBe('{"name": "mine"}');
  for (const days of ["0", "91", "1.5", "x"])
    expect(await seal(program(), "--seal-days", days)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--seal-days takes a whole number from 1 to 90, not "${days}"`),
    });
  await seal(program(), "--seal-days", "1");
  const { origin } = parseSeal(readFileSync(path("seal.json"), "utf8"), "seal.json");
  expect(Date.parse(origin.expires) - Date.parse(origin.time)).toBe(24 * 60 * 60 * 1000);
  const document = JSON.parse(readFileSync(await preview(program()), "utf8")) as { changeSummary: Json };
  for (const summary of [{ same: 1 }, { create: 3 }]) {
    const file = path("part.json");
    writeFileSync(file, JSON.stringify({ ...document, changeSummary: { ...document.changeSummary, ...summary } }));
    const part = await runIrm("review", "--preview", file, "--seal", path("part-seal.json"));
    expect(part).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("a seal needs a preview that shows every resource"),
    });
    expect(existsSync(path("part-seal.json"))).toBe(false);
  }
});
