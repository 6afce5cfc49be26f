// Programs of a case: single resources with options of the engine, a policy, resources of another provider and at another service.
import type { Json } from "../../../schema/index.ts";
import { type Declared, mapRefs, ref, refsIn } from "../../harness/small-engine/program.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { HandMade } from "../program/hand-made.ts";
import { accessProgram } from "../program/random.ts";
import type { Described, Resource } from "./described.ts";
import { randomPolicy } from "./policy.ts";

export type CaseProgram = ReturnType<typeof caseProgram>;

interface Second {
  provider: Json;
  organization: string;
}

/** `second`: another service that the program has resources at. `mayFail`: it may come to be one that the update refuses. */
interface Options {
  second: Second | undefined;
  mayFail: boolean;
  /** resources may need what another provider makes in the same update */
  mayWait: boolean;
}

export const caseProgram = (random: Random, made: HandMade, { second, mayFail, mayWait }: Options) => {
  const chance = (one: number): boolean => random.below(one) === 0;
  const shape = random.below(6);
  const base = shape === 0 ? undefined : accessProgram(random, made);
  // An exclusive set refuses single bindings in its group.
  const policy =
    shape < 3 ? randomPolicy(random, made, { adopts: shape < 2, mayBeExclusive: shape !== 1, mayFail }) : undefined;
  /** other names of resources, and the options that they have from then on */
  const names = new Map<string, string>();
  const options = new Map<string, Json>();
  const own = (name: string): string => made.prefix + name;
  const other = own("other-1");
  const others: Record<string, string> = chance(2) ? { [other]: random.hex(4) } : {};
  let atSecond: Resource[] = [];
  let renames = 0;

  const nameOf = (name: string): string => names.get(name) ?? name;
  const resourceOf = ({ name, kind, inputs }: Declared): Resource => ({
    ...{ name: nameOf(name), kind, inputs: mapRefs(withExtras(name, kind, inputs), (one) => ref(nameOf(one))) },
    options: options.get(name) ?? {},
  });
  /** What follows from the name, so that it stays the same. */
  const withExtras = (name: string, kind: Declared["kind"], inputs: Json): Json => {
    const dice = createRandom([...name].reduce((sum, one) => sum * 31 + one.charCodeAt(0), 7));
    if (kind === "identity" && inputs.adopt === undefined && dice.below(5) === 0) {
      const { claimMatch, ...more } = inputs;
      const { issuer, subject, subjectPattern } = claimMatch as Json;
      const kid = String(subject ?? subjectPattern);
      const issuerKeys = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid, x: "a".repeat(43) }] });
      return { ...more, staticKeys: { issuer, subject: "a", issuerKeys } };
    }
    if (kind === "group" && dice.below(3) === 0)
      return { ...inputs, description: { secret: inputs.description ?? "" } };
    if (kind === "group" && dice.below(3) === 0 && mayWait && other in others)
      return { ...inputs, description: { other } };
    return inputs;
  };

  const current = (): Described => ({
    resources: (base?.current() ?? []).map(resourceOf),
    policies: policy ? [policy.current()] : [],
    uids: policy?.uids(),
    others: { ...others },
    ...(second && { second: { provider: second.provider, resources: atSecond } }),
  });

  const decorate = (): void => {
    const declared = base?.current() ?? [];
    const one = declared.length > 0 ? random.pick(declared) : undefined;
    if (!one) return;
    const before = nameOf(one.name);
    const groups = declared.filter((other) => other.kind === "group" && refsIn(one.inputs).includes(other.name));
    const EDITS: (() => void)[] = [
      () => {
        names.set(one.name, `renamed-${++renames}-${one.name}`);
        options.set(one.name, mayFail && chance(3) ? {} : { aliases: [{ name: before }] });
      },
      () => void options.set(one.name, { retainOnDelete: true }),
      () => void options.set(one.name, { deleteBeforeReplace: true }),
      () => void options.set(one.name, { protect: true }),
      () => void options.set(one.name, { ignoreChanges: ["description", "capabilities"] }),
      () => {
        const [group] = groups;
        if (group) options.set(one.name, { deletedWith: nameOf(group.name) });
      },
      () => options.delete(one.name),
    ];
    random.pick(EDITS)();
  };

  const changeSecond = ({ organization }: Second): void => {
    const [group, bot] = [own("second-group"), own("second-bot")];
    const parent = chance(2) || atSecond.length === 0 ? organization : ref(group);
    const claimMatch = { issuer: "https://issuer.example.com", subject: random.hex(6) };
    atSecond = [
      { name: group, kind: "group", inputs: { parent: organization, name: group } },
      { name: bot, kind: "identity", inputs: { parent: organization, name: bot, claimMatch } },
      ...["viewer", "editor"]
        .filter(() => chance(2))
        .map((role) => ({
          ...{ name: own(`second-${role}`), kind: "roleBinding" as const },
          inputs: { parent, identity: ref(bot), role },
        })),
    ];
  };

  return {
    current,
    change: (times: number): Described => {
      // An alias counts for one update.
      for (const [name, one] of options) if ("aliases" in one) options.delete(name);
      base?.change(times);
      policy?.change(times);
      for (let left = random.below(3); left > 0; left -= 1) decorate();
      if (chance(4)) others[other] = random.hex(4);
      if (chance(6)) others[own(`other-${random.hex(2)}`)] = "new";
      if (second) changeSecond(second);
      return current();
    },
  };
};
