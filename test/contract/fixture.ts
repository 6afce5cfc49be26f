// The server that the contract cases run against, and what a case says of its operation.
import type { TestServer } from "../harness/api-server.ts";
import { type Collection, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";

export interface Fixture {
  api: TestServer;
  organization: string;
  /** group below the organization */
  eng: string;
  /** group below `eng` */
  platform: string;
  identity: string;
  role: string;
  binding: string;
  repo: string;
  tag: string;
  provider: string;
  mapping: string;
  invite: string;
  advisory: string;
  viewer: string;
  /** who may write readmes */
  librarian: string;
}

/** served; refused by the capabilities that are missing; served with nothing in it; nothing there for the caller */
type Outcome = "served" | "denied" | "empty" | "missing";
/** Who may call a method. */
export interface Access {
  needs: string;
  stranger: Outcome;
  viewer: Outcome;
  /** what even an owner lacks; absent: nothing */
  ownerLacks?: string;
  owner?: Outcome;
  why: string;
}

export const read = (needs: string, why = "scoped read: a caller who may not read is refused"): Access => ({
  needs,
  stranger: "denied",
  viewer: "served",
  why,
});
export const write = (needs: string, why = "scoped write: a viewer only reads"): Access => ({
  needs,
  stranger: "denied",
  viewer: "denied",
  why,
});
export const list = (needs: string): Access => ({
  needs,
  stranger: "empty",
  viewer: "served",
  why: "unscoped: the result is what the caller may read",
});
export const all = (why: string): Access => ({ needs: "", stranger: "served", viewer: "served", why });

export interface OperationCase {
  /** absent: it takes no API token */
  access?: Access;
  /** the request message, lowerCamel; records that the request uses up are made here */
  request: (fixture: Fixture) => Promise<Body> | Body;
  /** the answer, as far as the request decides it */
  answer: (fixture: Fixture, request: Body) => Body;
  /** the bearer token, null for none; default: the owner's, or for an exchange the owner's workload's */
  bearer?: (fixture: Fixture) => Promise<string> | null;
  /** fields of the answer that are another each time */
  volatile?: readonly string[];
}

/** The case of a read, of a record of the fixture. */
export const gets = (
  needs: string,
  record: Exclude<keyof Fixture, "api">,
  answer: OperationCase["answer"],
): OperationCase => ({ access: read(needs), request: (fixture) => ({ uid: fixture[record] }), answer });

/** The case of a delete, of a record that is made for it. */
export const deletes = (needs: string, made: (fixture: Fixture) => Promise<string>): OperationCase => ({
  access: write(needs),
  request: async (fixture) => ({ uid: await made(fixture) }),
  answer: () => ({}),
});

export const make = ({ api }: Fixture, collection: Collection, parent: string, body: Body): Promise<string> =>
  createUid(api, collection, parent, body);

/** A group of its own: what a group has one of is made in it, and every server makes it at the same time. */
export const ownGroup = (fixture: Fixture): Promise<string> =>
  make(fixture, "groups", fixture.platform, { name: "own" });

// Skips the first and takes one: without `skip`, `pageSize` or `orderBy` the answer is another.
export const paging = { pageSize: 1, orderBy: "create_time desc", skip: 1 };
export const byName = { pageSize: 1, orderBy: "name desc", skip: 1 };
