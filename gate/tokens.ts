// The tokens that the gate sends requests with. Writes of the change that need the same capabilities share a token. It has only these, and
// only in the groups where the writes need them. So someone who gets hold of a token can do little more than the change does.
import type { Write } from "../access/change/write.ts";
import type { Copy } from "../access/copy/copy.ts";
import type { Client } from "../client/client.ts";
import type { Credentials, Limits } from "../client/credentials.ts";
import { classOf, isAncestor, type Operation, resourceMethods, rootOf } from "../schema/index.ts";
import { type Need, needsOf } from "./needs.ts";

/** The maximum number of scopes in an exchange, and of their characters in a token. */
const SCOPES_MAX = 50;
const SCOPES_LENGTH_MAX = 6_000;

/** Capabilities that read the records of our API. */
export const READING: readonly string[] = [
  ...new Set(Object.values<Operation>(resourceMethods).flatMap(({ capabilities }) => capabilities)),
].filter((one) => classOf(one) === "read");

interface Class {
  capabilities: string[];
  groups: Set<string>;
  /** numbers of the writes that create the organizations */
  founded: Set<number>;
  limits?: Limits;
  credentials?: Promise<Credentials>;
}

/**
 * The tokens for the writes of a change on one service. Those for existing groups are exchanged now, because a workload's own token may
 * live for only minutes. `uidOf`: the uid of the record that a write has created. No token has a capability that the caller does not hold:
 * the service refuses the write and says why.
 */
export const tokensFor = async (
  { client, copy }: { client: Pick<Client, "credentials">; copy: Copy },
  writes: readonly Write[],
  uidOf: (n: number) => string | undefined,
) => {
  const usual = client.credentials;
  const reading = await usual.narrowed({ capabilities: READING, scopes: [] });
  const reasons = new Set<string>();
  const classes = new Map<string, Class>();
  const classOfWrite = new Map<number, Class>();
  const numbers = new Set(writes.map(({ n }) => n));
  const tokenOf = async (credentials: Credentials, rejected: string | undefined) =>
    rejected === undefined ? credentials.token() : ((await credentials.renew(rejected)) ?? rejected);

  const limitsOf = ({ capabilities, groups, founded }: Class): Limits => {
    const made = [...founded].map((n) => {
      const uid = uidOf(n);
      if (uid === undefined) throw new TypeError(`write ${n} has made no organization yet`);
      return uid;
    });
    const tops = topmost([...groups, ...made]);
    const fitting = [tops, topmost(tops.map(rootOf))].find(
      (some) => some.length <= SCOPES_MAX && some.join().length <= SCOPES_LENGTH_MAX,
    );
    const scopes = fitting ?? [];
    if (scopes !== tops) {
      const [first = "", ...more] = capabilities;
      const what = more.length === 0 ? first : `${first} and ${more.length} more`;
      const where = scopes.length > 0 ? "their whole organization" : "every organization";
      reasons.add(
        `the writes that need ${what} are in ${tops.length} groups, more than a token can name: their token is valid in ${where}`,
      );
    }
    return { capabilities, scopes };
  };
  const credentialsOf = async (one: Class) => {
    one.limits ??= limitsOf(one);
    one.credentials ??= usual.narrowed(one.limits).then((own) => own ?? usual);
    return one.credentials;
  };

  if (reading === undefined)
    reasons.add(
      `${usual.source} is an API token, and only the workload's own token can be exchanged for narrower ones`,
    );
  else
    needsOf(writes, copy).forEach((need, i) => {
      const { n } = writes[i] as Write;
      for (const problem of need.problems) reasons.add(problem);
      if (need.places.has(n)) reasons.add(`write ${n} makes an organization, which no narrowed token may do`);
      else if (need.problems.length === 0) classOfWrite.set(n, join(classes, need));
    });
  const first = [...classes.values()].filter(({ founded }) => founded.size === 0).map(credentialsOf);
  const others = classOfWrite.size < writes.length ? [usual] : [];
  await Promise.all([reading ?? usual, ...others, ...first].map(async (one) => (await one).token()));

  // Throws the errors of an exchange. `rejected`: a token that the service has refused; without another one, it is returned again.
  return {
    /** a token that may only read, everywhere */
    read: (rejected?: string) => tokenOf(reading ?? usual, rejected),
    /** for the write of that number */
    write: async (n: number, rejected?: string) => {
      if (!numbers.has(n)) throw new TypeError(`the change has no write ${n} here`);
      const own = classOfWrite.get(n);
      return tokenOf(own ? await credentialsOf(own) : usual, rejected);
    },
    /** The classes of the writes. A class inside a new organization appears when the organization exists. */
    get classes() {
      return [...classes.values()].flatMap(({ limits }) => limits ?? []);
    },
    /** why a token may do more than its writes need, one sentence each */
    get reasons() {
      return [...reasons];
    },
  };
};

/** The class for the needs of a write. Organizations that a write creates have their own classes: they have no uid before. */
const join = (classes: Map<string, Class>, { capabilities, places }: Need): Class => {
  const founded = [...places].filter((place) => typeof place === "number").sort((a, b) => a - b);
  const names = [...capabilities].sort();
  const key = [...names, ...founded].join(" ");
  const one = classes.get(key) ?? { capabilities: names, groups: new Set<string>(), founded: new Set(founded) };
  for (const place of places) if (typeof place === "string") one.groups.add(place);
  classes.set(key, one);
  return one;
};

/** Without groups below another one; sorted. */
const topmost = (groups: readonly string[]) => {
  const tops: string[] = [];
  // Groups below a group come right after it: a slash sorts before every digit.
  for (const uid of [...new Set(groups)].sort()) if (!isAncestor(tops.at(-1) ?? "", uid)) tops.push(uid);
  return tops;
};
