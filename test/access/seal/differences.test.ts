// A change and a seal: each kind of difference, and what is no seal.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { differencesAsText } from "../../../access/format/seal.ts";
import type { Difference } from "../../../access/seal/difference.ts";
import { differencesBetween } from "../../../access/seal/differences.ts";
import { readSeal } from "../../../access/seal/file.ts";
import { type SealContent, sealed, sealText } from "../../../access/seal/seal.ts";
import type { Json } from "../../../schema/index.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { openSealed, type Sealed, STACK } from "../../harness/small-engine/sealed.ts";

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
  count += 1;
  rmSync(stack.file, { force: true });
  home = await make(`groups/${stack.testbed.home}`, { name: `home-${count}` });
  ann = await make(`identities/${home}`, { name: "ann", claimMatch: claims("ann") });
  reader = await make(`roles/${home}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
});

const claims = (subject: string): Json => ({ issuer: "https://issuer.example.com", subject });
const make = async (path: string, body: Json): Promise<string> =>
  (await stack.testbed.call("POST", `${IAM}/${path}`, body)).uid as string;
const edit = (path: string, body: Json): Promise<Json> => stack.testbed.call("PATCH", `${IAM}/${path}`, body);
const program = (): Program => [
  { kind: "group", name: "team", inputs: { parent: home, name: "team" } },
  { kind: "roleBinding", name: "reads", inputs: { parent: ref("team"), identity: ann, role: reader } },
];
const seal = async (own: Program): Promise<void> => void stack.write((await stack.review(own)).seal);
const differs = async (own: Program): Promise<Difference[]> => {
  const content = readSeal(stack.file, "/");
  return differencesBetween(content, (await stack.review(own, content)).seal);
};
/** Changes what the file says, with a digest of its own. */
const rewrite = (change: (content: SealContent) => void): void => {
  const { digest: _, ...content } = readSeal(stack.file, "/");
  change(content);
  writeFileSync(stack.file, sealText(sealed(content)));
};

test("are none for the change that the seal shows, and a row and a step for another one", async () => {
  await seal(program());
  expect(await differs(program())).toEqual([]);
  const setReader = (...capabilities: string[]) => edit(`roles/${reader}?updateMask=capabilities`, { capabilities });
  await setReader("CAP_REPO_LIST", "CAP_REPO_CREATE");
  const where = `at home/home-${count}/team (new), through reader: this is not in the seal`;
  const [one] = await differs(program());
  expect(one).toMatchObject({ what: "row", message: `ann gains repo.create ${where}` });
  await setReader("CAP_REPO_LIST", "CAP_REPO_CREATE", "CAP_TAG_LIST");
  expect(differencesAsText(await differs(program()), 200).join("\n")).toContain(
    `- ann gains 2 capabilities ${where}\n    repo.create, tag.list`,
  );
  const [team, reads] = program() as [Program[number], Program[number]];
  const changed = [{ ...team, inputs: { ...team.inputs, description: "another one" } }];
  const found = await differs([...changed, { ...reads, name: "other" }]);
  expect(found.map(({ what, message }) => `${what}: ${message}`)).toEqual(
    expect.arrayContaining([
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
  expect(await differs(program())).toEqual([
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
  expect((await differs(adopting)).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^who bob is, before the change, now: .* "bert"; in the seal: .* "bob"$/),
  ]);
  await edit(`identities/${bob}?updateMask=claimMatch`, { claimMatch: claims("bob") });
  await make(`roleBindings/${home}`, { identityUid: bob, roleUid: reader });
  expect(await differs(adopting)).toMatchObject([
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
  expect(await differs(binding)).toEqual([]);
  await exchange(robot);
  expect(await differs(binding)).toEqual([
    {
      what: "assumable",
      subject: robot,
      message: expect.stringMatching(
        /now: .* own keys \(SHA-256 c09d73bcb44ad38b….* seal: .* \(SHA-256 b7c67122f765c754…/,
      ),
    },
  ]);
  // Where the words were the same, too.
  await seal(binding);
  rewrite(({ before, after }) => {
    for (const { identities } of [before, after])
      for (const one of identities) if (one.id === robot) one.relationship = { staticKeys: staticKeys(own) };
  });
  expect(await differs(binding)).toEqual([
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
  expect(await differs(adopting)).toEqual([]);
  await edit(`identities/${robot}?updateMask=staticKeys.issuerKeys`, { staticKeys: staticKeys(own) });
  expect(await differs(adopting)).toContainEqual(expect.objectContaining({ what: "assumable", subject: robot }));
});

test("names the owner of an adopted record, a deletion, another service and a date that is over", async () => {
  const inner = await make(`groups/${home}`, { name: "inner" });
  const adopting: Program = [{ kind: "group", name: "inner", inputs: { parent: home, name: "inner", adopt: inner } }];
  await seal(adopting);
  const { roles } = await stack.testbed.call("GET", `${IAM}/roles?name=owner&uidp.inRoot=true`);
  await make(`roleBindings/${inner}`, { identityUid: ann, roleUid: (roles as { uid: string }[])[0]?.uid });
  rewrite((content) => {
    content.origin.services = ["https://elsewhere.example"];
    content.deletes = [`role ${reader}`];
    content.blocked = [`role ${reader}`];
  });
  const found = (await differs(adopting)).map(({ what, message }) => `${what}: ${message}`);
  expect(found.toSorted()).toEqual([
    `delete: nothing keeps role ${reader} from being deleted any more`,
    `delete: role ${reader} would not be deleted any more`,
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
  expect(await differs(adopting)).toEqual([]);
  await edit(`roleBindings/${own}?updateMask=identityUid`, { identityUid: bob });
  expect(await differs(adopting)).toEqual([
    { what: "step", subject: own, message: `the adopted role binding ${own} grants something else than in the seal` },
  ]);

  await edit(`roleBindings/${own}?updateMask=identityUid`, { identityUid: ann });
  const binding = (who: string): Program => [
    { kind: "roleBinding", name: "own", inputs: { parent: home, identity: who, role: reader, allowDuplicate: true } },
  ];
  await stack.engine.run("up", binding(ann));
  const managed = stack.testbed.uid(STACK, "own");
  await seal(binding(cid));
  expect(await differs(binding(cid))).toEqual([]);
  await edit(`roleBindings/${managed}?updateMask=identityUid`, { identityUid: bob });
  expect(await differs(binding(cid))).toEqual([
    { what: "step", subject: managed, message: `the role binding ${managed} grants something else than in the seal` },
  ]);
});

test("a file that is no seal, and one that was changed", async () => {
  await seal(program());
  const failed = (text: string, reason: string): void => {
    writeFileSync(stack.file, text);
    expect(() => readSeal("seal.json", stack.testbed.folder)).toThrow(reason);
  };
  const text = readFileSync(stack.file, "utf8");
  failed(
    text.replaceAll("repo.list", "repo.create"),
    "seal.json was changed after it was written: its content has the digest sha256:",
  );
  failed("[]", "seal.json is not a seal; npx pulumi-irm review --seal FILE writes a seal");
  failed('{"seal": 1}', "seal.json is not a seal: origin: Invalid input: expected object, received undefined; npx ");
  expect(() => readSeal("nothing.json", stack.testbed.folder)).toThrow("nothing.json cannot be read: there is no file");
});
