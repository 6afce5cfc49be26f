// The server that the contract cases run against, and what a case says of its operation.
import type { OperationName } from "../../schema/index.ts";
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
  stranger: Outcome;
  viewer: Outcome;
  /** what even an owner lacks; absent: nothing */
  ownerLacks?: string;
  owner?: Outcome;
  why: string;
}

export const WRITE: Access = { stranger: "denied", viewer: "denied", why: "scoped write: a viewer only reads" };
const READ: Access = { ...WRITE, viewer: "served", why: "scoped read: a caller who may not read is refused" };
const LIST: Access = { stranger: "empty", viewer: "served", why: "unscoped: the result is what the caller may read" };
/** Of a method whose case does not say it. */
export const usualAccess = (name: string): Access =>
  /^List/.test(name) ? LIST : /^(Get|Check)/.test(name) ? READ : WRITE;
export const all = (why: string): Access => ({ stranger: "served", viewer: "served", why });

export interface OperationCase {
  /** where it is not that of its name */
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

export type Cases = Partial<Record<OperationName, OperationCase>>;

/** The case of a read, of a record of the fixture. */
export const gets = (record: Exclude<keyof Fixture, "api">, answer: OperationCase["answer"]): OperationCase => ({
  request: (fixture) => ({ uid: fixture[record] }),
  answer,
});

/** The case of a create of this resource, whose answer has what was given; default: in `platform`. */
export const creates = (
  field: string,
  given: (fixture: Fixture) => Body,
  parentOf: (fixture: Fixture) => Promise<string> | string = ({ platform }) => platform,
): OperationCase => ({
  request: async (fixture) => ({ parent: await parentOf(fixture), [field]: given(fixture) }),
  answer: (_, request) => request[field],
});

/** The case of a change of one field, of a record that is made for it: the name is outside the mask. */
export const updates = (
  field: string,
  made: (fixture: Fixture) => Promise<string> | string,
  { name, ...change }: Body,
): OperationCase => ({
  request: async (fixture) => ({
    [field]: { uid: await made(fixture), name: "ignored", ...change },
    updateMask: Object.keys(change).join(),
  }),
  answer: () => ({ name, ...change }),
});

/** The case of a delete, of a record that is made for it. */
export const deletes = (made: (fixture: Fixture) => Promise<string>): OperationCase => ({
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
