// The identity providers that a policy names under `people`. The policy does not create them: each is looked up by its name in the
// organization while the program runs, so that a preview shows a misspelt name, and whose people get a role.
import * as pulumi from "@pulumi/pulumi";
import { NO_PEOPLE_YET, type Policy } from "../../access/policy/index.ts";
import type { Client } from "../../client/client.ts";
import { listChildren } from "../../client/paginate.ts";
import { getOrInsert, suggestion } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { IdentityProvider } from "./generated/identity-provider.ts";
import { withPlanned } from "./inputs.ts";
import { hasEngine, programError } from "./session.ts";

/** What reads the lists of the API. */
export type ListClient = Pick<Client, "call" | "clock">;

/** Identity providers by name, each a resource of the program or a uid. */
export type GivenProviders = Readonly<Record<string, IdentityProvider | pulumi.Input<string>>>;

/** Finds an identity provider by its name. */
export type FindProvider = (provider: string) => IdentityProvider | pulumi.Input<string>;

interface Named {
  uid: string;
  name: string;
}

/** The identity providers of an organization itself: only they are the policy's to name. */
export type ListProviders = (organization: string) => Promise<readonly Named[]>;

/** All look-ups in an organization share one list. */
export const providersListedBy = (client: () => Promise<ListClient>): ListProviders => {
  const listed = new Map<string, Promise<readonly Named[]>>();
  const list = async (organization: string) =>
    Array.fromAsync(listChildren<Named>(await client(), kindRecords.identityProvider.list, organization));
  return (organization) => getOrInsert(listed, organization, () => list(organization));
};

/** Returns the identity provider of a name, which `given` or the organization has. */
export const policyProviders = (
  name: string,
  organization: pulumi.Input<string>,
  listProviders: ListProviders,
  given: GivenProviders = {},
): FindProvider => {
  const findIn = async (uid: unknown, provider: string): Promise<string> => {
    const head = `AccessPolicy ${name}: people.${provider}:`;
    if (pulumi.isUnknown(uid)) throw programError(`${head} ${NO_PEOPLE_YET}`);
    const all = await listProviders(uid as string);
    const [found, ...others] = all.filter((one) => one.name === provider);
    if (found && others.length === 0) return found.uid;
    if (found === undefined) {
      const near = suggestion(
        provider,
        all.map((one) => one.name),
      );
      throw programError(
        `${head} the organization ${uid} has no identity provider of this name${near || "; create it first, or give it in identityProviders"}`,
      );
    }
    const uids = [found, ...others].map((one) => `\n  - ${one.uid}`).join("");
    throw programError(
      `${head} ${others.length + 1} identity providers have this name; give one of them in identityProviders:${uids}`,
    );
  };
  const lookedUp = (provider: string): pulumi.Output<string> =>
    withPlanned(pulumi.output(organization), (uid) => findIn(uid, provider)) as pulumi.Output<string>;
  const found = new Map<string, IdentityProvider | pulumi.Input<string>>();
  return (provider) => {
    // In a unit test of a program there is no service to look in.
    return getOrInsert(found, provider, () => given[provider] ?? (hasEngine() ? lookedUp(provider) : provider));
  };
};

/** Throws where one is given that the policy does not name. */
export const checkGivenProviders = (name: string, { people }: Policy, given: GivenProviders = {}): void => {
  const problems = Object.keys(given)
    .filter((provider) => !people.has(provider))
    .map((provider) => `identityProviders.${provider}: people does not name it${suggestion(provider, people.keys())}`);
  if (problems.length > 0) throw programError([`AccessPolicy ${name}:`, ...problems].join("\n  - "));
};
